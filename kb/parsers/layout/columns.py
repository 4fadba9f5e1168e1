"""Reading order of what stands on a page: columns of prose one after another. Pure geometry.

Two texts on one height are read together unless they belong to columns of prose: each at least
three lines, wide enough for a sentence, most lines filled. Cells of a table or form are neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from statistics import median
from typing import Final

from kb.model import Box
from kb.parsers.layout.lines import Fragment, Line, join, union

_PIECE_GAP: Final = 1.0
"""Line heights between two columns at the least."""
_MIN_LINES: Final = 3
_MIN_CHARS: Final = 6
_MIN_WIDTH: Final = 10
"""Of a column: lines, characters a line, width in line heights."""
_FULL: Final = 0.85
_SAME_EDGE: Final = 2.0
_MOST_EDGES: Final = 8
_DEEPEST: Final = 4


@dataclass(frozen=True, slots=True)
class Piece:
    """Fragments of one row that stand close together; `tail` are the lines that go on below."""

    parts: Sequence[Fragment]
    box: Box
    tail: Sequence[Fragment] = ()

    @property
    def length(self) -> int:
        """Characters."""
        return sum(len(part.text) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Row:
    """Pieces on one height, or the `lines` of a table, which stay together."""

    pieces: Sequence[Piece]
    lines: Sequence[Line] = field(default=())

    @property
    def top(self) -> float:
        """Where it begins."""
        return min(piece.box[1] for piece in self.pieces)

    def read(self) -> Sequence[Line]:
        """Its lines."""
        if self.lines:
            return self.lines
        tails = [part for piece in self.pieces for part in piece.tail]
        return [*join([part for piece in self.pieces for part in piece.parts]), *join(tails)]


def text_row(fragments: Sequence[Fragment], tails: Mapping[Fragment, Sequence[Fragment]]) -> Row:
    """A row of `fragments`, which stand on one height; `tails` go on below some of them."""
    groups: list[list[Fragment]] = []
    for part in sorted(fragments, key=lambda one: one.box[0]):
        edge = max((other.box[2] for other in groups[-1]), default=0.0) if groups else 0.0
        if groups and part.box[0] - edge <= _PIECE_GAP * part.height:
            groups[-1].append(part)
        else:
            groups.append([part])
    return Row(
        [
            Piece(
                group,
                union(part.box for part in group),
                [after for part in group for after in tails.get(part, ())],
            )
            for group in groups
        ]
    )


def table_row(lines: Sequence[Line]) -> Row:
    """The lines of a table as one row."""
    return Row([Piece((), union(line.box for line in lines))], lines)


def in_order(rows: Sequence[Row], depth: int = 0) -> list[Line]:
    """The lines of `rows`, column by column where there are columns."""
    rows = sorted(rows, key=lambda row: row.top)
    bands = _bands(rows, depth) if depth < _DEEPEST else []
    if not bands:
        return [line for row in rows for line in row.read()]
    return [line for band in bands for side in band for line in in_order(side, depth + 1)]


def _bands(rows: Sequence[Row], depth: int) -> list[list[list[Row]]]:
    """`rows` cut at the best gutter: bands of one side (whole rows) or two; empty without one."""
    for edge in _edges(rows):
        runs = groupby(rows, key=partial(_crosses, edge=edge))
        bands = [_band(list(run), edge, depth) for _, run in runs]
        if any(len(band) > 1 for band in bands):
            return bands
    return []


def _edges(rows: Sequence[Row]) -> Iterator[float]:
    """Where columns may begin: left edges that several pieces share, the most common first."""
    lefts = [piece.box[0] for row in rows for piece in row.pieces[1:] or row.pieces]
    if not lefts:
        return
    counts = Counter(round(left / _SAME_EDGE) for left in lefts)
    for edge, count in counts.most_common(_MOST_EDGES):
        if count >= _MIN_LINES:
            yield (edge - 1) * _SAME_EDGE


def _crosses(row: Row, edge: float) -> bool:
    """Whether a piece reaches over the gutter before `edge`, or the row is a table."""
    return bool(row.lines) or any(
        p.box[0] < edge < p.box[2] + _PIECE_GAP * (p.box[3] - p.box[1]) for p in row.pieces
    )


def _band(rows: list[Row], edge: float, depth: int) -> list[list[Row]]:
    """The two columns of `rows`, or all of them as one."""
    if _crosses(rows[0], edge):
        return [rows]
    left, right = (
        [Row(own) for row in rows if (own := [p for p in row.pieces if (p.box[0] < edge) == side])]
        for side in (True, False)
    )
    if _is_column(left, depth) and _is_column(right, depth):
        return [left, right]
    return [rows]


def _is_column(rows: Sequence[Row], depth: int) -> bool:
    pieces = [piece for row in rows for piece in row.pieces]
    if len(rows) < _MIN_LINES:
        return False
    x0, _, x1, _ = union(piece.box for piece in pieces)
    height = median(piece.box[3] - piece.box[1] for piece in pieces)
    if x1 - x0 < _MIN_WIDTH * height or median(p.length for p in pieces) < _MIN_CHARS:
        return False
    full = sum(piece.box[2] - piece.box[0] >= _FULL * (x1 - x0) for piece in pieces)
    return 2 * full >= len(pieces) or (depth < _DEEPEST and bool(_bands(rows, depth + 1)))
