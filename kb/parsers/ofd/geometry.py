"""Numbers of an OFD page: matrices, boxes, deltas, paths. Pure; every list has a bound.

Lengths are millimetres, y points down. A matrix (a, b, c, d, e, f) maps (x, y) to
(ax + cy + e, bx + dy + f), as in GB/T 33190.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from kb.model import Box

Matrix = tuple[float, float, float, float, float, float]
Point = tuple[float, float]

IDENTITY: Final[Matrix] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
POINTS: Final = 72 / 25.4
"""Points in a millimetre."""

_FARTHEST: Final = 1e7
_MOST_STEPS: Final = 20_000
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_WORD: Final = re.compile(r"\S+")
_TOKEN: Final = re.compile(rf"[A-Za-z]|{_NUMBER.pattern}")
_ENDS: Final = {"S": 2, "M": 2, "L": 2, "Q": 4, "B": 6, "A": 7}
"""Path commands by how many numbers follow; the last two are where the pen ends."""


def numbers(text: str | None, count: int) -> tuple[float, ...] | None:
    """The first `count` numbers of an attribute, None when there are fewer."""
    found = [match.group() for match in islice(_NUMBER.finditer(text or ""), count)]
    values = tuple(float(item) for item in found)
    complete = len(values) == count and all(abs(value) < _FARTHEST for value in values)
    return values if complete else None


def number(text: str | None, default: float) -> float:
    """One number of an attribute, or `default`."""
    values = numbers(text, 1)
    return values[0] if values else default


def rectangle(text: str | None) -> Box | None:
    """An attribute `x y width height` as (x0, y0, x1, y1), None when it is not one."""
    values = numbers(text, 4)
    if values is None:
        return None
    x, y, width, height = values
    return x, y, x + width, y + height


def placed(boundary: str | None, matrix: str | None) -> Matrix:
    """From an object's own space to its parent's: its CTM, then to its Boundary's corner."""
    x, y = numbers(boundary, 2) or (0.0, 0.0)
    a, b, c, d, e, f = numbers(matrix, 6) or IDENTITY
    return a, b, c, d, e + x, f + y


def compose(outer: Matrix, inner: Matrix) -> Matrix:
    """The matrix that applies `inner` first, then `outer`."""
    a, b, c, d, e, f = inner
    (x0, y0), (x1, y1), (x2, y2) = (direct(outer, p) for p in ((a, b), (c, d), (e, f)))
    return x0, y0, x1, y1, x2 + outer[4], y2 + outer[5]


def apply(matrix: Matrix, point: Point) -> Point:
    """Where a point goes."""
    x, y = direct(matrix, point)
    return x + matrix[4], y + matrix[5]


def direct(matrix: Matrix, point: Point) -> Point:
    """Where a direction goes: `matrix` without its shift."""
    a, b, c, d, _e, _f = matrix
    return a * point[0] + c * point[1], b * point[0] + d * point[1]


def around(points: Sequence[Point]) -> Box:
    """The smallest box around `points`."""
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def corners(box: Box) -> list[Point]:
    """The four corners of a box."""
    x0, y0, x1, y1 = box
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


def deltas(text: str | None, count: int) -> list[float]:
    """The first `count` steps of a DeltaX or DeltaY, `g n d` spelled out.

    `n` may be any number: nothing longer than `count` is ever made. A list that ends early goes on
    with its last value, as readers of the format do; without one the result is empty.
    """
    values: list[float] = []
    tokens = (match.group() for match in _WORD.finditer(text or ""))
    for token in tokens:
        repeat = min(int(number(next(tokens, ""), 0)), count) if token == "g" else 1  # noqa: S105
        step = numbers(next(tokens, "") if token == "g" else token, 1)  # noqa: S105
        values += list(step or ()) * max(repeat, 0)
        if len(values) >= count:
            break
    return [*values, *values[-1:] * count][:count]


def strokes(data: str | None) -> Iterator[list[Point]]:
    """The straight pieces of a path: each a list of points that the pen passes in turn."""
    piece: list[Point] = []
    for command, points in commands(data):
        if command == "L":
            piece += points
            continue
        if command == "C":
            piece += piece[:1]
        if len(piece) > 1:
            yield piece
        piece = points[-1:]
    if len(piece) > 1:
        yield piece


def commands(data: str | None) -> Iterator[tuple[str, list[Point]]]:
    """Each command of a path with its points, the last of them where the pen is after it.

    M and S move, L is a line, Q and B are curves, A an arc (its end alone), C closes. What is not
    understood is passed over.
    """
    tokens = [match.group() for match in islice(_TOKEN.finditer(data or ""), _MOST_STEPS)]
    at = 0
    while at < len(tokens):
        command = tokens[at].upper()
        size = _ENDS.get(command, 0)
        values = numbers(" ".join(tokens[at + 1 : at + 1 + size]), size)
        at += 1 + size if values else 1
        if command == "A" and values:
            values = values[-2:]
        if values or command == "C":
            pairs = values or ()
            yield command, list(zip(pairs[::2], pairs[1::2], strict=True))
