"""A text object of OFD to runs of characters that follow one another closely, with their places."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from kb.model import Box
from kb.parsers.ofd.geometry import Matrix, Point, apply, around, corners, deltas, direct, number
from kb.parsers.xml.nodes import local

_ASCENT: Final = 0.88
DESCENT: Final = 0.12
"""Of the type size, above and below the base line: good for nearly all fonts in use."""
_SIZE: Final = 3.5
"""Millimetres, where a text object forgets to say (五号, 10.5 pt, is 3.7)."""
_LONGEST: Final = 100_000

# Steps between characters, in type sizes.
_ON_LINE: Final = 0.5
_BACK: Final = -0.3
_FAR: Final = 1.5
_FAR_DOWN: Final = 4.0
_WORD: Final = 1.0
"""Half a letter more than a letter is wide: there was a space that nobody wrote."""
_SPREAD: Final = 8
"""A few Han characters alone may be spread over any width: 名 …… 称."""
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f]")


class Glyph(NamedTuple):
    """One character and its upright box on the page, in millimetres."""

    text: str
    box: Box


class Run(NamedTuple):
    """Characters in a row. `step` is the direction on the page, length 1, that they go in.

    `font` is the id of their font. `follows`: the same code had characters before them, elsewhere.
    """

    glyphs: list[Glyph]
    step: Point
    font: str = ""
    follows: bool = False

    @property
    def text(self) -> str:
        """All characters, in order."""
        return "".join(glyph.text for glyph in self.glyphs)


def runs(element: Any, matrix: Matrix) -> Iterator[Run]:
    """The runs of a text object; a code without X or Y stands where the one before it did."""
    x = y = 0.0
    for code in element:
        if local(code) == "TextCode":
            x, y = number(code.get("X"), x), number(code.get("Y"), y)
            yield from _Code(element, code, (x, y)).runs(matrix)


def nameless(element: Any) -> int:
    """How many glyphs of a text object have no character: what they say is not in the file."""
    there = sum(len(_text(code)) for code in element if local(code) == "TextCode")
    ends = [
        int(number(item.get("CodePosition"), 0))
        + min(int(number(item.get("CodeCount"), 1)), len("".join(item.itertext()).split()))
        for item in element
        if local(item) == "CGTransform" and item.get("CodeCount") == item.get("GlyphCount")
    ]
    return max(min(max(ends, default=0), _LONGEST) - there, 0)


class _Code:
    """One text code. Places are base lines in the space of its object."""

    def __init__(self, element: Any, code: Any, start: Point) -> None:
        self._size = abs(number(element.get("Size"), _SIZE)) or _SIZE
        self._stretch = abs(number(element.get("HScale"), 1.0)) or 1.0
        self._down = element.get("ReadDirection") in {"90", "270"}
        self._font = element.get("Font", "")
        self._text = _text(code)
        self._steps = self._read_steps(code, _slots(element, len(self._text)))
        self._places = [start]
        for dx, dy in self._steps:
            x, y = self._places[-1]
            self._places.append((x + dx, y + dy))

    def runs(self, matrix: Matrix) -> Iterator[Run]:
        """The code's characters, parted where they start a new line or column."""
        start = 0
        for end in range(1, len(self._text) + 1):
            if end < len(self._text) and self._goes_on(start, end):
                continue
            glyphs = [self._glyph(i, matrix) for i in range(start, end)]
            spaced = [*map(self._spaced, range(start, end - 1), glyphs), glyphs[-1]]
            step = _unit(direct(matrix, self._axis(start, end)))
            yield Run(spaced, step, self._font, follows=start > 0)
            start = end

    def _read_steps(self, code: Any, slots: Sequence[int]) -> list[Point]:
        """From each character to the next. Deltas count glyphs, which are not always characters.

        A list of one axis alone leaves the other still; no list at all goes by the widths.
        """
        count = slots[-1] if slots else 0
        across, down = (deltas(code.get(name), count) for name in ("DeltaX", "DeltaY"))
        if not across and not down:
            return [self._natural(i) for i in range(len(slots) - 1)]
        return [(sum(across[one:two]), sum(down[one:two])) for one, two in pairwise(slots)]

    def _natural(self, i: int) -> Point:
        return (0.0, self._size) if self._down else (self._width(i), 0.0)

    def _width(self, i: int) -> float:
        wide = unicodedata.east_asian_width(self._text[i]) in "WF"
        return self._size * self._stretch * (1.0 if wide else 0.5)

    def _drawn_width(self, i: int) -> float:
        """What its step says, but not wider than its kind is; a stack's step says nothing."""
        step = self._steps[i][0] if i < len(self._steps) else 0.0
        return step if 0 < step < 1.25 * self._width(i) else self._width(i)

    def _goes_on(self, start: int, end: int) -> bool:
        """Whether character `end` belongs to the run that began at `start`."""
        if end > start + 1 and self._stacked(end - 1) != self._stacked(start):
            return False
        dx, dy = (step / self._size for step in self._steps[end - 1])
        if self._stacked(end - 1):
            return dy <= _FAR_DOWN
        gap = dx - self._drawn_width(end - 1) / self._size
        return abs(dy) < _ON_LINE and dx > _BACK and (gap < _FAR or self._is_spread())

    def _stacked(self, i: int) -> bool:
        """Whether the character after `i` stands below it."""
        dx, dy = self._steps[i] if i < len(self._steps) else (1.0, 0.0)
        return abs(dx) < _ON_LINE * self._size and dy >= _ON_LINE * self._size

    def _is_spread(self) -> bool:
        wide = all(unicodedata.east_asian_width(char) in "WF" for char in self._text)
        return wide and len(self._text) <= _SPREAD

    def _axis(self, start: int, end: int) -> Point:
        stacked = self._stacked(start) if end > start + 1 else self._down
        return (0.0, 1.0) if stacked else (1.0, 0.0)

    def _spaced(self, i: int, glyph: Glyph) -> Glyph:
        """With the space that only the step to the next character shows."""
        gap = self._steps[i][0] - self._width(i)
        letters = self._text[i : i + 2].isascii() and " " not in self._text[i : i + 2]
        return (
            glyph._replace(text=glyph.text + " ") if letters and gap > _WORD * self._size else glyph
        )

    def _glyph(self, i: int, matrix: Matrix) -> Glyph:
        x, y = self._places[i]
        width, size = self._drawn_width(i), self._size
        box = (x, y - _ASCENT * size, x + width, y + DESCENT * size)
        return Glyph(self._text[i], around([apply(matrix, corner) for corner in corners(box)]))


def _text(code: Any) -> str:
    """The characters of a code; line ends around it are the writer's indentation."""
    text = "".join(code.itertext()).strip("\r\n\t")[:_LONGEST]
    return _CONTROLS.sub("\ufffd", text.replace("\t", " ").replace("\n", " ").replace("\r", ""))


def _slots(element: Any, count: int) -> list[int]:
    """The glyph of each character, by CGTransform: several characters may share one and so on.

    Only its counts matter here, each bounded by the characters that there are.
    """
    slots = list(range(count))
    for item in element:
        codes, glyphs = (int(number(item.get(key), 1)) for key in ("CodeCount", "GlyphCount"))
        at = int(number(item.get("CodePosition"), 0))
        if local(item) != "CGTransform" or codes == glyphs or not 0 <= at < count:
            continue
        codes, glyphs = min(max(codes, 1), count - at), min(max(glyphs, 1), count + 1)
        first, after = slots[at], slots[at] + glyphs
        slots[at : at + codes] = [first + min(i, glyphs - 1) for i in range(codes)]
        slots[at + codes :] = range(after, after + count - at - codes)
    return slots


def _unit(step: Point) -> Point:
    length = math.hypot(*step)
    return (step[0] / length, step[1] / length) if length else (1.0, 0.0)
