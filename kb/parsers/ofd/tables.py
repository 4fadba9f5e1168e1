"""Ruled tables and forms of OFD pages: which lines a row of the grid has. Pure geometry.

An invoice rules off whole blocks, not rows: its goods stand several below one another in one field,
its buyer's name, number and address too. So a row of the grid is one line only where its cells are
one; cells whose lines stand side by side are read line by line, and a block of `label：value` lines
keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from kb.parsers.layout import tables
from kb.parsers.layout.lines import CELL, Fragment, Line, flow, is_wide, join, join_cell, union
from kb.parsers.layout.tables import Cell, Rule, Table

_MIN_COLUMN: Final = 5.0
_MIN_WIDTH: Final = 72.0
_MIN_HEIGHT: Final = 20.0
"""Points: what is smaller is a drawing, such as the outline of a letter."""
_FULL: Final = 1.5
"""A line that ends this near its cell's edge, in line heights, was broken for lack of room."""
_SAME_ROW: Final = 0.5
_UPRIGHT: Final = 1.5
"""Height by width of a label that is written downwards."""
_LONGEST_ROW: Final = 600
_FIELD: Final = re.compile(r"[^\d\s][:：]")
"""A label and its colon; not a time of day."""


def find(across: Sequence[Rule], down: Sequence[Rule]) -> list[Table]:
    """The tables that rules make, smallest first."""
    found = tables.find(across, down)
    return [t for t in found if _spans(t.xs) >= _MIN_WIDTH and _spans(t.ys) >= _MIN_HEIGHT]


def _spans(places: Sequence[float]) -> float:
    return places[-1] - places[0]


def fill(tables: Sequence[Table], fragments: Sequence[Fragment]) -> list[Fragment]:
    """Put fragments into the cells that they stand in, smallest table first; the others remain."""
    loose = []
    for fragment in fragments:
        x0, y0, x1, y1 = fragment.box
        inset = min((x1 - x0) / 2, y1 - y0) if fragment.level else (x1 - x0) / 2
        places = ((table, table.cell_at(x0 + inset, (y0 + y1) / 2)) for table in tables)
        table, cell = next((place for place in places if place[1]), (None, None))
        if table is None or cell is None:
            loose.append(fragment)
        else:
            table.content.setdefault(cell, []).append(fragment)
    return loose


def table_lines(table: Table, number: int) -> list[Line]:
    """The lines of a table, marked with its `number`."""
    cells = {cell: _stack(join_cell(parts)) for cell, parts in table.content.items()}
    found: list[Line] = []
    for row in range(len(table.ys) - 1):
        slots = _slots(table, row)
        if len(slots) == 1:  # no column is ruled off: gaps tell the cells apart
            found += _unruled(table.content.get(slots[0], []) if slots[0][0] == row else [])
            continue
        own = [cells.get(cell, []) if cell[0] == row else [] for cell in slots]
        found += _row(own, [table.xs[_end(table, row, cell)] for cell in slots])
    return [Line(line.text, line.box, number) for line in found if line.text]


def _unruled(parts: Sequence[Fragment]) -> list[Line]:
    return join(sorted(parts, key=lambda part: part.box[1] + part.box[3]))


def _stack(lines: list[Line]) -> list[Line]:
    """A cell of single Han characters below one another is one label: 购 买 方."""
    label = "".join(line.text for line in lines)
    if len(lines) > 1 and len(label) == len(lines) and all(map(is_wide, label)):
        return [Line(label, union(line.box for line in lines))]
    return lines


def _slots(table: Table, row: int) -> list[Cell]:
    """The cells that a row passes, left to right, each once; no slits between double rules."""
    columns = range(len(table.xs) - 1)
    wide: dict[Cell, float] = {}
    for column in columns:
        cell = table.cells[row, column]
        wide[cell] = wide.get(cell, 0.0) + table.xs[column + 1] - table.xs[column]
    return [cell for cell, width in wide.items() if cell in table.content or width >= _MIN_COLUMN]


def _end(table: Table, row: int, cell: Cell) -> int:
    """Index of the rule at the right of a cell."""
    columns = (c for c in range(len(table.xs) - 1) if table.cells[row, c] == cell)
    return max(columns) + 1


def _row(cells: Sequence[list[Line]], edges: Sequence[float]) -> list[Line]:
    """The lines of one row of the grid; `edges` are the right edges of its cells."""
    many = [(lines, edge) for lines, edge in zip(cells, edges, strict=True) if len(lines) > 1]
    forms = any(_is_form(lines) for lines, _edge in many)
    if forms or sum(len(line.text) for lines in cells for line in lines) > _LONGEST_ROW:
        return list(_by_cell(cells))
    broken = all(_is_broken(lines, edge) for lines, edge in many)
    if not broken and len(many) > 1 and (rows := _side_by_side(cells)):
        return [_record(row) for row in rows]
    return [_record(cells)] if any(cells) else []


def _record(cells: Sequence[Sequence[Line]]) -> Line:
    """A row as one line; its empty cells keep their place."""
    text = CELL.join(flow(lines) for lines in cells).strip()
    return Line(text, union(line.box for lines in cells for line in lines))


def _is_broken(lines: Sequence[Line], edge: float) -> bool:
    """Whether the lines of a cell are one text that was broken at its edge."""
    full = [edge - line.box[2] <= _FULL * (line.box[3] - line.box[1]) for line in lines[:-1]]
    return 2 * sum(full) >= len(full)


def _is_form(lines: Sequence[Line]) -> bool:
    return 2 * sum(bool(_FIELD.search(line.text)) for line in lines) > len(lines)


def _side_by_side(cells: Sequence[Sequence[Line]]) -> list[list[list[Line]]]:
    """The lines of all cells by their height, nothing where they do not stand side by side.

    An upright label spans the row: it belongs to its first line.
    """
    rows: list[list[list[Line]]] = []
    heights: list[Line] = []
    marked = [(line, i) for i, lines in enumerate(cells) for line in lines if not _is_upright(line)]
    for line, i in sorted(marked, key=lambda pair: pair[0].box[1] + pair[0].box[3]):
        if not heights or not _beside(heights[-1], line):
            if heights and line.box[1] < heights[-1].box[3] - 0.5 * (line.box[3] - line.box[1]):
                return []
            rows.append([[] for _ in cells])
            heights.append(line)
        rows[-1][i].append(line)
    for i, lines in enumerate(cells if rows else ()):
        rows[0][i] = [*filter(_is_upright, lines), *rows[0][i]]
    return rows if any(sum(map(bool, row)) > 1 for row in rows[1:]) else []


def _beside(one: Line, two: Line) -> bool:
    shared = min(one.box[3], two.box[3]) - max(one.box[1], two.box[1])
    return shared > _SAME_ROW * min(one.box[3] - one.box[1], two.box[3] - two.box[1])


def _is_upright(line: Line) -> bool:
    x0, y0, x1, y1 = line.box
    return len(line.text) > 1 and y1 - y0 > _UPRIGHT * (x1 - x0)


def _by_cell(cells: Sequence[Sequence[Line]]) -> Iterator[Line]:
    """Cell after cell with the lines they have; what is one line leads into the cell after it."""
    lead: list[Line] = []
    for lines, after in pairwise([*cells, []]):
        if len(lines) == 1 and after:
            lead += lines
            continue
        for line in lines:
            yield _record([[part] for part in (*lead, line)])
            lead = []
