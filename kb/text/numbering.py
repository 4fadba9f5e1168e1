"""Numbered lines: 第三章 总则, 第十二条, 二、, （三）, 4., 4.1, (5), Chapter 6. Pure.

One line by itself: what its number is, whether what follows has the shape of a title, and what of
it a heading path repeats.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from kb.text.numerals import numeral

LONGEST_TITLE: Final = 40
"""Characters of a heading that its path repeats."""

_HAN_NUMBER: Final = "[0-9０-９零〇一二三四五六七八九十百千两]{1,9}"
_LITTLE: Final = "[一二三四五六七八九十]{1,3}"
_GAP: Final = r"[\s\u3000]"
PART, _CHAPTER, _SECTION, ARTICLE, _ITEM, _SUBITEM, _DECIMAL, _POINT = (0, 1, 2, 3, 4, 5, 6, 12)
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
        (PART, f"第(?P<n>{_HAN_NUMBER})[编編篇部卷](?!分){_GOES_ON}{_TITLE}"),
        (PART, f"第(?P<n>{_LITTLE})部分{_TITLE}"),
        (PART, rf"(?:PART|Part){_LATIN}\b{_TITLE}"),
        (_CHAPTER, f"第(?P<n>{_HAN_NUMBER})[章回]{_GOES_ON}{_TITLE}"),
        (_CHAPTER, rf"(?:CHAPTER|Chapter|ITEM|Item){_LATIN}[A-C]?\b{_TITLE}"),
        (_SECTION, f"第(?P<n>{_HAN_NUMBER})[节節]{_GOES_ON}{_TITLE}"),
        (_SECTION, rf"(?:SECTION|Section|NOTE|Note){_LATIN}\b{_TITLE}"),
        (ARTICLE, f"(?P<label>第(?P<n>{_HAN_NUMBER})[条條](?:之{_LITTLE})?){_GOES_ON}{_TITLE}"),
        (ARTICLE, rf"(?P<label>(?:ARTICLE|Article){_LATIN})\b{_TITLE}"),
        (_ITEM, f"(?P<n>{_LITTLE})、{_TITLE}"),
        (_SUBITEM, f"[（(](?P<n>{_LITTLE})[）)]{_TITLE}"),
        (_DECIMAL, rf"(?P<n>\d{{1,2}}(?:\.\d{{1,2}})+)[.．、]?(?P<gap>{_GAP}*){_NO_NUMBER}"),
        (_DECIMAL, rf"(?P<n>\d{{1,2}})(?P<gap>[.．、]{_GAP}*|{_GAP}+){_NO_NUMBER}"),
        (_POINT, rf"[（(](?P<n>\d{{1,2}})[）)]{_TITLE}"),
    )
)
_BRACKETED: Final = re.compile(r"[\s\u3000]*(?P<title>[【（(〔\[][^】）)〕\]]{1,30}[】）)〕\]])")
_NO_TITLE_END: Final = "。；;，,、：:"
_INNER: Final = re.compile("[，,；;：:。]")
_LEADERS: Final = re.compile(
    r"(?:[.．·…‥・_]{3,}|(?:[.．·…] ){3,})[\s\u3000.．·…]*\d*\s*$|[\s\u3000]\d{1,4}$"
)
_LETTERS: Final = re.compile("[^\\W\\d_]")
_LATIN_TITLE: Final = re.compile("[“\"'(（]?[A-ZÀ-Þ]")
_QUOTED: Final = re.compile('[“”"]|[.!?] ')
_LONGEST: Final = 80
_LONG_WORD: Final = 4
_FEW_WORDS: Final = 7
_CAPITALS: Final = 0.6
_LONGEST_HAN: Final = 40
_LONGEST_RUN_IN: Final = 30


@dataclass(frozen=True, slots=True)
class Numbered:
    """A line that may be a heading.

    `rank` orders the kinds of numbers, outermost first; `path` is the number, of several parts
    where it is decimal; `key` the line without white space and page number. `runs_on`: its text
    follows in the same line. `bare`: its number is hardly set off.
    """

    rank: int
    path: tuple[int, ...]
    key: str
    runs_on: bool = False
    bare: bool = False

    @property
    def is_weak(self) -> bool:
        """Whether lists and enumerations are numbered like this too."""
        return self.rank > ARTICLE


def numbered(line: str) -> Numbered | None:
    """What `line` is as a heading, or None when it cannot be one."""
    text = line.strip()
    if " | " in text:
        return None
    for rank, form in _FORMS:
        match = form.match(text)
        if match:
            return _judged(rank, match)
    return None


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


def is_bare_label(heading: str) -> bool:
    """Whether a heading of the path is 第十二条 and nothing else."""
    match = _article(heading)
    return bool(match and not match["title"])


def plain_level(line: str) -> int:
    """1 for 第X编 and its like down to 4 for 第X条, （一） and 1.1; 0 for anything else.

    By form alone, for choosing where a page may break.
    """
    found = numbered(line)
    if found is None:
        return 0
    if found.rank <= ARTICLE:
        return found.rank + 1
    return _BREAKS_AT.get(min(found.rank, _DECIMAL + 1), 0) if found.rank < _POINT else 0


def _judged(rank: int, match: re.Match[str]) -> Numbered | None:
    title = match["title"].strip()
    path = tuple(numeral(part) for part in match["n"].split("."))
    runs_on = _runs_on(rank, title)
    if len(path) > _DEEPEST_DECIMAL or not (runs_on or _is_title(rank, title, match)):
        return None
    key = "".join(_LEADERS.sub("", match.string).split())
    return Numbered(rank + len(path) - 1, path, key, runs_on, _is_bare(rank, match))


def _is_bare(rank: int, match: re.Match[str]) -> bool:
    """2 Methods, and 第三章总则 without a gap: the number may as well belong to a sentence."""
    if rank <= ARTICLE:
        return bool(match["title"]) and not match["title"][0].isspace()
    return rank == _DECIMAL and "." not in match["n"] and not match["gap"].strip()


def _runs_on(rank: int, title: str) -> bool:
    """第十二条 with its text in the same line; 一、加强管理。各部门… likewise."""
    if rank == ARTICLE:
        return bool(title)
    if rank not in {_ITEM, _SUBITEM}:
        return False
    first, stop, rest = title.partition("。")
    return (
        bool(stop and rest.strip()) and len(first) <= _LONGEST_RUN_IN and not _INNER.search(first)
    )


def _is_title(rank: int, title: str, match: re.Match[str]) -> bool:
    if not title:
        return rank <= ARTICLE
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
    match = _article(line)
    if not match:
        return ""
    bracket = _BRACKETED.match(match["title"])
    if bracket:
        return match["label"] + bracket["title"]
    is_short = len(line) <= LONGEST_TITLE and not _INNER.search(line)
    return line if is_short else str(match["label"])


def _article(line: str) -> re.Match[str] | None:
    matches = (form.match(line) for rank, form in _FORMS if rank == ARTICLE)
    return next(filter(None, matches), None)
