"""One PDF page to lines: MuPDF's structured text, in stream order.

Line order is the file's own: `sort=True` would mix the columns of a page. Tables are read from the
page's rules (`layout.tables`), which arrive with the text in one pass; `find_tables` needs more
passes and several times as long.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from kb.model import Box
from kb.parsers.layout import tables as ruled
from kb.parsers.layout.lines import Fragment, Line, clean, in_reading_order, join, union
from kb.parsers.layout.mupdf import UNMAPPED, mupdf
from kb.parsers.layout.tables import Rule, Table

_VECTORS: Final = 3
_TEXT: Final = 0
_LEVEL: Final = 0.95
"""Cosine: text this near to the reading direction is level."""
_CONTROLS: Final = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f]")
_FLOWS_ON: Final = 0.35
"""A word space, in heights: text this near runs on, whatever rule is between. Two cells are further
apart by their padding; in the corpus every nearer pair that a rule parts is running text."""

Point = tuple[float, float]
Turn = Callable[[Box], Box]
_Place = tuple[int, "ruled.Cell | None"]
"""Number of a table (from 1) and a cell in it, or (0, None)."""


class _Char(NamedTuple):
    """One character in layout space."""

    text: str
    box: Box
    level: bool


class PageLines(NamedTuple):
    """A page's lines in layout space, the way from there to the page as it is seen, its tables.

    A line's `row` counts the tables from 1.
    """

    lines: list[Line]
    seen: Turn
    tables: list[Table]


def read_lines(page: Any) -> PageLines:
    """The lines of one of MuPDF's pages, in reading order."""
    textpage, blocks = _read(page)
    direction = _direction(blocks)
    turn, back = _turns(direction, tuple(page.rotation_matrix))
    tables = ruled.find(*_rules(blocks, turn))
    if tables:
        blocks = textpage.extractRAWDICT()["blocks"]
        lines = _with_tables(_pieces(blocks, turn, direction), tables)
    else:
        lines = join(filter(None, _fragments(blocks, turn, direction)))
    return PageLines(in_reading_order(lines), back, tables)


def _read(page: Any) -> tuple[Any, list[dict[str, Any]]]:
    """MuPDF's text page and its blocks, from the glyphs that are seen.

    An author's ActualText may be empty over plain visible text (whole address blocks go missing),
    so it is asked only where the glyphs have no characters of their own.
    """
    # Ligatures are spelled out and unknown glyphs become U+FFFD (not their numbers): what is
    # searched must be letters. Text off the page is not text a reader can see.
    pymupdf = mupdf()
    flags = (
        pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP | pymupdf.TEXT_COLLECT_VECTORS
    )
    seen = page.get_textpage(flags=flags | pymupdf.TEXT_IGNORE_ACTUALTEXT)
    blocks = seen.extractDICT()["blocks"]
    unmapped = _unmapped(blocks)
    if unmapped:
        told = page.get_textpage(flags=flags)
        told_blocks = told.extractDICT()["blocks"]
        if _unmapped(told_blocks) < unmapped:
            return told, told_blocks
    return seen, blocks


def _unmapped(blocks: list[dict[str, Any]]) -> int:
    """Characters that stand for no letter."""
    spans = (span for line in _text_lines(blocks) for span in line["spans"])
    return sum(len(UNMAPPED.findall(visible(span["text"]))) for span in spans)


def _direction(blocks: list[dict[str, Any]]) -> Point:
    """The direction, in steps of 90°, that most characters of a page run in."""
    counts: Counter[Point] = Counter()
    for line in _text_lines(blocks):
        x, y = line["dir"]
        step = (round(x), 0.0) if abs(x) >= abs(y) else (0.0, round(y))
        counts[step] += sum(len(span["text"]) for span in line["spans"])
    return counts.most_common(1)[0][0] if counts else (1.0, 0.0)


def _turns(direction: Point, rotation: tuple[float, ...]) -> tuple[Turn, Turn]:
    """From MuPDF's space, which ignores /Rotate, to layout space; from there to the seen page."""
    dx, dy = direction
    a, b, c, d, e, f = rotation

    def turn(box: Box) -> Box:
        x0, y0, x1, y1 = box
        start, end = ((dx * x + dy * y, dx * y - dy * x) for x, y in ((x0, y0), (x1, y1)))
        return _around(start, end)

    def back(box: Box) -> Box:
        corners = []
        for u, v in ((box[0], box[1]), (box[2], box[3])):
            x, y = dx * u - dy * v, dy * u + dx * v
            corners.append((a * x + c * y + e, b * x + d * y + f))
        x0, y0, x1, y1 = _around(corners[0], corners[1])
        return round(x0, 1), round(y0, 1), round(x1, 1), round(y1, 1)

    return turn, back


