"""The header rows of ruled tables. Pure: grids and pages in, levels of table elements out.

A table begins with its header, unless it evidently goes on from the page before: it opens its page
(nothing but margins above), has the columns of the table that ended that page, and does not repeat
its header.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kb.model import Box, Element, Page
from kb.parsers.layout.tables import MIN_COLUMN, Cell, Table

_MARGIN: Final = 0.12
"""As in `kb.text.noise`: a line in this share of the page at its edge may be a running head."""
_SAME_COLUMN: Final = 4.0
_DEEPEST: Final = 4
_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")

Grids = Mapping[int, Mapping[int, Table]]
"""The grid of every table element by page number and first line."""


def header_lines(table: Table, most: int) -> int:
    """How many of a table's first lines are its header, at most `most`; 0: it has none."""
    rows = _header_rows(table)
    lines = table.line_ends[rows - 1] if rows else 0
    return lines if lines <= most else 0


def _header_rows(table: Table) -> int:
    """The same in rows of the grid; a title row over the whole width belongs to the header."""
    rows = len(table.ys) - 1
    top = next((row for row in range(rows) if len(_cells(table, row)) > 1), rows)
    depth = _depth(table, top) if top < rows - 1 else 0
    ends = [0, *table.line_ends]
    if any(ends[row + 1] - ends[row] > 1 for row in range(top, top + depth)):
        return 0  # a row of several lines is a group of records
    texts = [_text(table, cell) for row in range(top, top + depth) for cell in _cells(table, row)]
    return top + depth if _are_names(list(filter(None, texts))) else 0


def _depth(table: Table, top: int) -> int:
    """Rows that the header's cells take: two levels where a cell is divided below itself.

    A cell over several rows without that is the label of a group of data: no header at all.
    """
    cells = _cells(table, top)
    heights = [_height(table, cell) for cell in cells]
    divided = any(_is_divided(table, *pair) for pair in zip(cells, heights, strict=True))
    if not divided:
        return heights[0] if len(set(heights)) == 1 else 0
    depth = max(2, *heights)
    return depth if depth <= _DEEPEST and top + depth < len(table.ys) - 1 else 0


def _are_names(texts: list[str]) -> bool:
    """Whether they name columns: several, fewer than half of them numbers (years apart)."""
    numbers = sum(not any(map(str.isalpha, text)) and not _YEAR.search(text) for text in texts)
    return len(texts) > 1 and 2 * numbers < len(texts)


def _cells(table: Table, row: int) -> list[Cell]:
    """The cells that a row passes, each once, without slits between double rules."""
    columns = (c for c in range(len(table.xs) - 1) if _is_wide(table, c))
    return list(dict.fromkeys(table.cells[row, column] for column in columns))


def _is_wide(table: Table, column: int) -> bool:
    return table.xs[column + 1] - table.xs[column] >= MIN_COLUMN


def _height(table: Table, cell: Cell) -> int:
    return sum(table.cells.get((row, cell[1])) == cell for row in range(cell[0], len(table.ys) - 1))


def _is_divided(table: Table, cell: Cell, height: int) -> bool:
    """Whether several cells stand below one."""
    row, first = cell
    columns = [c for c in range(first, len(table.xs) - 1) if table.cells[row, c] == cell]
    below = row + height
    if below >= len(table.ys) - 1:
        return False
    return len({table.cells[below, c] for c in columns if _is_wide(table, c)}) > 1


def _text(table: Table, cell: Cell) -> str:
    return "".join(part.text for part in table.content.get(cell, ()))


# -- over page breaks ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Open:
    """A table that ends its page: where its columns stand, and the lines of its header."""

    xs: Sequence[float]
    header: Sequence[str]

    def has_columns_of(self, table: Table) -> bool:
        pairs = zip(self.xs, table.xs, strict=False)
        near = all(abs(one - two) <= _SAME_COLUMN for one, two in pairs)
        return near and len(self.xs) == len(table.xs)


def carry_over(pages: Iterable[Page], grids: Grids) -> Iterator[Page]:
    """The pages; a table that goes on from the page before has level 0 in them."""
    before: _Open | None = None
    for page in pages:
        tables = [element for element in page.elements if element.kind == "table"]
        changed = page
        own = grids.get(page.number, {})
        if before and tables and _goes_on(page, tables[0], own[tables[0].line_start], before):
            first = replace(tables[0], level=0)
            changed = _with(page, tables[0], first)
            tables[0] = first
        else:
            before = None
        yield changed
        before = _open(page, tables, own, before)


def _goes_on(page: Page, element: Element, table: Table, before: _Open) -> bool:
    lines = page.text.split("\n")
    start = element.line_start - 1
    if not all(_in_margin(box, page) for box in page.boxes[:start]):
        return False
    repeats = before.header and lines[start : start + len(before.header)] == before.header
    return before.has_columns_of(table) and not repeats


def _open(
    page: Page, tables: Sequence[Element], own: Mapping[int, Table], before: _Open | None
) -> _Open | None:
    """The table that ends the page; `before` is the one that its first table goes on from."""
    if not tables or not all(_in_margin(box, page) for box in page.boxes[tables[-1].line_end :]):
        return None
    last = tables[-1]
    if before and len(tables) == 1:
        return before
    start = last.line_start - 1
    return _Open(own[last.line_start].xs, page.text.split("\n")[start : start + last.level])


def _in_margin(box: Box, page: Page) -> bool:
    x0, y0, x1, y1 = box
    sideways = y1 - y0 > 2 * (x1 - x0)
    place = (x0 + x1) / 2 / page.width if sideways else (y0 + y1) / 2 / page.height
    return place <= _MARGIN or place >= 1 - _MARGIN


def _with(page: Page, old: Element, new: Element) -> Page:
    return replace(page, elements=tuple(new if e is old else e for e in page.elements))
