"""Ruled tables from the rules themselves. Pure geometry, in layout space (`pdf_lines`).

A table is a set of rules that cross one another, at least three each way. Its grid is every place
where a rule stands; neighbouring fields without a rule between them are one cell (merged cells).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from kb.model import Box
from kb.parsers.layout.lines import CELL, Fragment, Line, flow, join_cell, union

_THIN: Final = 3.0
"""Points: a filled shape this thin is a rule; rules this near are one; ends this near touch."""
_MIN_RULES: Final = 3
_MOST_RULES: Final = 600
"""A drawing with more is a chart or a map, not a table."""
MIN_COLUMN: Final = 5.0
_LONGEST_ROW: Final = 600
_NUMBER: Final = re.compile(r"[-+(（]?[¥$]?\d[\d,.:]*[)）]?%?|[-–—]")

Cell = tuple[int, int]
"""A cell of a grid, named by the row and column (0-based) of its top left field."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line at `at` across, from `start` to `end` along its direction."""

    at: float
    start: float
    end: float

    def covers(self, place: float) -> bool:
        """Whether it passes `place` along its direction."""
        return self.start - _THIN <= place <= self.end + _THIN


@dataclass(slots=True)
class Table:
    """A grid: ascending positions of its rules, and which cell every field belongs to.

    `line_ends` says, once the lines are made, how many of them there are up to each row.
    """

    xs: list[float]
    ys: list[float]
    cells: dict[Cell, Cell]
    content: dict[Cell, list[Fragment]] = field(default_factory=dict)
    line_ends: list[int] = field(default_factory=list)

    def cell_at(self, x: float, y: float) -> Cell | None:
        """The cell around a point, None outside the table."""
        row, column = _band(self.ys, y), _band(self.xs, x)
        return None if row is None or column is None else self.cells[row, column]

    @property
    def area(self) -> float:
        """Of the whole grid, in square points."""
        return (self.xs[-1] - self.xs[0]) * (self.ys[-1] - self.ys[0])

    def lines(self, number: int) -> list[Line]:
        """One line a record, cells joined by ` | `.

        A cell over the whole width, and a row too long for one line, keep the lines they have.
        """
        joined = {cell: join_cell(parts) for cell, parts in self.content.items()}
        result: list[Line] = []
        for row in range(len(self.ys) - 1):
            result += self._row(row, joined)
            self.line_ends.append(len(result))
        return [Line(line.text, line.box, number) for line in result]

    def _row(self, row: int, joined: dict[Cell, list[Line]]) -> list[Line]:
        slots = self._slots(row)
        own = [joined.get(cell, []) if cell[0] == row else [] for cell in slots]
        if len(slots) == 1:
            return own[0]
        records = [_record(record) for record in _records(own) if any(record)]
        if any(len(record.text) > _LONGEST_ROW for record in records):
            return [line for lines in own for line in lines]
        return records

    def _slots(self, row: int) -> list[Cell]:
        """The cells that a row passes, left to right, each once; no slits between double rules."""
        slots = dict.fromkeys(self.cells[row, column] for column in range(len(self.xs) - 1))
        return [c for c in slots if c in self.content or self._width(row, c) >= MIN_COLUMN]

    def _width(self, row: int, cell: Cell) -> float:
        return sum(
            self.xs[column + 1] - self.xs[column]
            for column in range(len(self.xs) - 1)
            if self.cells[row, column] == cell
        )


def find(across: Sequence[Rule], down: Sequence[Rule]) -> list[Table]:
    """The tables that horizontal (`across`) and vertical (`down`) rules make, smallest first."""
    across, down = _merged(across), _merged(down)
    if not _plausible(across, down):
        return []
    tables = [_table(*group) for group in _groups(across, down)]
    return sorted((table for table in tables if table), key=lambda table: table.area)


def rules(box: Box, *, outlined: bool) -> tuple[list[Rule], list[Rule]]:
    """The horizontal and vertical rules that one drawn shape stands for.

    A thin shape is a rule, an outlined rectangle four, a filled area none.
    """
    x0, y0, x1, y1 = box
    width, height = x1 - x0, y1 - y0
    if height <= _THIN and width <= _THIN:
        return [], []
    if height <= _THIN:
        return [Rule((y0 + y1) / 2, x0, x1)], []
    if width <= _THIN:
        return [], [Rule((x0 + x1) / 2, y0, y1)]
    if not outlined:
        return [], []
    return [Rule(y0, x0, x1), Rule(y1, x0, x1)], [Rule(x0, y0, y1), Rule(x1, y0, y1)]


def _record(cells: Sequence[Sequence[Line]]) -> Line:
    """A row as one line; its empty cells keep their place."""
    text = CELL.join(flow(lines) for lines in cells).strip()
    return Line(text, union(line.box for lines in cells for line in lines))


