"""Texts of cli."""

TABLE: dict[str, tuple[str, str]] = {}
