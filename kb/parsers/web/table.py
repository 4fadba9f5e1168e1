"""An HTML table as rows of cells: spans resolved, empty columns left out, signs with their number.

Reports draw `$ 1,234` and `(5)%` over two or three columns; such a column joins its neighbour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

Element = Any
"""An lxml element; lxml has no types of its own."""

_BEFORE: Final = frozenset({"$", "€", "£", "¥", "￥", "US$", "HK$", "RMB", "(", "（", "$(", "$ ("})
_AFTER: Final = frozenset({")", "）", "%", ")%", ") %", "）%"})
_MOST_COLUMNS: Final = 1_000
"""Largest colspan, as in the HTML standard; also the widest row."""
_MOST_ROWS: Final = 65_534
_LONG_ROW: Final = 2_000
"""A row of more characters is the layout of a page, not a row of a table."""
_PARTS: Final = frozenset({"thead", "tbody", "tfoot", "tr", "form", "colgroup", "col"})
_UNREAD: Final = frozenset({"script", "style"})
_OF_TABLE: Final = _PARTS | _UNREAD | {"caption"}


@dataclass(slots=True)
class Row:
    """One `tr`: its cells in order, and whether all of it is a header."""

    cells: list[Element] = field(default_factory=list)
    is_header: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of cell texts, equally long; the first `headers` of them head the columns."""

    rows: list[list[str]]
    headers: int


def rows(table: Element) -> list[Row] | None:
    """The rows of `table` itself; None when text stands in it outside of any cell."""
    found: list[Row] = []
    stack = [(table, False)]
    while stack:
        node, in_head = stack.pop()
        if node.tag == "tr":
            found.append(Row(is_header=in_head))
        parts = [child for child in node if isinstance(child.tag, str)]
        if (node.text or "").strip() or any((child.tail or "").strip() for child in node):
            return None
        for child in parts:
            if child.tag in {"td", "th"}:
                if node.tag != "tr":
                    return None
                found[-1].cells.append(child)
            elif child.tag not in (_OF_TABLE if node is table else _PARTS | _UNREAD):
                return None
        stack += [
            (child, in_head or child.tag == "thead")
            for child in reversed(parts)
            if child.tag in _PARTS
        ]
    return [_judged(row) for row in found if row.cells]


def is_layout(row: Row) -> bool:
    """Whether the row arranges parts of a page: a table within, a lone heading, or long text."""
    if any(next(cell.iter("table"), None) is not None for cell in row.cells):
        return True
    filled = [cell for cell in row.cells if any(text.strip() for text in cell.itertext())]
    if len(filled) == 1 and next(filled[0].iter("h1", "h2", "h3", "h4"), None) is not None:
        return True
    return sum(len(text) for cell in filled for text in cell.itertext()) > _LONG_ROW and any(
        next(cell.iter("p", "div", "ul", "ol", "li"), None) is not None for cell in filled
    )


def grid(found: Sequence[Row], read: Callable[[Element], str]) -> Grid:
    """The rows that hold text, `read` giving the text of a cell."""
    placed = [
        (row.is_header, cells) for row, cells in zip(found, _placed(found, read), strict=True)
    ]
    kept = [(is_header, cells) for is_header, cells in placed if cells]
    columns = sorted({column for _, cells in kept for column in cells})
    full = [[cells.get(column, "") for column in columns] for _, cells in kept]
    return Grid(_joined_signs(full), _headers([is_header for is_header, _ in kept], full))


def _judged(row: Row) -> Row:
    row.is_header = row.is_header or all(cell.tag == "th" for cell in row.cells)
    return row


def _headers(marks: Sequence[bool], full: Sequence[Sequence[str]]) -> int:
    """How many of the first rows are headers; a lone title over all columns heads none."""
    count = next((i for i, is_header in enumerate(marks) if not is_header), len(marks))
    heads_columns = any(sum(map(bool, row)) > 1 for row in full[:count])
    return count if heads_columns and count < len(full) else 0


def _placed(found: Sequence[Row], read: Callable[[Element], str]) -> Iterator[dict[int, str]]:
    """For each row its texts by column; a cell's text stands in the first column it spans."""
    open_spans: list[tuple[int, int, int]] = []  # first column, end, rows still to cover
    for row in found:
        cells: dict[int, str] = {}
        covered = sorted(open_spans)
        open_spans = [(start, end, left - 1) for start, end, left in covered if left > 1]
        column = 0
        for cell in row.cells:
            column = _free(column, covered)
            if column >= _MOST_COLUMNS:
                column = _MOST_COLUMNS + len(cells)
            end = column + _span(cell, "colspan", _MOST_COLUMNS)
            below = _span(cell, "rowspan", _MOST_ROWS) - 1
            if below:
                open_spans.append((column, end, below))
            text = read(cell)
            if text:
                cells[column] = text
            column = end
        yield cells


def _free(column: int, covered: Sequence[tuple[int, int, int]]) -> int:
    for start, end, _ in covered:
        if start <= column < end:
            column = end
    return column


def _span(cell: Element, name: str, most: int) -> int:
    value = (cell.get(name) or "1").strip()
    return max(1, min(int(value[:6]), most)) if value.isascii() and value.isdigit() else 1


def _joined_signs(full: list[list[str]]) -> list[list[str]]:
    """Columns of signs joined to their numbers' columns, from left to right."""
    width = len(full[0]) if full else 0
    column = 0
    while column + 1 < width:
        pairs = [(row[column], row[column + 1]) for row in full]
        if _is_sign_column(pairs):
            for row in full:
                row[column : column + 2] = [_glued(row[column], row[column + 1])]
            width -= 1
        else:
            column += 1
    return full


def _is_sign_column(pairs: Sequence[tuple[str, str]]) -> bool:
    both = [(left, right) for left, right in pairs if left and right]
    return bool(both) and all(left in _BEFORE or right in _AFTER for left, right in both)


def _glued(left: str, right: str) -> str:
    between = " " if left in _BEFORE and left[-1] not in "(（" and right else ""
    return f"{left}{between}{right}"