def _records(cells: list[list[Line]]) -> list[list[list[Line]]]:
    """The records between two rules: usually one, but some tables rule off groups of them.

    A column of nothing but numbers, several below one another, shows the records; every line of
    the other cells must stand beside one of them.
    """
    numbers = max((lines for lines in cells if _all_numbers(lines)), key=len, default=[])
    if len(numbers) <= 1:
        return [cells]
    records: list[list[list[Line]]] = [[[] for _ in cells] for _ in numbers]
    for column, lines in enumerate(cells):
        for line in lines:
            beside = [i for i, number in enumerate(numbers) if _is_beside(line, number)]
            if not beside:
                return [cells]
            records[beside[0]][column].append(line)
    return records


def _all_numbers(lines: Sequence[Line]) -> bool:
    return all(_NUMBER.fullmatch(line.text) for line in lines)


def _is_beside(one: Line, two: Line) -> bool:
    shared = min(one.box[3], two.box[3]) - max(one.box[1], two.box[1])
    return 2 * shared > min(one.box[3] - one.box[1], two.box[3] - two.box[1])


def _plausible(across: Sequence[Rule], down: Sequence[Rule]) -> bool:
    few, many = sorted((len(across), len(down)))
    return few >= _MIN_RULES - 1 and many <= _MOST_RULES


def _merged(found: Sequence[Rule]) -> list[Rule]:
    """Rules with pieces of one line put together."""
    result: list[Rule] = []
    for group in _near(sorted(found, key=lambda rule: rule.at)):
        at = sum(rule.at for rule in group) / len(group)
        pieces = sorted((rule.start, rule.end) for rule in group)
        start, end = pieces[0]
        for next_start, next_end in pieces[1:]:
            if next_start > end + _THIN:
                result.append(Rule(at, start, end))
                start = next_start
            end = max(end, next_end)
        result.append(Rule(at, start, end))
    return result


def _near(ordered: Sequence[Rule]) -> list[list[Rule]]:
    groups: list[list[Rule]] = []
    for rule in ordered:
        if groups and rule.at - groups[-1][0].at <= _THIN:
            groups[-1].append(rule)
        else:
            groups.append([rule])
    return groups


def _groups(across: Sequence[Rule], down: Sequence[Rule]) -> list[tuple[list[Rule], list[Rule]]]:
    """Sets of rules that touch, directly or through others."""
    parent = list(range(len(across) + len(down)))
    for i, row in enumerate(across):
        for j, column in enumerate(down, start=len(across)):
            if row.covers(column.at) and column.covers(row.at):
                _unite(parent, i, j)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for i, rule in enumerate((*across, *down)):
        groups.setdefault(_root(parent, i), ([], []))[i >= len(across)].append(rule)
    return list(groups.values())


def _root(parent: list[int], i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


def _table(across: list[Rule], down: list[Rule]) -> Table | None:
    if min(len(across), len(down)) < _MIN_RULES - 1:
        return None
    xs = _positions(down, across)
    ys = _positions(across, down)
    if min(len(xs), len(ys)) < _MIN_RULES:
        return None
    return Table(xs, ys, _cells(xs, ys, across, down))


def _positions(own: Iterable[Rule], crossing: Sequence[Rule]) -> list[float]:
    """Where the grid's lines stand; a side left open ends where the crossing rules end."""
    places = sorted({rule.at for rule in own})
    first, last = min(r.start for r in crossing), max(r.end for r in crossing)
    if first < places[0] - MIN_COLUMN:
        places.insert(0, first)
    if last > places[-1] + MIN_COLUMN:
        places.append(last)
    return places


def _cells(
    xs: list[float], ys: list[float], across: list[Rule], down: list[Rule]
) -> dict[Cell, Cell]:
    """For every field the first field of its cell, by rows."""
    columns = len(xs) - 1
    parent = list(range(columns * (len(ys) - 1)))
    for field_ in range(len(parent)):
        row, column = divmod(field_, columns)
        middle_x = (xs[column] + xs[column + 1]) / 2
        middle_y = (ys[row] + ys[row + 1]) / 2
        if row and not _separated(across, ys[row], middle_x):
            _unite(parent, field_ - columns, field_)
        if column and not _separated(down, xs[column], middle_y):
            _unite(parent, field_ - 1, field_)
    return {divmod(i, columns): divmod(_root(parent, i), columns) for i in range(len(parent))}


def _unite(parent: list[int], one: int, two: int) -> None:
    """Put two sets together under the lower root."""
    low, high = sorted((_root(parent, one), _root(parent, two)))
    parent[high] = low


def _separated(found: Iterable[Rule], at: float, place: float) -> bool:
    return any(abs(rule.at - at) < 1 and rule.covers(place) for rule in found)


def _band(places: Sequence[float], value: float) -> int | None:
    if not places[0] <= value <= places[-1]:
        return None
    return max(sum(place <= value for place in places[:-1]) - 1, 0)
