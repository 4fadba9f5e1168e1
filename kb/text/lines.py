"""Lines are separated by LF alone. Pure."""

from __future__ import annotations


def normalize_newlines(text: str) -> str:
    """`text` with CRLF and CR as LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def split_lines(text: str) -> list[str]:
    """The lines of a page: never empty, split on LF alone."""
    return text.split("\n")
