"""Texts of parsing."""

TABLE: dict[str, tuple[str, str]] = {}
