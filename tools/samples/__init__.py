"""The sample documents: their texts and how they are laid out."""
