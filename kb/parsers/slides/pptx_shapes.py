"""The shapes of a slide: text, tables, groups, SmartArt and charts, with their places."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Final

from kb.errors import Refused
from kb.parsers.flow import TextLine
from kb.parsers.slides.deck import Role, Shape, text_lines
from kb.parsers.xml.nodes import child, local, value
from kb.parsers.xml.ooxml import OoxmlPackage
from kb.text.rows import CELL, is_header, one_line

_TITLES: Final = frozenset({"title", "ctrTitle"})
_MARGINS: Final = frozenset({"sldNum", "ftr", "dt", "hdr"})
_Place = tuple[float, float, float, float]
"""Left, top, height and width, in EMU."""
_NOWHERE: Final = (0.0, 0.0, 0.0, 0.0)


class Shapes:
    """Reads one slide part. What is not text is counted in `left_out`."""

    def __init__(self, package: OoxmlPackage, part: str, left_out: Counter[str]) -> None:
        self._package = package
        self._left_out = left_out
        self._relations = package.relations(part)
        self._inherited = self._places(part)

    def read(self, tree: Any | None) -> Iterator[Shape]:
        """The shapes inside a tree or group, in the file's order."""
        for element in tree if tree is not None else ():
            kind = local(element)
            if kind == "sp":
                yield self._text(element)
            elif kind == "grpSp":
                left, top, height, width = _place(child(element, "grpSpPr")) or _NOWHERE
                parts = tuple(self.read(element))
                yield Shape("text", left, top, height, parts=parts, width=width)
            elif kind == "graphicFrame":
                yield self._frame(element)
            elif kind == "pic":
                self._left_out["office.warn_images"] += 1
            elif kind == "AlternateContent":
                choices = [e for e in element if local(e) in {"Choice", "Fallback"}]
                yield from self.read(choices[0] if choices else None)

    def _text(self, shape: Any) -> Shape:
        kind, index = placeholder(shape)
        role: Role = "title" if kind in _TITLES else "margin" if kind in _MARGINS else "text"
        place = _place(child(shape, "spPr"))
        place = place or self._inherited.get(index) or self._inherited.get(kind)
        left, top, height, width = place or _NOWHERE
        lines = text_lines(paragraphs(child(shape, "txBody")))
        return Shape(role, left, top, height, lines, width=width)

    def _frame(self, frame: Any) -> Shape:
        """A table, chart or diagram."""
        left, top, height, width = _place(frame) or _NOWHERE
        table = next(frame.iter("{*}tbl"), None)
        lines = tuple(self._drawing(frame) if table is None else _table(table))
        return Shape("text", left, top, height, lines, width=width)

    def _drawing(self, frame: Any) -> Iterator[TextLine]:
        for element in frame.iter():
            if local(element) == "chart":
                yield from self._chart(_relation(element, "id"))
            elif local(element) == "relIds":
                yield from self._diagram(_relation(element, "dm"))
            elif local(element) == "oleObj":
                self._left_out["office.warn_embedded"] += 1

    def _chart(self, ref: str) -> Iterator[TextLine]:
        """Title, then a table: a row a category, a column a series."""
        root = self._target(ref)
        if root is None:
            self._left_out["office.warn_charts"] += 1
            return
        title = next(root.iter("{*}title"), None)
        if title is not None:
            yield from text_lines(paragraphs(title))
        series = list(root.iter("{*}ser"))
        names = [" ".join(_cached(child(one, "tx"))) for one in series]
        values = [_cached(child(one, "val")) or _cached(child(one, "yVal")) for one in series]
        first = series[0] if series else None
        labels = _cached(child(first, "cat")) or _cached(child(first, "xVal"))
        if any(names):
            yield TextLine(CELL.join(["", *names]), "table", 1, root)
        for row in zip_longest(labels, *values, fillvalue=""):
            yield TextLine(CELL.join(map(one_line, row)), "table", 0, root)

    def _diagram(self, ref: str) -> Iterator[TextLine]:
        """Texts of a SmartArt drawing, in the order of its data."""
        root = self._target(ref)
        if root is None:
            self._left_out["parse.warn_drawings"] += 1
            return
        for point in root.iter("{*}pt"):
            text = child(point, "t")
            if text is not None and value(point, "type") not in {"pres", "parTrans", "sibTrans"}:
                yield from text_lines(paragraphs(text))

    def _target(self, ref: str) -> Any | None:
        part = next((relation.target for relation in self._relations if relation.id == ref), "")
        try:
            return self._package.root(part)
        except Refused:
            return None

    def _places(self, part: str) -> dict[str, _Place]:
        """Places of the placeholders in the slide's layout and its master, by index and type."""
        places: dict[str, _Place] = {}
        for role in ("slideLayout", "slideMaster"):
            relations = self._package.relations(part) if part else []
            part = next((relation.target for relation in relations if relation.role == role), "")
            for shape in self._package.root(part).iter("{*}sp") if self._package.has(part) else ():
                place = _place(child(shape, "spPr"))
                if place:
                    for key in filter(None, placeholder(shape)):
                        places.setdefault(key, place)
        return places


def placeholder(shape: Any) -> tuple[str, str]:
    """Type and index of a placeholder; a shape that is none has neither."""
    for part in shape:
        mark = child(child(part, "nvPr"), "ph") if local(part).startswith("nv") else None
        if mark is not None:
            return value(mark, "type") or "body", value(mark, "idx")
    return "", ""


def paragraphs(body: Any | None) -> list[str]:
    """Texts of the paragraphs inside `body`; LF for a line break."""
    if body is None:
        return []
    return ["".join(_pieces(paragraph)) for paragraph in body.iter("{*}p")]


def _pieces(paragraph: Any) -> Iterator[str]:
    for element in paragraph.iter():
        kind = local(element)
        if kind == "t":
            yield element.text or ""
        elif kind == "br":
            yield "\n"
        elif kind == "tab" and local(element.getparent()) != "tabLst":
            yield "\t"


def _table(table: Any) -> Iterator[TextLine]:
    """One line a row; what lies under a merged cell is empty."""
    rows = [row for row in table if local(row) == "tr"]
    for place, row in enumerate(rows):
        cells = []
        for cell in row:
            if local(cell) == "tc":
                covered = {value(cell, "hMerge"), value(cell, "vMerge")} & {"1", "true"}
                texts = [] if covered else paragraphs(child(cell, "txBody"))
                cells.append(one_line(" ".join(filter(str.strip, texts))))
        header = place == 0 and len(rows) > 1 and is_header(cells)
        if any(cells):
            yield TextLine(CELL.join(cells), "table", int(header), table)


def _place(properties: Any | None) -> _Place | None:
    """Where a shape says that it is, or nothing; `nan` and `inf` are no places."""
    transform = child(properties, "xfrm")
    offset, extent = child(transform, "off"), child(transform, "ext")
    try:
        left, top = float(value(offset, "x")), float(value(offset, "y"))
        height, width = float(value(extent, "cy") or 0), float(value(extent, "cx") or 0)
    except ValueError:
        return None
    place = left, top, height, width
    return place if all(map(math.isfinite, place)) else None


def _relation(element: Any, name: str) -> str:
    """The attribute `name` of the relations' namespace, whatever the edition."""
    ends = (f"relationships}}{name}",)
    return next((str(v) for k, v in element.attrib.items() if k.endswith(ends)), "")


def _cached(parent: Any | None) -> list[str]:
    """The saved values of a chart's reference, in order."""
    if parent is None:
        return []
    return ["".join(v.text or "" for v in pt.iter("{*}v")) for pt in parent.iter("{*}pt")]
