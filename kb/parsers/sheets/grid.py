"""A sheet of cells as pages: a row is a line.

Line n of a sheet is row n, for a person looks there: blank rows stay, up to a long run of them. A
page holds 1,000 rows, so that most sheets are one page. Columns without any text are left out. A
merged cell is shown where it begins, and once more where it goes on over a page break; the cells
under it are not shown, as in the program itself.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final, NamedTuple

from kb.errors import Refused
from kb.messages import tr
from kb.model import Element, Page
from kb.text.rows import CELL, Cells, _is_numeric, one_line

PAGE_ROWS: Final = 1_000
BLANK_ROWS: Final = 50
"""Longer runs of blank rows are cut to one."""
MOST_CELLS: Final = 4_000_000
MOST_HEADER_ROWS: Final = 10
_NAMED: Final = 20
_HEADER_SEARCH: Final = 30
_ROW: Final = 2
"""Cells that make a row of a table; one alone is a title or a note."""
_LAST_COLUMN: Final = 99
"""The last column whose merged cells are told to the index."""


class Merge(NamedTuple):
    """A merged range, ends inclusive; rows count from 1, columns from 0."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(slots=True)
class Sheet:
    """A sheet as its file gives it. Rows count from 1.

    `header` is the last row of the header where the document says so (frozen panes, a filter, a
    table), else 0: then it is looked for.
    """

    name: str
    rows: dict[int, Cells] = field(default_factory=dict)
    merges: list[Merge] = field(default_factory=list)
    header: int = 0
    cells: int = 0

    def put(self, row: int, column: int, text: str) -> None:
        """Set a cell; text of white space alone is none. Raises Refused beyond four million."""
        text = one_line(text)
        if text:
            self.cells += 1
            if self.cells > MOST_CELLS:
                message = tr("office.too_many_cells", sheet=self.name, limit=MOST_CELLS)
                raise Refused(message, tr("parse.output_hint"))
            self.rows.setdefault(row, {})[column] = text


class _Line(NamedTuple):
    row: int
    cells: Cells


class _Part(NamedTuple):
    """A merged cell on one page: its first and last line in the sheet, from 0."""

    top: int
    bottom: int
    column: int
    text: str


def listed(names: Sequence[str]) -> str:
    """Names for a warning, the first twenty of them."""
    return "、".join(names[:_NAMED]) + "…" * (len(names) > _NAMED)


def pages(sheets: Sequence[Sheet], name: str) -> tuple[tuple[Page, ...], list[str]]:
    """The pages of all sheets, and what was left out.

    An empty sheet is an empty page. Raises Refused when no sheet holds text.
    """
    result: list[Page] = []
    warnings: list[str] = []
    for sheet in sheets:
        view = _View(sheet)
        warnings += view.warnings
        result += view.pages(len(result) + 1)
    if not any(page.text for page in result):
        raise Refused(tr("parse.no_text", name=name), tr("parse.empty_hint"))
    return tuple(result), warnings


