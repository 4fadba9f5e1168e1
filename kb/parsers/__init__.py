"""Readers of documents: one file a format, all run in a sandbox."""
