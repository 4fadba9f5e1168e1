"""What repeats at the edge of pages: running headers, footers, page numbers. Pure.

Noise is repetition at a position, not a list of words. Lines in the margin band of a page are
compared by key (NFKC, no spaces, digits as `#`). A key is noise where it stands at the same height
on at least 30 % of the pages and three of them, or on at least 40 % of a window of eight pages and
three of them (odd and even heads, heads of chapters). A lone number says nothing by its key: it is
noise when it counts with the pages, its distance to the page's own number steady. Lines of tables
are never noise, nor is anything on virtual pages, whose edges mean nothing.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from kb.model import Page
from kb.text.lines import split_lines
from kb.text.numerals import numeral

Edge = Literal["top", "bottom", "left", "right"]

_BAND: Final = 0.12
"""The margin band, as a share of the page's height."""
_DRIFT: Final = 0.02
"""Same height, as a share of the page's height."""
_EDGE_LINES: Final = 2
"""Without boxes: this many lines at each end of a page are its margin."""
_MIN_PAGES: Final = 3
_SHARE: Final = 0.3
_SHARE_WITHOUT_BOXES: Final = 0.5
"""The first line of a page is often a heading: without its place it must recur more often."""
_WINDOW: Final = 8
_WINDOW_SHARE: Final = 0.4
_NEAR: Final = 4
"""Pages on each side of a page number that should count along with it."""

