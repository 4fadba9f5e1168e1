"""Questions to an element of lxml."""

from __future__ import annotations

from typing import Any


def local(element: Any) -> str:
    """The name of an element without its namespace; empty for comments and instructions."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def child(element: Any | None, name: str) -> Any | None:
    """The first child of that local name, None when there is none (or no element)."""
    if element is None:
        return None
    return next((item for item in element if local(item) == name), None)


def value(element: Any | None, name: str) -> str:
    """The attribute of that local name, empty when there is none (or no element)."""
    if element is None:
        return ""
    for key, text in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return str(text)
    return ""
