"""The shape of every answer: dicts, their schemas, and text."""
