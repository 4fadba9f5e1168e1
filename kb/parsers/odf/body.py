"""Paragraphs, lists and tables of OpenDocument, in order, as lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from kb.model import ElementKind
from kb.parsers.flow import Break, TextLine
from kb.parsers.odf.lists import Counter
from kb.parsers.odf.package import (
    BREAK,
    Content,
    Inline,
    citation,
    dropped,
    is_shape,
    repeats,
    style_property,
)
from kb.parsers.xml.nodes import child, local, value
from kb.text.rows import CELL, is_header, one_line

_MOST_LEVELS: Final = 10
_ROWS: Final = ("table-header-rows", "table-rows", "table-row-group")
_MOST_ROWS: Final = 1000
"""A row of a text table that says it repeats is believed up to here."""

_Row = tuple[bool, list[str], tuple[str, ...]]
"""Whether it is a header, its cells, the lines of its notes."""


class Body:
    """Walks one document."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._inline = Inline()
        self._outline = Counter(content.outline)
        self._lists: dict[str, Counter] = {}
        self._last_list: dict[str, Counter] = {}
        self._depth = 0
        self._inner_notes: list[str] = []

    def blocks(self, parent: Any) -> Iterator[TextLine | Break]:
        """Lines and page breaks of everything inside `parent`."""
        for element in parent:
            yield from self._block(element, local(element))

    def _block(self, element: Any, name: str) -> Iterator[TextLine | Break]:
        if name in {"p", "h"}:
            yield from self._paragraph(element, heading=name == "h")
        elif name == "list":
            yield from self._list(element)
        elif name == "table":
            yield from self._table(element)
        elif name == "soft-page-break":
            yield Break()
        elif is_shape(element):
            yield from self._shape(element)
        elif not dropped(name):
            yield from self.blocks(element)

    def _paragraph(
        self, element: Any, *, heading: bool = False, mark: str = ""
    ) -> Iterator[TextLine | Break]:
        if self._breaks(element, "break-before"):
            yield Break()
        level = _outline_level(element) if heading else 0
        text = self._inline.text(element)
        if heading and text.strip() and value(element, "is-list-header") != "true":
            label = self._outline.label(level - 1, value(element, "start-value"))
            mark = mark or label
        boxes, self._inline.boxes = self._inline.boxes, []
        notes = tuple(self._notes())
        yield from _lines(f"{mark} {text}" if mark else text, level, notes)
        for box in boxes:
            yield from self._shape(box)
        if self._breaks(element, "break-after"):
            yield Break()

    def _breaks(self, element: Any, where: str) -> bool:
        """A page break by the paragraph's style; a style with a master page starts one too."""
        if self._depth:
            return False
        style = self._content.styles.get(value(element, "style-name"))
        if where == "break-before" and value(style, "master-page-name"):
            return True
        return style_property(self._content, element, where) == "page"

    def _notes(self) -> Iterator[str]:
        """The lines of the notes and comments of the last paragraph."""
        notes, self._inline.notes = self._inline.notes, []
        for note in notes:
            body = child(note, "note-body") if local(note) == "note" else note
            texts = self._texts(body) if body is not None else []
            first = f"[{citation(note)}] {texts[0] if texts else ''}"
            yield from [first.rstrip(), *texts[1:]]

    def _shape(self, shape: Any) -> Iterator[TextLine | Break]:
        """Lines of a frame or shape; a page break inside it breaks no page."""
        for item in self.blocks(shape):
            if isinstance(item, TextLine) and item.text.strip():
                yield item

    def _texts(self, parent: Any) -> list[str]:
        """The text of everything inside, without blank lines."""
        self._depth += 1
        lines = [item for item in self.blocks(parent) if isinstance(item, TextLine)]
        self._depth -= 1
        self._inner_notes += [text for line in lines for text in line.notes]
        return [line.text for line in lines if line.text.strip()]

    # Lists

    def _list(self, element: Any) -> Iterator[TextLine | Break]:
        counter = self._counter_of(element, value(element, "style-name"))
        yield from self._items(element, counter, value(element, "style-name"), 0)

    def _items(
        self, element: Any, counter: Counter, style: str, level: int
    ) -> Iterator[TextLine | Break]:
        for item in element:
            if local(item) in {"list-item", "list-header"}:
                yield from self._item(item, counter, style, level)

    def _item(
        self, item: Any, counter: Counter, style: str, level: int
    ) -> Iterator[TextLine | Break]:
        """Paragraphs of an item; the first one carries its mark."""
        fresh = local(item) == "list-item"
        for part in item:
            if local(part) == "list":
                own = value(part, "style-name") or style
                inner = counter if own == style else Counter(self._content.lists.get(own))
                yield from self._items(part, inner, own, level + 1)
                fresh = False
            elif local(part) in {"p", "h"}:
                mark = counter.label(level, value(item, "start-value")) if fresh else ""
                fresh = False
                yield from self._paragraph(part, heading=local(part) == "h", mark=mark)
            else:
                yield from self._block(part, local(part))

    def _counter_of(self, element: Any, style: str) -> Counter:
        """The counter that goes on, or a new one."""
        earlier = value(element, "continue-list")
        before = self._lists.get(earlier) if earlier else None
        if before is None and value(element, "continue-numbering") == "true":
            before = self._last_list.get(style)
        counter = before or Counter(self._content.lists.get(style))
        self._lists[value(element, "id")] = self._last_list[style] = counter
        return counter

    # Tables

    def _table(self, table: Any) -> Iterator[TextLine | Break]:
        """One line a row. A table in a cell has no cells of its own: its text flows."""
        inner = self._depth > 0
        if self._breaks(table, "break-before"):
            yield Break()
        rows = list(self._rows(table, header=False))
        declared = any(header for header, _, _ in rows)
        for place, (header, cells, notes) in enumerate(rows):
            first = not declared and place == 0 and len(rows) > 1 and is_header(cells)
            text = (" " if inner else CELL).join(cells)
            if text.replace("|", "").strip():
                yield TextLine(text, "table", int(header or first), table, notes)

    def _rows(self, parent: Any, *, header: bool) -> Iterator[_Row]:
        for element in parent:
            name = local(element)
            if name == "table-row":
                cells = self._cells(element)
                notes, self._inner_notes = tuple(self._inner_notes), []
                for _ in range(min(repeats(element, "rows"), _MOST_ROWS)):
                    yield header, cells, notes
            elif name in _ROWS:
                yield from self._rows(element, header=header or name == "table-header-rows")

    def _cells(self, row: Any) -> list[str]:
        """Texts of a row; what lies under a merged cell is empty."""
        cells: list[str] = []
        for cell in row:
            if local(cell) in {"table-cell", "covered-table-cell"}:
                covered = local(cell) == "covered-table-cell"
                text = "" if covered else one_line(" ".join(self._texts(cell)))
                cells += [text] * min(repeats(cell, "columns"), _MOST_ROWS)
        return cells


def _outline_level(element: Any) -> int:
    text = value(element, "outline-level")
    return min(int(text), _MOST_LEVELS) if text.isdigit() and int(text) else 1


def _lines(text: str, level: int, notes: tuple[str, ...]) -> list[TextLine | Break]:
    """Lines of a paragraph, its notes with the last; a page break alone makes no empty line."""
    lines: list[TextLine | Break] = []
    for place, part in enumerate(text.split(BREAK)):
        if place:
            lines.append(Break())
        if part.strip() or BREAK not in text:
            kind: ElementKind = "heading" if level and part.strip() else "paragraph"
            lines += [TextLine(line.rstrip(" "), kind, level) for line in part.split("\n")]
    last = max((i for i, item in enumerate(lines) if isinstance(item, TextLine)), default=-1)
    item = lines[last] if lines else None
    if notes and isinstance(item, TextLine):
        lines[last] = replace(item, notes=notes)
    return lines