def _around(one: Point, two: Point) -> Box:
    return min(one[0], two[0]), min(one[1], two[1]), max(one[0], two[0]), max(one[1], two[1])


def _rules(blocks: list[dict[str, Any]], turn: Turn) -> tuple[list[Rule], list[Rule]]:
    across: list[Rule] = []
    down: list[Rule] = []
    for block in blocks:
        if block["type"] == _VECTORS:
            outlined = block["stroked"] and block["isrect"]
            level, upright = ruled.rules(turn(block["bbox"]), outlined=outlined)
            across += level
            down += upright
    return across, down


def _text_lines(blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for block in blocks:
        if block["type"] == _TEXT:
            yield from block["lines"]


def _fragments(
    blocks: list[dict[str, Any]], turn: Turn, direction: Point
) -> Iterator[Fragment | None]:
    for line in _text_lines(blocks):
        text = "".join(span["text"] for span in line["spans"])
        yield clean(visible(text), turn(line["bbox"]), level=_is_level(line, direction))


def _pieces(blocks: list[dict[str, Any]], turn: Turn, direction: Point) -> Iterator[list[_Char]]:
    """The characters of every line, with box and level."""
    for line in _text_lines(blocks):
        level = _is_level(line, direction)
        chars = (char for span in line["spans"] for char in span["chars"])
        yield [_Char(visible(char["c"]), turn(char["bbox"]), level) for char in chars]


def _with_tables(pieces: Iterator[list[_Char]], tables: list[Table]) -> list[Line]:
    """Lines in stream order; a whole table stands where its first character came."""
    result: list[Line] = []
    loose: list[Fragment] = []
    placed: dict[int, int] = {}
    for chars in pieces:
        for fragment, number, cell in _runs(chars, tables):
            if number and cell:
                if number not in placed:
                    result += join(loose)
                    loose = []
                    placed[number] = len(result)
                tables[number - 1].content.setdefault(cell, []).append(fragment)
            else:
                loose.append(fragment)
    result += join(loose)
    for number, at in sorted(placed.items(), key=lambda item: -item[1]):
        result[at:at] = tables[number - 1].lines(number)
    return result


def _runs(
    chars: list[_Char], tables: list[Table]
) -> Iterator[tuple[Fragment, int, ruled.Cell | None]]:
    """Stretches of a line that lie in one cell, or in none."""
    start = 0
    places = _places(chars, tables)
    for end in range(1, len(chars) + 1):
        if end < len(chars) and places[end] == places[start]:
            continue
        run = chars[start:end]
        text = "".join(char.text for char in run)
        fragment = clean(text, union(char.box for char in run), level=run[0].level)
        if fragment:
            yield fragment, *places[start]
        start = end


def _places(chars: list[_Char], tables: list[Table]) -> list[_Place]:
    """The cell of every character.

    Text that runs on over a rule without more than a word space stays in its cell: it flows over
    the rule, as in a spreadsheet. So does text that is not level.
    """
    result: list[_Place] = []
    last: _Char | None = None
    for char in chars:
        visible = bool(char.text.strip())
        stays = last is not None and (not visible or _runs_on(last, char))
        result.append(result[-1] if stays else _place(char.box, tables))
        last = char if visible else last
    return result


def _runs_on(before: _Char, after: _Char) -> bool:
    gap = after.box[0] - before.box[2]
    return not after.level or gap < _FLOWS_ON * (after.box[3] - after.box[1])


def _place(box: Box, tables: list[Table]) -> _Place:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    for number, table in enumerate(tables, start=1):
        cell = table.cell_at(x, y)
        if cell is not None:
            return number, cell
    return 0, None


def _is_level(line: dict[str, Any], direction: Point) -> bool:
    x, y = line["dir"]
    return bool(x * direction[0] + y * direction[1] >= _LEVEL)


def visible(text: str) -> str:
    """Control characters are glyphs that the font gives no character for."""
    return _CONTROLS.sub("\ufffd", text.replace("\t", " "))
