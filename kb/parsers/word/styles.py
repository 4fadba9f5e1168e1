"""Paragraph styles of a Word document: which are headings, and small helpers for its XML."""

from __future__ import annotations

import re
from typing import Any, Final

from kb.parsers.xml.nodes import child, local, value

_HEADING: Final = re.compile(r"(?:heading|标题)\s*([1-9])", re.IGNORECASE)
_MOST_LEVELS: Final = 9


class Styles:
    """The styles part, or none. Levels count from 1; 0 is body text."""

    def __init__(self, root: Any | None) -> None:
        self._styles = {}
        self._default = ""
        for style in root if root is not None else ():
            if local(style) == "style":
                self._styles[value(style, "styleId")] = style
                if value(style, "type") == "paragraph" and value(style, "default") in {"1", "true"}:
                    self._default = value(style, "styleId")

    def level(self, properties: Any | None) -> int:
        """Heading level of a paragraph by its own outline level or its style's."""
        own = _outline(properties)
        if own is not None:
            return own
        return self._style_level(value(child(properties, "pStyle"), "val"), depth=0)

    def breaks_before(self, properties: Any | None) -> bool:
        """Whether the paragraph starts a new page by itself or by its style."""
        own = child(properties, "pageBreakBefore")
        if own is None:
            style = self._styles.get(value(child(properties, "pStyle"), "val"))
            own = child(child(style, "pPr"), "pageBreakBefore")
        return own is not None and value(own, "val") not in {"0", "false", "off"}

    def numbering(self, properties: Any | None) -> tuple[str, Any | None]:
        """The style that numbers a paragraph and its numbering properties, or nothing."""
        style_id = value(child(properties, "pStyle"), "val") or self._default
        for _ in range(_MOST_LEVELS + 1):
            style = self._styles.get(style_id)
            found = child(child(style, "pPr"), "numPr")
            if found is not None:
                return style_id, found
            style_id = value(child(style, "basedOn"), "val")
        return "", None

    def list_of(self, style_id: str) -> str:
        """The list (numId) of a numbering style."""
        found = child(child(self._styles.get(style_id), "pPr"), "numPr")
        return value(child(found, "numId"), "val")

    def _style_level(self, style_id: str, depth: int) -> int:
        style = self._styles.get(style_id)
        if style is None or depth > _MOST_LEVELS:
            return 0
        own = _outline(child(style, "pPr"))
        if own is not None:
            return own
        named = _HEADING.fullmatch(value(child(style, "name"), "val"))
        if named:
            return int(named.group(1))
        return self._style_level(value(child(style, "basedOn"), "val"), depth + 1)


def _outline(properties: Any | None) -> int | None:
    """Level by w:outlineLvl, where 0 is the first and 9 is body text; None when it says nothing."""
    text = value(child(properties, "outlineLvl"), "val")
    if not text.isdigit():
        return None
    return int(text) + 1 if int(text) < _MOST_LEVELS else 0
