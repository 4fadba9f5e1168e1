"""Headings of documents that mark none: statutes, plans, reports as plain lines of text. Pure.

A line is a candidate by its numbering (第三章, 第十二条, 二、, （三）, 4., 4.1, (5), Chapter 6) and
its shape: short, no sentence, no row of a table, no entry of a table of contents, not the middle of
a wrapped sentence. Candidates become headings where they count (weak ones from 1, one by one) and
where text follows them: a run of numbered lines with nothing between is a list or a table of
contents. Levels are those of one document: 编 > 章 > 节 > 条 > 一、 > （一） > 1. > 1.1 > (1).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kb.model import Element, Page
from kb.text.lines import split_lines
from kb.text.numbering import ARTICLE, PART, Numbered, numbered

_SENTENCE_END: Final = ".。！？；：:;!?”）)…】"
_CONTENTS: Final = frozenset({"目录", "目次", "contents", "tableofcontents"})
_WRAPPED: Final = 0.75
"""A line that is this much as long as the longer ones of its document may go on in the next."""
_NARROW: Final = 20
_WIDEST: Final = 120
"""Longer lines are paragraphs, which end where they end."""
_WITH_BODY: Final = 0.5
_GAP_ALLOWED: Final = 2
_LEAST: Final = 2
_LEAST_BARE: Final = 3


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A numbered line. `at` counts the document's readable lines."""

    page: int
    line: int
    at: int
    mark: Numbered

    @property
    def rank(self) -> int:
        return self.mark.rank


@dataclass(frozen=True, slots=True)
class _Readable:
    """A line that is neither blank nor noise, and whether it may be a heading at all."""

    page: int
    line: int
    text: str
    free: bool


def mark_headings(pages: Sequence[Page]) -> tuple[Page, ...]:
    """`pages` with heading elements, where the document has none of its own but a title.

    Sheets and slides are left alone: rows and bullets are numbered for other reasons.
    """
    known = [element for page in pages for element in page.elements if element.kind == "heading"]
    if len(known) > 1 or any(page.kind in {"sheet", "slide"} for page in pages):
        return tuple(pages)
    above = known[0].level if known else 0
    found = _headings(list(_readable(pages)), above)
    return tuple(_marked(page, found.get(page.number, [])) for page in pages)


def _marked(page: Page, headings: Sequence[Element]) -> Page:
    if not headings:
        return page
    elements = sorted((*page.elements, *headings), key=lambda element: element.line_start)
    return replace(page, elements=tuple(elements))


def _readable(pages: Sequence[Page]) -> Iterator[_Readable]:
    for page in pages:
        noise = set(page.noise)
        taken = {
            line
            for element in page.elements
            if element.kind != "paragraph"
            for line in range(element.line_start, element.line_end + 1)
        }
        for number, text in enumerate(split_lines(page.text), 1):
            if text.strip() and number not in noise:
                yield _Readable(page.number, number, text, number not in taken)


def _headings(lines: Sequence[_Readable], above: int) -> dict[int, list[Element]]:
    """Heading elements by page number, their levels below level `above`."""
    width = _line_width(lines)
    candidates = []
    for at, line in enumerate(lines):
        mark = numbered(line.text) if line.free else None
        if mark and not _continues(lines, at, width, mark) and not _wraps(lines, at, width, mark):
            candidates.append(_Candidate(line.page, line.line, at, mark))
    kept = _with_text(_counting(_outside_contents(candidates, lines)), len(lines))
    levels = {
        rank: level for level, rank in enumerate(sorted({one.rank for one in kept}), above + 1)
    }
    result: dict[int, list[Element]] = defaultdict(list)
    for one in kept:
        result[one.page].append(Element("heading", one.line, one.line, levels[one.rank]))
    return result


