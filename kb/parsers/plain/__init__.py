"""Text, Markdown, and text in any of their encodings."""
