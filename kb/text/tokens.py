"""Lines, folding and tokens. Pure: the one place that says what a line is.

A page's lines are its text, CRLF and CR made LF, split on LF and on nothing else. Folding and
tokens serve matching only; no offset is ever taken from folded text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, Literal

from kb.text.numerals import numeral

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import opencc

TOKENS_REVISION: Final = 2
"""Raised whenever `fold` or `tokens` change: the keyword index of an older one is rebuilt."""

MAX_TOKEN: Final = 64
"""Longest token, in characters; the rest of a longer run is left out of the keyword index."""

Script = Literal["han", "latin", ""]
"""What a text is mostly written in; empty where neither is more."""

# Han with extensions A-H, compatibility ideographs, 々 〇; kana is cut like Han. For a [] of `re`.
HAN: Final = (
    "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f\U00030000-\U000323af"
)
KANA: Final = "\u3041-\u3096\u30a1-\u30fa\u30fc"
_ONE_HAN: Final = re.compile("[\u3400-\u9fff]")
_LATIN_WORD: Final = re.compile("[a-z]+")
_SPACE_IN_HAN: Final = re.compile(f"(?<=[{HAN}])[ \t\n\u00a0\u3000]+(?=[{HAN}])")
# 第十二条 is 第12条, as an article of a law is cited either way.
_ORDINAL: Final = re.compile(
    "第\\s*([〇零一二两三四五六七八九十百千]{1,8}|[0-9]{1,4})\\s*(?=[编章节条款项目])"
)
# A word keeps its inner joiners, so 1.0.21, a-b_c and x@y.org are one token each.
_RUN: Final = re.compile(
    f"(?P<ordinal>第[0-9]+[编章节条款项目])"
    f"|(?P<cjk>[{HAN}{KANA}]+)"
    f"|(?P<word>[^\\W_{HAN}{KANA}]+(?:[._\\-+@#/]+[^\\W_{HAN}{KANA}]+)*)"
)
_JOINERS: Final = re.compile(r"[._\-+@#/]+")


def fold(text: str) -> str:
    """`text` as it is matched: NFKC, lower case, Simplified, no space between Han characters.

    The numbers of articles and chapters are in digits: 第十二条 and 第12条 are the same.
    """
    plain = unicodedata.normalize("NFKC", text).lower()
    if not plain.isascii():
        plain = _simplifier().convert(plain)
    return _ORDINAL.sub(_in_digits, _SPACE_IN_HAN.sub("", plain))


def fold_lines(lines: Iterable[str]) -> str:
    """Lines as one folded text; a line that comes again and again is folded once."""
    return _SPACE_IN_HAN.sub("", "\n".join(map(_fold_line, lines)))


@lru_cache(maxsize=8_192)
def _fold_line(line: str) -> str:
    return fold(line)


def tokens(text: str) -> list[str]:
    """Tokens for BM25, in text order, repeated as often as they occur.

    Han and kana runs give every character and every pair of neighbours; other scripts give words;
    a word with joiners (`1.0.21`, `ab-12`) gives itself and then its parts; so does 第12条.
    """
    return [token[:MAX_TOKEN] for token in _tokens(fold(text))]


def _tokens(folded: str) -> Iterator[str]:
    for run in _RUN.finditer(folded):
        if run.lastgroup == "cjk":
            yield from _grams(run.group())
        elif run.lastgroup == "ordinal":
            ordinal = run.group()
            yield from (ordinal, ordinal[0], ordinal[1:-1], ordinal[-1])
        else:
            yield from _word(run.group())


def _in_digits(ordinal: re.Match[str]) -> str:
    return f"第{numeral(ordinal[1])}"


def _grams(run: str) -> Iterator[str]:
    yield from run
    yield from (run[i : i + 2] for i in range(len(run) - 1))


def _word(word: str) -> Iterator[str]:
    yield word
    parts = _JOINERS.split(word)
    if len(parts) > 1:
        yield from parts


@cache
def _simplifier() -> opencc.OpenCC:
    """OpenCC's Traditional → Simplified table, loaded once (16 ms)."""
    from opencc import OpenCC

    return OpenCC("t2s")


def script(text: str) -> Script:
    """Whether lower-case text has more Han characters or more words of Latin letters."""
    han, latin = len(_ONE_HAN.findall(text)), len(_LATIN_WORD.findall(text))
    if han == latin:
        return ""
    return "han" if han > latin else "latin"
