"""The retrieval layer of a document knowledge base: ingest, search, read the exact lines."""

__version__ = "3.0.0.dev0"
