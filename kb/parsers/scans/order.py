"""What OCR saw on a page to lines in reading order. Pure geometry, in pixels.

The page is straightened by its own slope first. Columns of running text are read one after the
other; where the pieces do not fill their columns they are cells, and rows are read across.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median
from typing import Final

from kb.model import Box
from kb.parsers.layout.lines import Fragment, Line, join

_TALL: Final = 1.5
_STEEPEST: Final = math.tan(math.radians(15))
_FEW: Final = 5
"""Lines that a column of running text has at least, on each side of its gutter."""
_FILLED: Final = 0.7
"""Half of a text column's lines are at least this long, as a share of its width."""
_WIDEST_GUTTER: Final = 0.25
"""As a share of the narrower column."""
_MOST_ACROSS: Final = 0.3
"""Lines over a gutter (titles, figures), as a share of those beside it."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A piece of text: its corners from the top left of the text, clockwise; `score` 0 to 1."""

    text: str
    corners: tuple[tuple[float, float], ...]
    score: float

    @property
    def box(self) -> Box:
        """The upright rectangle around it."""
        xs, ys = zip(*self.corners, strict=True)
        return min(xs), min(ys), max(xs), max(ys)

    @property
    def is_tall(self) -> bool:
        """Whether it runs downwards; one character has no direction."""
        x0, y0, x1, y1 = self.box
        return len(self.text) > 1 and y1 - y0 > _TALL * (x1 - x0)


def in_order(seen: Sequence[Seen]) -> list[Line]:
    """The lines of a page as it is read, what stands on one line put together."""
    slope = _slope(seen)
    fragments = [_straight(one, slope) for one in seen]
    lines = [line for group in _groups(fragments) for line in join(_by_rows(group))]
    return [Line(line.text, _leaning(line.box, slope)) for line in lines]


def _slope(seen: Sequence[Seen]) -> float:
    """How far the page's lines fall, in pixels a pixel: by the longer half of them."""
    tops = [(one.corners[0], one.corners[1]) for one in seen if not one.is_tall]
    runs = sorted((b[0] - a[0], b[1] - a[1]) for a, b in tops)
    slopes = [rise / run for run, rise in runs[len(runs) // 2 :] if run > 0]
    slope = median(slopes) if slopes else 0.0
    return slope if abs(slope) <= _STEEPEST else 0.0


def _straight(one: Seen, slope: float) -> Fragment:
    """The piece on the straightened page, as high as its text."""
    x0, y0, x1, y1 = one.box
    lean = 0.0 if one.is_tall else abs(slope) * (x1 - x0)
    middle = (y0 + y1) / 2 - slope * (x0 + x1) / 2
    half = max(y1 - y0 - lean, (y1 - y0) / 4) / 2
    return Fragment(one.text, (x0, middle - half, x1, middle + half))


def _leaning(box: Box, slope: float) -> Box:
    """A box of the straightened page where it is on the page itself."""
    x0, y0, x1, y1 = box
    ends = slope * x0, slope * x1
    return x0, y0 + min(ends), x1, y1 + max(ends)


def _by_rows(fragments: Sequence[Fragment]) -> list[Fragment]:
    """Row by row, from left to right: a row is what overlaps the first of it by half."""
    left = sorted(fragments, key=_middle)
    rows: list[list[Fragment]] = []
    for fragment in left:
        if rows and _shares_row(rows[-1][0], fragment):
            rows[-1].append(fragment)
        else:
            rows.append([fragment])
    return [one for row in rows for one in sorted(row, key=lambda part: part.box[0])]


def _middle(fragment: Fragment) -> float:
    return fragment.box[1] + fragment.box[3]


def _shares_row(one: Fragment, two: Fragment) -> bool:
    shared = min(one.box[3], two.box[3]) - max(one.box[1], two.box[1])
    return shared > min(one.height, two.height) / 2


# -- columns -------------------------------------------------------------------------------


def _groups(fragments: Sequence[Fragment]) -> list[list[Fragment]]:
    """The page in parts that are read one after the other."""
    gutter = _gutter(fragments)
    if gutter is None:
        return [list(fragments)]
    result: list[list[Fragment]] = []
    ordered = sorted(fragments, key=_middle)
    for across, band in groupby(ordered, key=lambda one: _side(one, gutter) == 0):
        parts = list(band)
        if across:
            result.append(parts)
            continue
        for side in (-1, 1):
            column = [one for one in parts if _side(one, gutter) == side]
            result += _groups(column) if column else []
    return result


def _side(fragment: Fragment, gutter: float) -> int:
    """-1 left of the gutter, 1 right of it, 0 across."""
    if fragment.box[2] <= gutter:
        return -1
    return 1 if fragment.box[0] >= gutter else 0


def _gutter(fragments: Sequence[Fragment]) -> float | None:
    """The place between two columns of running text that the fewest lines cross, if there is one.

    Right ends of lines are where a gutter may begin.
    """
    best: tuple[int, float] | None = None
    for place in sorted({fragment.box[2] for fragment in fragments}):
        sides = [_side(fragment, place) for fragment in fragments]
        across = sides.count(0)
        if across > _MOST_ACROSS * (len(sides) - across):
            continue
        left = [f for f, side in zip(fragments, sides, strict=True) if side < 0]
        right = [f for f, side in zip(fragments, sides, strict=True) if side > 0]
        if (best is None or across < best[0]) and _are_columns(left, right):
            best = across, place
    return best[1] if best else None


def _are_columns(left: Sequence[Fragment], right: Sequence[Fragment]) -> bool:
    """Two columns of running text near each other: cells keep more of a distance."""
    if not (_is_running_text(left) and _is_running_text(right)):
        return False
    (a0, a1), (b0, b1) = _extent(left), _extent(right)
    return b0 - a1 <= _WIDEST_GUTTER * min(a1 - a0, b1 - b0)


def _extent(column: Sequence[Fragment]) -> tuple[float, float]:
    return min(f.box[0] for f in column), max(f.box[2] for f in column)


def _is_running_text(column: Sequence[Fragment]) -> bool:
    """Several lines below one another, most of them as wide as the column."""
    if len(column) < _FEW:
        return False
    start, end = _extent(column)
    breaks = sum(not _shares_row(*pair) for pair in pairwise(sorted(column, key=_middle)))
    filled = median(f.box[2] - f.box[0] for f in column) >= _FILLED * (end - start)
    return filled and breaks >= _FEW - 1
