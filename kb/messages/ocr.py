"""Texts of the parsers: ocr."""

TABLE: dict[str, tuple[str, str]] = {}
