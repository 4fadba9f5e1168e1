"""Texts of tools."""

TABLE: dict[str, tuple[str, str]] = {}
