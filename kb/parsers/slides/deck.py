"""Slides as pages: title, shapes in reading order, then the notes. Shared by .pptx and .odp."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Literal

from kb.errors import Refused
from kb.messages import tr
from kb.model import Box, Page
from kb.parsers.flow import TextLine, elements

Role = Literal["title", "text", "margin", "notes"]
_COLUMNS: Final = 24
"""Shapes whose left edges differ by less than this part of the slide's width are flush."""
_ROW: Final = 18.0
"""Points: a line of notes, and of a shape that does not say how high it is."""
_FAR: Final = 1e5
"""Points; a file may say anything."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Something with text on a slide. Units are the file's; groups hold `parts` instead of lines.

    `margin` is what repeats on every slide: its number, date, footer.
    """

    role: Role
    left: float = 0.0
    top: float = 0.0
    height: float = 0.0
    lines: tuple[TextLine, ...] = ()
    parts: tuple[Shape, ...] = ()
    width: float = 0.0


@dataclass(frozen=True, slots=True)
class Size:
    """The slides' width and height, and how many of the file's units make a point."""

    width: float
    height: float
    unit: float


@dataclass(frozen=True, slots=True)
class Slide:
    """One slide and its notes. `label` is its name where the author gave it one."""

    shapes: tuple[Shape, ...]
    notes: tuple[str, ...] = ()
    label: str = ""
    hidden: bool = False


def pages(slides: Sequence[Slide], size: Size, name: str) -> tuple[tuple[Page, ...], list[str]]:
    """A page a slide, and what a reader must know. Raises Refused when none holds text."""
    result = tuple(_page(number, slide, size) for number, slide in enumerate(slides, start=1))
    if not any(page.text.strip() for page in result):
        raise Refused(tr("parse.no_text", name=name), tr("parse.empty_hint"))
    hidden = [str(number) for number, slide in enumerate(slides, start=1) if slide.hidden]
    empty = [str(page.number) for page in result if not page.text.strip()]
    warnings = []
    if hidden:
        warnings.append(tr("office.warn_hidden_slides", slides="、".join(hidden)))
    if empty:
        warnings.append(tr("office.warn_empty_slides", slides="、".join(empty)))
    return result, warnings


def text_lines(texts: Sequence[str]) -> tuple[TextLine, ...]:
    """Paragraphs as lines; empty ones are left out, and line breaks end a line."""
    lines = (line.strip(" ") for text in texts for line in text.replace("\v", "\n").split("\n"))
    return tuple(TextLine(line) for line in lines if line.strip())


def in_reading_order(shapes: Sequence[Shape], width: float) -> list[Shape]:
    """Title first; then rows from the top, each from the left; margins last.

    A shape is in the row of the one before when it begins above that one's middle.
    """
    rank = {"title": 0, "text": 1, "margin": 2, "notes": 3}
    ordered: list[Shape] = []
    row: list[Shape] = []
    for shape in sorted(shapes, key=lambda shape: (rank[shape.role], shape.top)):
        first = row[0] if row else shape
        if first.role != shape.role or shape.top > first.top + first.height / 2:
            ordered += _from_left(row, width)
            row = []
        row.append(shape)
    return ordered + _from_left(row, width)


def _from_left(row: Sequence[Shape], width: float) -> list[Shape]:
    step = width / _COLUMNS or 1.0
    return sorted(row, key=lambda shape: (round(shape.left / step), shape.top, shape.left))


def _page(number: int, slide: Slide, size: Size) -> Page:
    shapes = in_reading_order(slide.shapes, size.width)
    titled = next((i for i, shape in enumerate(shapes) if shape.role == "title"), -1)
    lines: list[TextLine] = []
    boxes: list[Box] = []
    for i, shape in enumerate(shapes):
        own = _lines(shape, size.width, heading=i == titled)
        lines += own
        boxes += _rows(shape, len(own), size)
    notes = [TextLine(line.text, "note") for line in text_lines(slide.notes)]
    below = Shape("notes", 0.0, size.height, len(notes) * _ROW * size.unit, width=size.width)
    boxes += _rows(below, len(notes), size)
    lines += notes
    return Page(
        number=number,
        text="\n".join(line.text for line in lines),
        kind="slide",
        label=slide.label,
        width=round(size.width / size.unit, 1),
        height=round(size.height / size.unit + len(notes) * _ROW, 1),
        boxes=tuple(boxes) if lines else (),
        elements=elements(lines),
        noise=tuple(i for i, line in enumerate(lines, 1) if line.kind == "footer"),
    )


def _rows(shape: Shape, count: int, size: Size) -> list[Box]:
    """About where the `count` lines of a shape stand, in points: its place in equal rows.

    A line may be broken over several rows there: only the shape's own place is known.
    """
    if not count:
        return []
    left, top, high, wide = (
        min(max(side / size.unit, -_FAR), _FAR)
        for side in (shape.left, shape.top, shape.height, shape.width)
    )
    row = (high if high > 0 else count * _ROW) / count
    right = left + wide if wide > 0 else max(size.width / size.unit, left + _ROW)
    ends = [round(top + i * row, 1) for i in range(count + 1)]
    return [(round(left, 1), y0, round(right, 1), y1) for y0, y1 in pairwise(ends)]


def _lines(shape: Shape, width: float, *, heading: bool) -> list[TextLine]:
    if shape.parts:
        parts = in_reading_order(shape.parts, width)
        return [line for part in parts for line in _lines(part, width, heading=False)]
    if shape.role == "margin":
        return [replace(line, kind="footer") for line in shape.lines]
    if heading:
        return [replace(line, kind="heading", level=1) for line in shape.lines]
    return list(shape.lines)
