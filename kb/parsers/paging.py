"""Text to pages: by its form feeds, or else by length with a feeling for where to break.

A form feed ends a page. A newline just before it, and one at the end of the file, adds no line;
nothing after the last form feed is no further page. Put together again, the pages' lines are the
file's lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from kb.model import Element, Page, PageKind
from kb.text.lines import normalize_newlines, split_lines
from kb.text.numbering import plain_level

PAGE_LINES: Final = 60
_EARLIEST: Final = 2 / 3
"""A page is not cut before this part of its length for the sake of a better place."""

Strength = Callable[[Sequence[str], int], int]
"""How well a page may break before line `i` (0-based) of `lines`: 0 badly, higher is better."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """The lines of one page. `start` is the first one's 0-based index in the document."""

    start: int
    lines: tuple[str, ...]


def sheets(text: str, strength: Strength) -> tuple[list[Sheet], PageKind]:
    """`text` cut into pages, and what kind of pages they are."""
    plain = normalize_newlines(text)
    if "\f" in plain:
        return _fed(plain), "rendered"
    lines = split_lines(plain.removesuffix("\n"))
    return list(_by_length(lines, strength)), "virtual"


def page(number: int, sheet: Sheet, kind: PageKind, elements: Sequence[Element] = ()) -> Page:
    """The page of `sheet`."""
    return Page(number=number, text="\n".join(sheet.lines), kind=kind, elements=tuple(elements))


def plain_strength(lines: Sequence[str], i: int) -> int:
    """Breaks of plain text: before 第X章 and its like, the higher the better; after a blank."""
    level = plain_level(lines[i])
    if level:
        return 10 - level
    return int(bool(lines[i].strip()) and not lines[i - 1].strip())


def _fed(text: str) -> list[Sheet]:
    *ended, rest = text.split("\f")
    parts = [*ended, rest] if rest.removesuffix("\n") else ended
    result = []
    start = 0
    for part in parts:
        lines = tuple(split_lines(part.removesuffix("\n")))
        result.append(Sheet(start, lines))
        start += len(lines)
    return result


def _by_length(lines: Sequence[str], strength: Strength) -> list[Sheet]:
    result = []
    start = 0
    while start < len(lines):
        end = _page_end(lines, start, strength)
        result.append(Sheet(start, tuple(lines[start:end])))
        start = end
    return result


def _page_end(lines: Sequence[str], start: int, strength: Strength) -> int:
    """Where the page from `start` ends: at the best, then latest, place in its last third."""
    limit = start + PAGE_LINES
    if limit >= len(lines):
        return len(lines)
    earliest = start + int(PAGE_LINES * _EARLIEST)
    return max(range(earliest, limit + 1), key=lambda i: (strength(lines, i), i))