def _line_width(lines: Sequence[_Readable]) -> int:
    """How long the longer lines are, in characters."""
    lengths = sorted(len(line.text) for line in lines)
    return max(_NARROW, lengths[len(lengths) * 4 // 5]) if lengths else _NARROW


def _continues(lines: Sequence[_Readable], at: int, width: int, mark: Numbered) -> bool:
    """Whether line `at` is the rest of a sentence that the line above it began."""
    if not at or width > _WIDEST:
        return False
    line, above = lines[at], lines[at - 1]
    text = above.text.strip()
    if not above.free or text[-1] in _SENTENCE_END or " | " in text:
        return False
    if (above.page, above.line + 1) != (line.page, line.line) and above.page == line.page:
        return False  # a blank line stands between
    return len(text) >= _WRAPPED * width and mark.rank != PART


def _wraps(lines: Sequence[_Readable], at: int, width: int, mark: Numbered) -> bool:
    """Whether a weak candidate is the first line of a sentence that ends in the next."""
    if not mark.is_weak or mark.runs_on or at + 1 == len(lines) or width > _WIDEST:
        return False
    line, below = lines[at], lines[at + 1]
    text = below.text.strip()
    if (line.page, line.line + 1) != (below.page, below.line):
        return False
    return len(line.text.strip()) >= _WRAPPED * width and (text[0].islower() or "。" in text)


# -- all of them ---------------------------------------------------------------------------


def _outside_contents(
    candidates: Sequence[_Candidate], lines: Sequence[_Readable]
) -> list[_Candidate]:
    """Without the run of candidates below 目录 whose like comes again."""
    starts = [at for at, line in enumerate(lines) if _squeezed(line.text).lower() in _CONTENTS]
    if not starts:
        return list(candidates)
    last = {one.mark.key: one.at for one in candidates}
    inside: set[int] = set()
    for start in starts:
        for one in (one for one in candidates if one.at > start):
            if last[one.mark.key] == one.at:
                break
            inside.add(one.at)
    return [one for one in candidates if one.at not in inside]


def _counting(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Those whose number follows from the one before of their rank, under the same heading."""
    kept: list[_Candidate] = []
    last: dict[int, tuple[int, ...]] = {}
    for one in candidates:
        if not _follows(one, last):
            continue
        kept.append(one)
        last[one.rank] = one.mark.path
        for rank in [rank for rank in last if rank > max(one.rank, ARTICLE)]:
            del last[rank]
    return kept


def _follows(one: _Candidate, last: dict[int, tuple[int, ...]]) -> bool:
    before = last.get(one.rank)
    if one.rank <= ARTICLE:
        return (
            not one.mark.bare
            or before is None
            or one.mark.path[-1] == 1
            or before[-1] <= one.mark.path[-1]
        )
    above = last.get(one.rank - 1)
    if len(one.mark.path) > 1 and above is not None and above != one.mark.path[:-1]:
        return False
    if before is None or before[:-1] != one.mark.path[:-1]:
        return one.mark.path[-1] == 1
    return before[-1] < one.mark.path[-1] <= before[-1] + (1 if one.mark.bare else _GAP_ALLOWED)


def _with_text(candidates: Sequence[_Candidate], count: int) -> list[_Candidate]:
    """Without groups of siblings that mostly stand one right below the other.

    From the deepest rank up: a heading whose only text were headings that fell away falls with
    them. `count` is how many lines there are.
    """
    kept = list(candidates)
    for rank in sorted({one.rank for one in candidates}, reverse=True):
        dropped = {
            one.at
            for group in _groups(kept, rank)
            if not _holds(group, kept, count)
            for one in group
        }
        kept = [one for one in kept if one.at not in dropped]
    return kept


def _groups(candidates: Sequence[_Candidate], rank: int) -> Iterator[list[_Candidate]]:
    """Siblings: candidates of `rank` with nothing above that rank between them."""
    group: list[_Candidate] = []
    for one in candidates:
        if one.rank < rank and group:
            yield group
            group = []
        elif one.rank == rank:
            group.append(one)
    if group:
        yield group


def _holds(group: Sequence[_Candidate], kept: Sequence[_Candidate], count: int) -> bool:
    weak = group[0].mark.is_weak
    if weak and len(group) < (_LEAST_BARE if group[0].mark.bare else _LEAST):
        return False
    ranks = {one.at: one.rank for one in kept}
    with_text = 0
    for one in group:
        below = ranks.get(one.at + 1)
        has_line = one.at + 1 < count and (below is None or below > one.rank)
        with_text += one.mark.runs_on or has_line
    return with_text >= _WITH_BODY * len(group) or (not weak and len(group) == 1)


def _squeezed(text: str) -> str:
    return "".join(text.split())
