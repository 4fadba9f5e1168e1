"""Texts of core."""

TABLE: dict[str, tuple[str, str]] = {}
