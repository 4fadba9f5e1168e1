"""Texts of the parsers: office."""

TABLE: dict[str, tuple[str, str]] = {}