_SKIPPED: Final = frozenset({"virtual", "sheet"})
_N: Final = r"(?P<n>\d{1,4}|[ivxlcdm]{1,8}|[〇零一二三四五六七八九十百]{1,5})"
_OF: Final = r"\d{1,4}"
_DECORATED: Final = re.compile(
    rf"(?:第{_N}页(?:[/,，、;；(（]*共{_OF}页[)）]*)?"
    rf"|共{_OF}页[/,，、;；]*第{_N.replace('<n>', '<n2>')}页"
    rf"|[-–—~·•|\[(（]+{_N.replace('<n>', '<n3>')}[-–—~·•|\])）]+"
    rf"|{_N.replace('<n>', '<n4>')}/{_OF}"
    rf"|(?:page|p\.|pg\.?){_N.replace('<n>', '<n5>')}(?:(?:of|/){_OF})?"
    rf"|{_N.replace('<n>', '<n6>')}of{_OF})",
    re.IGNORECASE,
)
_BARE: Final = re.compile(_N, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A line in a margin: `height` is its place on the page, 0 to 1; `number` a page number.

    `boxed` says that the place is known, not only the order of the lines.
    """

    page: int
    line: int
    edge: Edge
    height: float
    key: str
    number: int | None
    decorated: bool
    boxed: bool


def mark_noise(pages: Sequence[Page]) -> tuple[Page, ...]:
    """`pages` with `noise` filled: the lines that repeat or only number pages.

    What a parser has marked already stays marked. Text, boxes and elements are not touched.
    """
    candidates = [candidate for page in pages for candidate in _candidates(page)]
    found: dict[int, set[int]] = defaultdict(set)
    for candidate in (*_repeated(candidates, len(pages)), *_counting(candidates, len(pages))):
        found[candidate.page].add(candidate.line)
    return tuple(_marked(page, found.get(page.number, set())) for page in pages)


def page_number(text: str) -> tuple[int, bool] | None:
    """The page number that `text` is, and whether it says so itself (第3页, - 3 -, 3/10)."""
    key = "".join(unicodedata.normalize("NFKC", text).split())
    match = _DECORATED.fullmatch(key)
    if match:
        return numeral(next(filter(None, match.groups()))), True
    match = _BARE.fullmatch(key)
    return (numeral(key), False) if match and not key.startswith("0") else None


def _marked(page: Page, lines: set[int]) -> Page:
    noise = tuple(sorted(lines.union(page.noise)))
    return page if noise == page.noise else replace(page, noise=noise)


def _candidates(page: Page) -> Iterator[_Candidate]:
    if page.kind in _SKIPPED:
        return
    lines = split_lines(page.text)
    tables = {
        line
        for element in page.elements
        if element.kind == "table"
        for line in range(element.line_start, element.line_end + 1)
    }
    for line, edge, height in _margins(page, lines):
        text = lines[line - 1]
        if text.strip() and line not in tables:
            number = page_number(text)
            yield _Candidate(
                page=page.number,
                line=line,
                edge=edge,
                height=height,
                key=_key(text),
                number=number[0] if number else None,
                decorated=bool(number and number[1]),
                boxed=_has_boxes(page, lines),
            )


def _margins(page: Page, lines: Sequence[str]) -> Iterator[tuple[int, Edge, float]]:
    """Line number, edge and height of the lines in a page's margins."""
    if _has_boxes(page, lines):
        yield from _margins_by_box(page)
        return
    filled = [number for number, line in enumerate(lines, start=1) if line.strip()]
    for place, number in enumerate(filled[:_EDGE_LINES]):
        yield number, "top", place / 10
    for place, number in enumerate(reversed(filled[_EDGE_LINES:][-_EDGE_LINES:])):
        yield number, "bottom", 1 - place / 10


def _has_boxes(page: Page, lines: Sequence[str]) -> bool:
    return len(page.boxes) == len(lines) and page.height > 0


def _margins_by_box(page: Page) -> Iterator[tuple[int, Edge, float]]:
    """A line that stands upright belongs to a page printed sideways: its margins are the sides."""
    for number, (x0, y0, x1, y1) in enumerate(page.boxes, start=1):
        sideways = page.width > 0 and y1 - y0 > 2 * (x1 - x0)
        place = (x0 + x1) / 2 / page.width if sideways else (y0 + y1) / 2 / page.height
        if place <= _BAND:
            yield number, "left" if sideways else "top", place
        elif place >= 1 - _BAND:
            yield number, "right" if sideways else "bottom", place


def _key(text: str) -> str:
    """What is compared; empty when nothing but digits and signs is left."""
    bare = "".join(unicodedata.normalize("NFKC", text).lower().split())
    key = re.sub(r"\d+", "#", bare)
    return key if any(char.isalpha() for char in key) else ""


def _repeated(candidates: Sequence[_Candidate], pages: int) -> Iterator[_Candidate]:
    """Lines whose key stands at the same height on enough pages."""
    groups: dict[tuple[Edge, str], list[_Candidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.key:
            groups[candidate.edge, candidate.key].append(candidate)
    for group in groups.values():
        if len(group) >= _MIN_PAGES:
            yield from (one for one in group if _is_repeated(one, group, pages))


def _is_repeated(one: _Candidate, group: Sequence[_Candidate], pages: int) -> bool:
    level = sorted({c.page for c in group if abs(c.height - one.height) <= _DRIFT})
    share = _SHARE if one.boxed else _SHARE_WITHOUT_BOXES
    if len(level) >= max(_MIN_PAGES, share * pages):
        return True
    if not one.boxed:
        return False
    needed = max(_MIN_PAGES, _WINDOW_SHARE * _WINDOW)
    starts = (page for page in level if one.page - _WINDOW < page <= one.page)
    return any(_within(level, start, start + _WINDOW - 1) >= needed for start in starts)


def _within(ordered: Sequence[int], low: int, high: int) -> int:
    """How many of `ordered` lie in low … high."""
    return bisect_right(ordered, high) - bisect_left(ordered, low)


def _counting(candidates: Sequence[_Candidate], pages: int) -> Iterator[_Candidate]:
    """Page numbers whose distance to the page is that of their neighbours."""
    groups: dict[tuple[Edge, int], list[_Candidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.number is not None:
            groups[candidate.edge, candidate.number - candidate.page].append(candidate)
    for group in groups.values():
        yield from (one for one in group if _counts_along(one, group, pages))


def _counts_along(one: _Candidate, group: Sequence[_Candidate], pages: int) -> bool:
    if one.decorated and pages < _MIN_PAGES:
        return True
    near = {
        c.page
        for c in group
        if c.page != one.page
        and abs(c.page - one.page) <= _NEAR
        and abs(c.height - one.height) <= _DRIFT
    }
    return len(near) >= (1 if one.decorated else _MIN_PAGES - 1)
