"""Texts of the parsers: ofd."""

TABLE: dict[str, tuple[str, str]] = {}
