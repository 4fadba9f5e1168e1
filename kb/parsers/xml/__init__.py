"""Packages and nodes of XML, and DrawingML."""
