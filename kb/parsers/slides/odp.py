"""OpenDocument presentations (.odp): a slide is a page."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from kb.model import Drawing, Parsed
from kb.parsers.flow import TextLine
from kb.parsers.odf import package
from kb.parsers.odf.body import Body
from kb.parsers.registry import ParserSpec
from kb.parsers.slides import deck
from kb.parsers.slides.sketch import draw_slide
from kb.parsers.xml.nodes import child, local, value

_UNITS: Final = {
    "mm": 1.0,
    "cm": 10.0,
    "in": 25.4,
    "pt": 25.4 / 72,
    "pc": 25.4 / 6,
    "px": 25.4 / 96,
}
_LENGTH: Final = re.compile(r"(-?[0-9.]+)(mm|cm|in|pt|pc|px)")
_MARGINS: Final = frozenset({"footer", "header", "date-time", "page-number"})
_WIDTH: Final = 280.0
"""Millimetres; only how near left edges must be to count as flush depends on it, and sketches."""
_HEIGHT: Final = 157.5
"""Millimetres, of a wide slide; one whose shapes go further down is taken for higher."""
_POINT: Final = 25.4 / 72
_GENERATED: Final = re.compile(r"(?:page|slide|幻灯片|页面?)\s*\d+", re.IGNORECASE)
"""Names that programs give to slides by themselves."""


def parse(path: Path, name: str) -> Parsed:
    """A page for each slide. Raises Refused."""
    content = package.read(path, name, "presentation")
    slides = [_slide(content, page) for page in content.body if local(page) == "page"]
    bottoms = (shape.top + shape.height for slide in slides for shape in slide.shapes)
    size = deck.Size(_WIDTH, min(max([_HEIGHT, *bottoms]), _WIDTH), _POINT)
    pages, warnings = deck.pages(slides, size, name)
    return Parsed(pages, SPEC.id, SPEC.media_type, warnings=(*warnings, *content.warnings))


def draw(path: Path, name: str, page: int) -> Drawing:
    """A sketch of one slide, counted from 1."""
    return draw_slide(parse(path, name).pages[page - 1])


def _slide(content: package.Content, page: Any) -> deck.Slide:
    body = Body(content)
    label = value(page, "name").strip()
    return deck.Slide(
        shapes=tuple(_shapes(page, body)),
        notes=tuple(_notes(page, body)),
        label="" if _GENERATED.fullmatch(label) else label,
        hidden=package.style_property(content, page, "visibility") == "hidden",
    )


def _shapes(parent: Any, body: Body) -> Iterator[deck.Shape]:
    for element in parent:
        if not package.is_shape(element):
            continue
        names = ("x", "y", "height", "width")
        left, top, height, width = (_length(value(element, name)) for name in names)
        if local(element) == "g":
            parts = tuple(_shapes(element, body))
            left = min((part.left for part in parts), default=left)
            top = min((part.top for part in parts), default=top)
            yield deck.Shape("text", left, top, height, parts=parts, width=width)
            continue
        lines = tuple(_lines(body, element))
        role = _role(value(element, "class"))
        yield deck.Shape(role, left, top, height, lines, width=width)


def _role(kind: str) -> deck.Role:
    if kind == "title":
        return "title"
    return "margin" if kind in _MARGINS else "text"


def _lines(body: Body, element: Any) -> Iterator[TextLine]:
    """Lines of a shape, blank ones left out."""
    for item in body.blocks(element):
        if isinstance(item, TextLine) and item.text.strip():
            yield item if item.kind == "table" else TextLine(item.text)


def _notes(page: Any, body: Body) -> Iterator[str]:
    notes = child(page, "notes")
    for frame in notes if notes is not None else ():
        if value(frame, "class") == "notes":
            yield from (line.text for line in _lines(body, frame))


def _length(text: str) -> float:
    """Millimetres; 0 where there is no length."""
    match = _LENGTH.fullmatch(text)
    try:
        length = float(match.group(1)) * _UNITS[match.group(2)] if match else 0.0
    except ValueError:
        return 0.0
    return length if math.isfinite(length) else 0.0


SPEC: Final = ParserSpec(
    name="odp",
    revision=1,
    suffixes=(".odp", ".otp"),
    media_type="application/vnd.oasis.opendocument.presentation",
    magic="zip",
    zip_kind="odp",
    parse=parse,
    preload=("lxml.etree",),
    draw=draw,
)
