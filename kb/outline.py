"""Headings of documents that mark none: statutes, plans, reports as plain lines of text. Pure.

A line is a candidate by its numbering (第三章, 第十二条, 二、, （三）, 4., 4.1, (5), Chapter 6) and
its shape: short, no sentence, no row of a table, no entry of a table of contents, not the middle of
a wrapped sentence. Candidates become headings where they count (weak ones from 1, one by one) and
where text follows them: a run of numbered lines with nothing between is a list or a table of
contents. Levels are those of one document: 编 > 章 > 节 > 条 > 一、 > （一） > 1. > 1.1 > (1).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kb.numerals import numeral
from kb.text import split_lines
from kb.types import Element, Page

LONGEST_TITLE: Final = 40
"""Characters of a heading that its path repeats."""

_HAN_NUMBER: Final = "[0-9０-９零〇一二三四五六七八九十百千两]{1,9}"
_LITTLE: Final = "[一二三四五六七八九十]{1,3}"
_GAP: Final = r"[\s\u3000]"
_PART, _CHAPTER, _SECTION, _ARTICLE, _ITEM, _SUBITEM, _DECIMAL, _POINT = (0, 1, 2, 3, 4, 5, 6, 12)
"""Ranks; a decimal number of n parts has rank _DECIMAL + n - 1."""
_DEEPEST_DECIMAL: Final = 5
_BREAKS_AT: Final = {_ITEM: 3, _SUBITEM: 4, _DECIMAL + 1: 4}

# What may follow 第三章: nothing, a gap, or a title that does not make it part of a sentence.
_GOES_ON: Final = "(?![的之和与及至到、，,。；;）)规所内第款项以等]|中(?![华国央]))"
_LATIN: Final = r"\s+(?P<n>[IVX]+|\d+)"
_TITLE: Final = "(?P<title>.*)"
_NO_NUMBER: Final = r"(?P<title>[^\d.].*)"
_FORMS: Final = tuple(
    (rank, re.compile(form))
    for rank, form in (
        (_PART, f"第(?P<n>{_HAN_NUMBER})[编編篇部卷](?!分){_GOES_ON}{_TITLE}"),
        (_PART, f"第(?P<n>{_LITTLE})部分{_TITLE}"),
        (_PART, rf"(?:PART|Part){_LATIN}\b{_TITLE}"),
        (_CHAPTER, f"第(?P<n>{_HAN_NUMBER})[章回]{_GOES_ON}{_TITLE}"),
        (_CHAPTER, rf"(?:CHAPTER|Chapter|ITEM|Item){_LATIN}[A-C]?\b{_TITLE}"),
        (_SECTION, f"第(?P<n>{_HAN_NUMBER})[节節]{_GOES_ON}{_TITLE}"),
        (_SECTION, rf"(?:SECTION|Section|NOTE|Note){_LATIN}\b{_TITLE}"),
        (_ARTICLE, f"(?P<label>第(?P<n>{_HAN_NUMBER})[条條](?:之{_LITTLE})?){_GOES_ON}{_TITLE}"),
        (_ARTICLE, rf"(?P<label>(?:ARTICLE|Article){_LATIN})\b{_TITLE}"),
        (_ITEM, f"(?P<n>{_LITTLE})、{_TITLE}"),
        (_SUBITEM, f"[（(](?P<n>{_LITTLE})[）)]{_TITLE}"),
        (_DECIMAL, rf"(?P<n>\d{{1,2}}(?:\.\d{{1,2}})+)[.．、]?(?P<gap>{_GAP}*){_NO_NUMBER}"),
        (_DECIMAL, rf"(?P<n>\d{{1,2}})(?P<gap>[.．、]{_GAP}*|{_GAP}+){_NO_NUMBER}"),
        (_POINT, rf"[（(](?P<n>\d{{1,2}})[）)]{_TITLE}"),
    )
)
_BRACKETED: Final = re.compile(r"[\s\u3000]*(?P<title>[【（(〔\[][^】）)〕\]]{1,30}[】）)〕\]])")
_SENTENCE_END: Final = ".。！？；：:;!?”）)…】"
_NO_TITLE_END: Final = "。；;，,、：:"
_INNER: Final = re.compile("[，,；;：:。]")
_CONTENTS: Final = frozenset({"目录", "目次", "contents", "tableofcontents"})
_LEADERS: Final = re.compile(
    r"(?:[.．·…‥・_]{3,}|(?:[.．·…] ){3,})[\s\u3000.．·…]*\d*\s*$|[\s\u3000]\d{1,4}$"
)
_LETTERS: Final = re.compile("[^\\W\\d_]{2}")
_LATIN_TITLE: Final = re.compile("[“\"'(（]?[A-ZÀ-Þ]")
_QUOTED: Final = re.compile('[“”"]|[.!?] ')
_LONGEST: Final = 80
_LONG_WORD: Final = 4
_FEW_WORDS: Final = 7
_CAPITALS: Final = 0.6
_LONGEST_HAN: Final = 40
_LONGEST_RUN_IN: Final = 30
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
    """A numbered line. `at` counts the document's readable lines; `path` is its number.

    `runs_on`: its text follows in the same line. `bare`: only a space ends the number.
    """

    page: int
    line: int
    at: int
    rank: int
    path: tuple[int, ...]
    key: str
    runs_on: bool = False
    bare: bool = False

    @property
    def number(self) -> int:
        return self.path[-1]


@dataclass(frozen=True, slots=True)
class _Readable:
    """A line that is neither blank nor noise, and whether it may be a heading at all."""

    page: int
    line: int
    text: str
    free: bool


def mark_headings(pages: Sequence[Page]) -> tuple[Page, ...]:
    """`pages` with heading elements, where the document has none of its own.

    Sheets and slides are left alone: rows and bullets are numbered for other reasons.
    """
    known = any(element.kind == "heading" for page in pages for element in page.elements)
    if known or any(page.kind in {"sheet", "slide"} for page in pages):
        return tuple(pages)
    found = _headings(list(_readable(pages)))
    return tuple(_marked(page, found.get(page.number, [])) for page in pages)


def heading_title(text: str) -> str:
    """What a heading's line adds to the path: short, without the text that runs on behind it.

    第十二条　为了… gives 第十二条; 第十二条【目的】… keeps the bracket; 一、加强管理。各部门… its
    first sentence.
    """
    line = " ".join(text.replace("\u3000", " ").split())
    label = _article_label(line)
    if label:
        return label
    sentence = line.partition("。")[0]
    return sentence if len(sentence) <= LONGEST_TITLE else sentence[: LONGEST_TITLE - 1] + "…"


def plain_level(line: str) -> int:
    """1 for 第X编 and its like down to 4 for 第X条, （一） and 1.1; 0 for anything else.

    By form alone, for choosing where a page may break.
    """
    candidate = _candidate(_Readable(0, 0, line, free=True), 0)
    if candidate is None:
        return 0
    if candidate.rank <= _ARTICLE:
        return candidate.rank + 1
    return _BREAKS_AT.get(min(candidate.rank, _DECIMAL + 1), 0) if candidate.rank < _POINT else 0


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


def _headings(lines: Sequence[_Readable]) -> dict[int, list[Element]]:
    """Heading elements by page number."""
    width = _line_width(lines)
    candidates = []
    for at, line in enumerate(lines):
        candidate = _candidate(line, at) if line.free else None
        if (
            candidate
            and not _continues(lines, at, width, candidate)
            and not _wraps(lines, at, width, candidate)
        ):
            candidates.append(candidate)
    kept = _with_text(_counting(_outside_contents(candidates, lines)), len(lines))
    levels = {rank: level for level, rank in enumerate(sorted({one.rank for one in kept}), 1)}
    result: dict[int, list[Element]] = defaultdict(list)
    for one in kept:
        result[one.page].append(Element("heading", one.line, one.line, levels[one.rank]))
    return result


# -- one line ------------------------------------------------------------------------------


def _candidate(line: _Readable, at: int) -> _Candidate | None:
    text = line.text.strip()
    if " | " in text:
        return None
    for rank, form in _FORMS:
        match = form.match(text)
        if not match:
            continue
        title = match["title"].strip()
        path = tuple(numeral(part) for part in match["n"].split("."))
        deep = rank + len(path) - 1
        runs_on = _runs_on(rank, title)
        if len(path) > _DEEPEST_DECIMAL or not (runs_on or _is_title(rank, title, match)):
            return None
        key = "".join(_LEADERS.sub("", text).split())
        bare = rank == _DECIMAL and len(path) == 1 and not match["gap"].strip()
        return _Candidate(line.page, line.line, at, deep, path, key, runs_on, bare)
    return None


def _runs_on(rank: int, title: str) -> bool:
    """第十二条 with its text in the same line; 一、加强管理。各部门… likewise."""
    if rank == _ARTICLE:
        return bool(title)
    if rank not in {_ITEM, _SUBITEM}:
        return False
    first, stop, rest = title.partition("。")
    return (
        bool(stop and rest.strip()) and len(first) <= _LONGEST_RUN_IN and not _INNER.search(first)
    )


def _is_title(rank: int, title: str, match: re.Match[str]) -> bool:
    if not title:
        return rank <= _ARTICLE
    if _LEADERS.search(title) or title[-1] in _NO_TITLE_END or "。" in title:
        return False
    if title.isascii() or _LATIN_TITLE.match(title):
        bare = title.lstrip(" .:-–—")
        return bool(_LATIN_TITLE.match(bare) and _reads_as_title(bare))
    if rank >= _ITEM and (not _LETTERS.search(title) or _INNER.search(title)):
        return False
    # 2.5亿元: a decimal without a gap is a quantity as often as a number of a heading.
    is_quantity = rank == _DECIMAL and "." in match["n"] and not match["gap"]
    return len(title) <= _LONGEST_HAN and not is_quantity


def _reads_as_title(title: str) -> bool:
    """A few words, or most of them capitalised; nothing quoted, no sentence."""
    if len(title) > _LONGEST or title[-1] in ".?!" or _QUOTED.search(title):
        return False
    words = [word for word in title.split() if len(word) >= _LONG_WORD and word[0].isalpha()]
    capitals = sum(word[0].isupper() for word in words)
    brief = len(title.split()) <= _FEW_WORDS and "," not in title
    return bool(_LETTERS.search(title)) and (brief or capitals >= _CAPITALS * len(words))


def _article_label(line: str) -> str:
    """第十二条, with its title in brackets or the short title that is all of the line."""
    for rank, form in _FORMS:
        match = form.match(line) if rank == _ARTICLE else None
        if match:
            bracket = _BRACKETED.match(match["title"])
            if bracket:
                return match["label"] + bracket["title"]
            is_short = len(line) <= LONGEST_TITLE and not _INNER.search(line)
            return line if is_short else str(match["label"])
    return ""


def _line_width(lines: Sequence[_Readable]) -> int:
    """How long the longer lines are, in characters."""
    lengths = sorted(len(line.text) for line in lines)
    return max(_NARROW, lengths[len(lengths) * 4 // 5]) if lengths else _NARROW


def _continues(lines: Sequence[_Readable], at: int, width: int, candidate: _Candidate) -> bool:
    """Whether line `at` is the rest of a sentence that the line above it began."""
    if not at or width > _WIDEST:
        return False
    line, above = lines[at], lines[at - 1]
    text = above.text.strip()
    if not above.free or text[-1] in _SENTENCE_END or " | " in text:
        return False
    if (above.page, above.line + 1) != (line.page, line.line) and above.page == line.page:
        return False  # a blank line stands between
    return len(text) >= _WRAPPED * width and candidate.rank != _PART


def _wraps(lines: Sequence[_Readable], at: int, width: int, candidate: _Candidate) -> bool:
    """Whether a weak candidate is the first line of a sentence that ends in the next."""
    if candidate.rank < _ITEM or candidate.runs_on or at + 1 == len(lines) or width > _WIDEST:
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
    last = {one.key: one.at for one in candidates}
    inside: set[int] = set()
    for start in starts:
        for one in (one for one in candidates if one.at > start):
            if last[one.key] == one.at:
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
        last[one.rank] = one.path
        for rank in [rank for rank in last if rank > max(one.rank, _ARTICLE)]:
            del last[rank]
    return kept


def _follows(one: _Candidate, last: dict[int, tuple[int, ...]]) -> bool:
    before = last.get(one.rank)
    if one.rank <= _ARTICLE:
        return before is None or one.number == 1 or before[-1] <= one.number
    above = last.get(one.rank - 1)
    if len(one.path) > 1 and above is not None and above != one.path[:-1]:
        return False
    if before is None or before[:-1] != one.path[:-1]:
        return one.number == 1
    return before[-1] < one.number <= before[-1] + (1 if one.bare else _GAP_ALLOWED)


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
    weak = group[0].rank >= _ITEM
    if weak and len(group) < (_LEAST_BARE if group[0].bare else _LEAST):
        return False
    ranks = {one.at: one.rank for one in kept}
    with_text = 0
    for one in group:
        below = ranks.get(one.at + 1)
        has_line = one.at + 1 < count and (below is None or below > one.rank)
        with_text += one.runs_on or has_line
    return with_text >= _WITH_BODY * len(group) or (not weak and len(group) == 1)


def _squeezed(text: str) -> str:
    return "".join(text.split())
