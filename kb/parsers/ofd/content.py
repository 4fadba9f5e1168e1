"""What stands on an OFD page: characters, rules and images, with their places.

Everything is in millimetres, in the space of the page. Composite objects are followed into their
units, at most a few deep; a page that would cost more objects than any real one has is cut there,
because units that hold units grow without a limit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, NamedTuple

from kb.model import Box
from kb.parsers.ofd.geometry import (
    IDENTITY,
    Matrix,
    apply,
    around,
    compose,
    corners,
    number,
    numbers,
    placed,
    strokes,
)
from kb.parsers.ofd.text_object import Run, nameless, runs
from kb.parsers.xml.nodes import child, local

_DEEPEST: Final = 16
_MOST_OBJECTS: Final = 200_000
_MOST_RULES: Final = 20_000
_HEX: Final = re.compile("#([0-9A-Fa-f]{1,2})")

Colour = tuple[float, float, float]


class Image(NamedTuple):
    """A picture: the resource it shows and its place."""

    resource: str
    box: Box


class Shape(NamedTuple):
    """A path as it is drawn, `data` in its own space. Colours are RGB, 0 to 1; None: not drawn."""

    data: str
    matrix: Matrix
    width: float
    line: Colour | None
    fill: Colour | None


@dataclass(slots=True)
class Content:
    """What a page holds.

    `hidden` runs cannot be seen, `nameless` glyphs have no character, and `cut` says that there was
    more than is sane.
    """

    runs: list[Run] = field(default_factory=list)
    hidden: list[Run] = field(default_factory=list)
    strokes: list[Box] = field(default_factory=list)
    drawn: list[Image | Shape] = field(default_factory=list)
    nameless: int = 0
    cut: bool = False


class Reader:
    """Collects the content of one page. `units` are the composite units by their id."""

    def __init__(self, units: Mapping[str, Any]) -> None:
        self.content = Content()
        self._units = units
        self._left = _MOST_OBJECTS

    def page(self, root: Any) -> None:
        """Everything in the layers of a page or template."""
        content = child(root, "Content")
        for layer in content if content is not None else ():
            self._walk(layer, IDENTITY, 0)

    def block(self, parent: Any, matrix: Matrix) -> None:
        """Everything in a page block, such as an annotation's appearance."""
        self._walk(parent, matrix, 0)

    def _walk(self, parent: Any, matrix: Matrix, depth: int) -> None:
        for element in parent:
            self._left -= 1
            if self._left < 0 or depth > _DEEPEST:
                self.content.cut = True
                return
            self._object(element, matrix, depth)

    def _object(self, element: Any, matrix: Matrix, depth: int) -> None:
        name = local(element)
        own = compose(matrix, placed(element.get("Boundary"), element.get("CTM")))
        if name == "PageBlock":
            self._walk(element, matrix, depth + 1)
        elif name == "TextObject":
            seen = self.content.hidden if _is_hidden(element) else self.content.runs
            seen += runs(element, own)
            self.content.nameless += nameless(element)
        elif name == "PathObject" and not _is_hidden(element):
            self._path(element, own)
        elif name == "ImageObject" and not _is_hidden(element):
            box = around([apply(own, corner) for corner in corners((0, 0, 1, 1))])
            self.content.drawn.append(Image(element.get("ResourceID", ""), box))
        elif name == "CompositeObject":
            unit = self._units.get(element.get("ResourceID", ""))
            content = child(unit, "Content")
            if content is not None:
                self._walk(content, own, depth + 1)

    def _path(self, element: Any, matrix: Matrix) -> None:
        """Straight pieces of lines, and filled shapes, as boxes."""
        shape = _shape(element, matrix)
        self.content.drawn.append(shape)
        outlined = shape.line is not None
        for piece in strokes(shape.data):
            points = [apply(matrix, point) for point in piece]
            ends = pairwise(points)
            boxes = [around(pair) for pair in ends] if outlined else [around(points)]
            room = _MOST_RULES - len(self.content.strokes)
            self.content.strokes += boxes[: max(room, 0)]


def _shape(element: Any, matrix: Matrix) -> Shape:
    """Without saying so, a path is drawn as a line and not filled, both in black."""
    data = child(element, "AbbreviatedData")
    outlined = element.get("Stroke", "true").lower() != "false"
    filled = element.get("Fill", "false").lower() == "true"
    return Shape(
        ("" if data is None else data.text) or "",
        matrix,
        number(element.get("LineWidth"), 0.353),
        _colour(element, "StrokeColor") if outlined else None,
        _colour(element, "FillColor") if filled else None,
    )


def _colour(element: Any, name: str) -> Colour:
    """Grey or RGB in 0 to 255; anything else, such as a gradient, counts as black."""
    colour = child(element, name)
    written = "" if colour is None else colour.get("Value", "")
    plain = _HEX.sub(lambda match: str(int(match.group(1), 16)), written)
    grey = numbers(plain, 1)
    red, green, blue = numbers(plain, 3) or (grey * 3 if grey else (0.0, 0.0, 0.0))
    return _share(red), _share(green), _share(blue)


def _share(value: float) -> float:
    return min(max(value / 255, 0.0), 1.0)


def _is_hidden(element: Any) -> bool:
    """Whether an object is drawn so that nobody sees it."""
    return element.get("Visible", "").lower() in {"false", "0"} or element.get("Alpha") == "0"
