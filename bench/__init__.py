"""Measurements: retrieval quality and speed, each beside its floor in the same run."""
