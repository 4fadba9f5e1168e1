"""Fragments of text to lines. Pure geometry: no PDF library here.

Everything happens in *layout space*: points, x along the page's main reading direction, y towards
the next line. For upright text that is the page itself; a table printed sideways, or vertical
Chinese, is turned first and needs no rule of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from kb.model import Box

CELL: Final = " | "
WIDE_GAP: Final = 2.0
"""Beyond this gap, in line heights, two fragments of one line are cells, not words."""
CLOSE_GAP: Final = 0.8
"""The same where the line has a wider gap already: a row of cells."""

_WORD_GAP: Final = 0.15
_HAN_GAP: Final = 0.6
_SAME_LINE: Final = 0.5
_MOST_OVERLAP: Final = 0.55
_SAME_PLACE: Final = 0.7
_BAND: Final = 10.0

_WIDE_CHAR: Final = re.compile(
    r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]"
)
_RIGHT_TO_LEFT: Final = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")


@dataclass(frozen=True, slots=True)
class Fragment:
    """A run of text that one operator placed. `level`: it runs along the reading direction."""

    text: str
    box: Box
    level: bool = True

    @property
    def height(self) -> float:
        """Across the reading direction."""
        return self.box[3] - self.box[1]


@dataclass(slots=True)
class Line:
    """One line of a page, in layout space. `row` marks a row of the ruled table of that number."""

    text: str
    box: Box
    row: int = 0


@dataclass(slots=True)
class _Row:
    """Fragments that stand on one line."""

    parts: list[Fragment] = field(default_factory=list)

    def takes(self, new: Fragment) -> bool:
        """Whether `new` stands on this line too, beside every part of it."""
        if not (new.level and self.parts and self.parts[-1].level):
            return False
        return _share_line(self.parts[-1], new) and all(_beside(p, new) for p in self.parts)

    def line(self, divider: str) -> Line:
        """The parts by position, `divider` between those far apart."""
        parts = sorted(self.parts, key=lambda part: part.box[0])
        if _is_right_to_left("".join(part.text for part in parts)):
            parts.reverse()
        gaps = [_gap(*pair) for pair in pairwise(parts)]
        cell = CLOSE_GAP if max(gaps, default=0) > WIDE_GAP else WIDE_GAP
        text = parts[0].text
        for (before, after), gap in zip(pairwise(parts), gaps, strict=True):
            text += _separator(before.text, after.text, gap, cell, divider) + after.text
        return Line(text, union(part.box for part in parts))


def clean(text: str, box: Box, *, level: bool = True) -> Fragment | None:
    """A fragment without the white space around it, which is cut off the box in proportion."""
    bare = text.strip()
    if not bare:
        return None
    lead = len(text) - len(text.lstrip())
    unit = (box[2] - box[0]) / len(text) if level else 0.0
    end = box[2] - unit * (len(text) - lead - len(bare))
    return Fragment(bare, (box[0] + unit * lead, box[1], end, box[3]), level)


def join(fragments: Iterable[Fragment], divider: str = CELL) -> list[Line]:
    """Lines of `fragments`, in their order; what stands on one line is put together by x."""
    rows: list[_Row] = []
    for fragment in _without_copies(fragments):
        if not (rows and rows[-1].takes(fragment)):
            rows.append(_Row())
        rows[-1].parts.append(fragment)
    return [row.line(divider) for row in rows]


def join_cell(fragments: Iterable[Fragment]) -> list[Line]:
    """Lines of one cell: a place without columns, so position alone says the order."""
    return join(sorted(fragments, key=lambda part: part.box[1] + part.box[3]), " ")


def in_reading_order(lines: list[Line]) -> list[Line]:
    """`lines` as they came, unless the page was written from the bottom up."""
    ups = downs = 0
    for before, after in pairwise(lines):
        if _overlap(before.box[0], before.box[2], after.box[0], after.box[2]) > 0:
            ups += after.box[3] <= before.box[1] + 1
            downs += after.box[1] >= before.box[3] - 1
    if ups < 3 or ups < 3 * downs:  # noqa: PLR2004 - a header after the body is no bottom-up page
        return lines
    return sorted(lines, key=lambda line: (line.box[1], line.box[0]))


def flow(lines: Sequence[Line]) -> str:
    """Lines of one cell as running text: no space beside Han, one between words."""
    text = ""
    for line in lines:
        glue = "" if not text or is_wide(text[-1]) or is_wide(line.text[0]) else " "
        text += glue + line.text
    return text


def union(boxes: Iterable[Box]) -> Box:
    """The smallest box around `boxes`."""
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return min(x0), min(y0), max(x1), max(y1)


def is_wide(char: str) -> bool:
    """Whether `char` belongs to a script that is written without spaces."""
    return bool(_WIDE_CHAR.match(char))


def _without_copies(fragments: Iterable[Fragment]) -> list[Fragment]:
    """Each text once where it is drawn again in the same place, whole or in part (fake bold)."""
    kept: list[Fragment] = []
    bands: dict[int, list[int]] = {}
    for fragment in fragments:
        band = int((fragment.box[1] + fragment.box[3]) / 2 // _BAND)
        near = [i for b in (band - 1, band, band + 1) for i in bands.get(b, ())]
        twin = next((i for i in near if _is_copy(kept[i], fragment)), None)
        if twin is None:
            bands.setdefault(band, []).append(len(kept))
            kept.append(fragment)
        elif len(fragment.text) > len(kept[twin].text):
            kept[twin] = fragment
    return kept


def _is_copy(one: Fragment, two: Fragment) -> bool:
    if _covered(one.box, two.box) <= _SAME_PLACE:
        return False
    short, long = sorted(("".join(one.text.split()), "".join(two.text.split())), key=len)
    return short in long


def _covered(one: Box, two: Box) -> float:
    """The share of the smaller box that lies in the other."""
    width = _overlap(one[0], one[2], two[0], two[2])
    height = _overlap(one[1], one[3], two[1], two[3])
    smaller = min((box[2] - box[0]) * (box[3] - box[1]) for box in (one, two))
    return max(width, 0) * max(height, 0) / max(smaller, 1e-6)


def _share_line(one: Fragment, two: Fragment) -> bool:
    shared = _overlap(one.box[1], one.box[3], two.box[1], two.box[3])
    return shared > _SAME_LINE * min(one.height, two.height)


def _beside(one: Fragment, two: Fragment) -> bool:
    shared = _overlap(one.box[0], one.box[2], two.box[0], two.box[2])
    width = min(one.box[2] - one.box[0], two.box[2] - two.box[0])
    return shared <= _MOST_OVERLAP * width


def _gap(before: Fragment, after: Fragment) -> float:
    """The space between neighbours in either direction, in line heights."""
    space = max(after.box[0] - before.box[2], before.box[0] - after.box[2])
    return space / max(min(before.height, after.height), 1.0)


def _separator(before: str, after: str, gap: float, cell: float, divider: str) -> str:
    """What stands between two texts; beyond a gap of `cell` it is the `divider`."""
    wide = is_wide(before[-1]) or is_wide(after[0])
    spaced_title = wide and len(before) == len(after) == 1
    if gap > cell and not spaced_title:
        return divider
    return " " if gap > (_HAN_GAP if wide else _WORD_GAP) else ""


def _is_right_to_left(text: str) -> bool:
    return 2 * len(_RIGHT_TO_LEFT.findall(text)) > len(text)


def _overlap(a0: float, a1: float, b0: float, b1: float) -> float:
    return min(a1, b1) - max(a0, b0)
