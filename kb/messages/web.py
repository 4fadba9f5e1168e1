"""Texts of the parsers: web."""

TABLE: dict[str, tuple[str, str]] = {}
