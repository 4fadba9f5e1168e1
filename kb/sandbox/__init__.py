"""Parsing in a process per document, within limits."""
