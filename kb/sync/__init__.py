"""The index follows an object store."""
