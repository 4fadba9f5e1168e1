"""Nearest vectors: an exact scan of SQLite's vectors, and Chroma as an index over many of them."""
