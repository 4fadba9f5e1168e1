"""Runs of an OFD page to lines. Pure geometry.

Text codes come in any order, often the labels of a form in the template and its values on the page,
so position alone decides: what stands on one height is one line, columns of prose are read one
after another, and ruled tables row by row. As in `pdf_lines`, all of it happens in points in
*layout space*, x along the direction that most text of the page runs in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from kb.model import Box
from kb.parsers.layout import tables
from kb.parsers.layout.columns import Row, in_order, table_row, text_row
from kb.parsers.layout.lines import Fragment, Line, clean, union
from kb.parsers.ofd.geometry import POINTS, Point
from kb.parsers.ofd.tables import fill, find, table_lines
from kb.parsers.ofd.text_object import Run

_LEVEL: Final = 0.95
_SAME_ROW: Final = 0.5
_MIN_BROKEN: Final = 8
_FULL: Final = 1.5
"""Line heights: the least width of a text that was broken, and how near its lines come to its edge.
"""

Turn = Callable[[Box], Box]


def lay_out(runs: Sequence[Run], strokes: Sequence[Box]) -> list[Line]:
    """Lines in reading order, their boxes in points on the page as it is seen."""
    direction = _direction(runs)
    turn, back = _turns(direction)
    placed = [(run, part) for run in runs if (part := _fragment(run, turn, direction))]
    tables = find(*_rules(strokes, turn))
    loose = fill(tables, [part for _, part in placed])
    there = set(loose)
    tails = _tails((run.follows, part) for run, part in placed if part in there)
    blocks = [table_lines(table, number) for number, table in enumerate(tables, 1)]
    ordered = in_order([*_rows(loose, tails), *map(table_row, filter(None, blocks))])
    return [Line(line.text, back(line.box), line.row) for line in ordered]


def _tails(
    parts: Iterable[tuple[bool, Fragment]],
) -> dict[Fragment, list[Fragment]]:
    """What goes on below a fragment: the further lines of a text that was broken at its edge.

    They stay with it, whatever else stands on their heights.
    """
    groups: list[list[Fragment]] = []
    for follows, part in parts:
        if follows and groups and groups[-1][-1].box[3] <= part.box[3]:
            groups[-1].append(part)
        else:
            groups.append([part])
    return {group[0]: group[1:] for group in groups if _is_broken(group)}


def _is_broken(group: Sequence[Fragment]) -> bool:
    if len(group) == 1:
        return False
    right = max(part.box[2] for part in group)
    wide = right - min(part.box[0] for part in group) >= _MIN_BROKEN * group[0].height
    return wide and all(right - part.box[2] <= _FULL * part.height for part in group[:-1])


def _rows(
    fragments: Sequence[Fragment], tails: Mapping[Fragment, Sequence[Fragment]]
) -> Iterator[Row]:
    """What stands on one height."""
    later = {part for tail in tails.values() for part in tail}
    open_row: list[Fragment] = []
    own = [part for part in fragments if part not in later]
    for fragment in sorted(own, key=lambda part: (part.box[1] + part.box[3], part.box[0])):
        if open_row and not _on_row(open_row[0], fragment):
            yield text_row(open_row, tails)
            open_row = []
        open_row.append(fragment)
    if open_row:
        yield text_row(open_row, tails)


def _on_row(one: Fragment, two: Fragment) -> bool:
    shared = min(one.box[3], two.box[3]) - max(one.box[1], two.box[1])
    return one.level and two.level and shared > _SAME_ROW * min(one.height, two.height)


def _direction(runs: Sequence[Run]) -> Point:
    """The direction, in steps of 90°, that most characters run in; a stack of a few is a label."""
    counts: Counter[Point] = Counter()
    for run in runs:
        x, y = run.step
        step = (float(round(x)), 0.0) if abs(x) >= abs(y) else (0.0, float(round(y)))
        counts[step] += len(run.glyphs)
    return counts.most_common(1)[0][0] if counts else (1.0, 0.0)


def _turns(direction: Point) -> tuple[Turn, Turn]:
    """From millimetres on the page to points in layout space; from there to points on the page."""
    dx, dy = direction

    def turn(box: Box) -> Box:
        ends = [(dx * x + dy * y, dx * y - dy * x) for x, y in (box[:2], box[2:])]
        return _scaled(ends, POINTS)

    def back(box: Box) -> Box:
        ends = [(dx * u - dy * v, dy * u + dx * v) for u, v in (box[:2], box[2:])]
        x0, y0, x1, y1 = _scaled(ends, 1.0)
        return round(x0, 1), round(y0, 1), round(x1, 1), round(y1, 1)

    return turn, back


def _scaled(ends: Sequence[Point], factor: float) -> Box:
    (x0, y0), (x1, y1) = ends
    return min(x0, x1) * factor, min(y0, y1) * factor, max(x0, x1) * factor, max(y0, y1) * factor


def _fragment(run: Run, turn: Turn, direction: Point) -> Fragment | None:
    level = run.step[0] * direction[0] + run.step[1] * direction[1] >= _LEVEL
    return clean(run.text, turn(union(glyph.box for glyph in run.glyphs)), level=level)


def _rules(strokes: Sequence[Box], turn: Turn) -> tuple[list[tables.Rule], list[tables.Rule]]:
    across: list[tables.Rule] = []
    down: list[tables.Rule] = []
    for box in strokes:
        level, upright = tables.rules(turn(box), outlined=False)
        across += level
        down += upright
    return across, down
