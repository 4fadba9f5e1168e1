"""Presentations: pptx, odp."""