class _View:
    """One sheet, laid out."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._merges = sorted(merge for merge in sheet.merges if merge.bottom or merge.right)
        _uncover(sheet.rows, self._merges)
        used = sorted({column for cells in sheet.rows.values() for column in cells})
        self._place = {column: place for place, column in enumerate(used)}
        self.warnings: list[str] = []
        self._lines = list(self._with_blanks())
        self._tables = list(self._find_tables())
        self._widths = [0] * len(self._lines)
        for first, end, _, width in self._tables:
            self._widths[first:end] = [width] * (end - first)

    def pages(self, number: int) -> list[Page]:
        """The pages of the sheet, the first of them `number`."""
        merged = self._merged_parts()
        starts = range(0, max(len(self._lines), 1), PAGE_ROWS)
        return [self._page(number + i, at, merged.get(at, [])) for i, at in enumerate(starts)]

    def _with_blanks(self) -> Iterator[_Line]:
        """Every line, blank ones too. A run that is too long is named in a warning."""
        before = 0
        for row in sorted(row for row, cells in self._sheet.rows.items() if cells):
            gap = row - before - 1
            if gap > BLANK_ROWS:
                fields = {"sheet": self._sheet.name, "first": before + 1, "last": row - 1}
                self.warnings.append(tr("office.warn_blank_rows", **fields))
                gap = 1
            for blank in range(row - gap, row):
                yield _Line(blank, {})
            yield _Line(row, self._sheet.rows[row])
            before = row

    def _page(self, number: int, start: int, merged: Sequence[_Part]) -> Page:
        """The page of the lines from `start`; cells that go on from the page before stand in it."""
        lines = self._lines[start : start + PAGE_ROWS]
        for top, _, column, text in merged:
            lines[top - start].cells.setdefault(column, text)
        return Page(
            number=number,
            text="\n".join(self._text(at, line) for at, line in enumerate(lines, start)),
            kind="sheet",
            label=self._sheet.name,
            elements=(
                *self._table_elements(start, len(lines)),
                *self._merged_elements(start, merged),
            ),
        )

    def _text(self, at: int, line: _Line) -> str:
        """A row as text, as wide as the header of its table."""
        last = max((self._place[column] for column in line.cells), default=-1)
        row = [""] * max(last + 1, self._widths[at] if len(line.cells) >= _ROW else 0)
        for column, text in line.cells.items():
            row[self._place[column]] = text
        return CELL.join(row)

    def _merged_parts(self) -> dict[int, list[_Part]]:
        """The parts of merged cells on each page, by the page's first line."""
        parts: dict[int, list[_Part]] = {}
        rows = [line.row for line in self._lines]
        for merge in self._merges:
            text = self._sheet.rows.get(merge.top, {}).get(merge.left, "")
            top, end = bisect_left(rows, merge.top), bisect_right(rows, merge.bottom)
            if not text or end - top < _ROW:
                continue
            for page in range(top // PAGE_ROWS * PAGE_ROWS, end, PAGE_ROWS):
                part = _Part(max(top, page), min(end, page + PAGE_ROWS) - 1, merge.left, text)
                parts.setdefault(page, []).append(part)
        return parts

    def _merged_elements(self, start: int, merged: Sequence[_Part]) -> Iterator[Element]:
        for top, bottom, column, _ in merged:
            if bottom > top and self._place[column] <= _LAST_COLUMN:
                yield Element("merged", top - start + 1, bottom - start + 1, self._place[column])

    # Tables and their headers

    def _table_elements(self, start: int, count: int) -> Iterator[Element]:
        for first, end, header, _ in self._tables:
            top, bottom = max(first, start), min(end, start + count)
            if top < bottom:
                left = min(first + header, bottom) - top  # header lines on this page
                yield Element("table", top - start + 1, bottom - start, max(left, 0))

    def _find_tables(self) -> Iterator[tuple[int, int, int, int]]:
        """First line, end, header lines and width of each table, by 0-based line.

        A part without a header of its own goes on with the table before it.
        """
        found: list[tuple[int, int, int]] = []
        for first, end in self._parts():
            header = self._header(first, end, known=0 if found else self._sheet.header)
            if header:
                found.append((header[0], end, header[1]))
            elif all(len(line.cells) < _ROW for line in self._lines[first:end]):
                continue
            elif found:
                found[-1] = (found[-1][0], end, found[-1][2])
            else:
                found.append((first, end, 0))
        for first, end, height in found:
            top = self._lines[first : first + height]
            places = (self._place[column] for line in top for column in line.cells)
            yield first, end, height, max(places, default=-1) + 1

    def _parts(self) -> Iterator[tuple[int, int]]:
        """Runs of lines that end before a blank one, each with numbers in it but the last."""
        start = None
        numbers = False
        for i, line in enumerate(self._lines):
            if line.cells:
                start = i if start is None else start
                numbers = numbers or _is_numeric(line.cells)
            elif numbers and start is not None:
                yield start, i
                start, numbers = None, False
        if start is not None:
            yield start, len(self._lines)

    def _header(self, first: int, end: int, known: int) -> tuple[int, int] | None:
        """First line and height of the header of a part, None when it has none."""
        top = self._first_wide(first, end)
        if top is None:
            return None
        if known and 0 <= known - self._lines[top].row < MOST_HEADER_ROWS:
            height = known - self._lines[top].row + 1
        elif _is_numeric(self._lines[top].cells):
            return None
        else:
            height = self._height(top, end)
        if top + height >= end:
            return None
        while top > first and _is_title(self._lines[top - 1].cells):
            top, height = top - 1, height + 1
        return top, height

    def _first_wide(self, first: int, end: int) -> int | None:
        """The first line below the titles: several cells, at least a third of the widest row."""
        lines = self._lines[first:end]
        widest = max(len(line.cells) for line in lines)
        for i, line in enumerate(lines[:_HEADER_SEARCH]):
            if len(line.cells) > 1 and len(line.cells) * 3 >= widest:
                return first + i
        return None

    def _height(self, top: int, end: int) -> int:
        """Header rows: as far as its merged cells reach, and rows of names under its titles."""
        row = bottom = self._lines[top].row
        for merge in self._merges:
            if merge.top == row and merge.bottom > row:
                bottom = max(bottom, merge.bottom)
            elif merge.top == row and merge.right > merge.left:
                bottom = max(bottom, row + 1)
        inside = self._lines[top : min(end, top + MOST_HEADER_ROWS)]
        height = sum(line.row <= bottom for line in inside)
        while height < len(inside) and _goes_under(self._lines[top].cells, inside[height].cells):
            height += 1
        return height


def _goes_under(titles: Cells, names: Cells) -> bool:
    """Whether a row names the columns that the titles above it leave open."""
    return _is_title(names) and min(titles) not in names and not names.keys() <= titles.keys()


def _is_title(cells: Cells) -> bool:
    """Whether a row above the header belongs to it: names over several columns."""
    return len(cells) > 1 and not _is_numeric(cells)


def _uncover(rows: dict[int, Cells], merges: Sequence[Merge]) -> None:
    """Take away what lies under merged cells; `merges` are sorted."""
    waiting = list(reversed(merges))
    active: list[tuple[int, Merge]] = []  # a heap: the one that ends first is first
    for row in sorted(rows):
        while waiting and waiting[-1].top <= row:
            merge = waiting.pop()
            heappush(active, (merge.bottom, merge))
        while active and active[0][0] < row:
            heappop(active)
        _uncover_row(row, rows[row], active)


def _uncover_row(row: int, cells: Cells, active: Sequence[tuple[int, Merge]]) -> None:
    for _, (top, left, _, right) in active:
        if not cells:
            return
        for column in [c for c in cells if left <= c <= right and (row, c) != (top, left)]:
            del cells[column]
