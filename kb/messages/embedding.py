"""Texts of embedding."""

TABLE: dict[str, tuple[str, str]] = {}
