"""What a quoted phrase is compared as, and which tokens a text that holds it must have. Pure.

The keyword index knows whole words; a phrase may begin and end inside one. Of its words only those
that cannot go on beyond the phrase are certain to be tokens of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kb.text.tokens import HAN, KANA, MAX_TOKEN, fold

if TYPE_CHECKING:
    from collections.abc import Iterator

_AT_ONCE: Final = 5  # tokens in one `Words`: enough to be rare, few enough to be read quickly

# White space next to these says nothing: a line may end there, and some set a space there. Of the
# full-width forms no letter, no digit, and no joiner of words.
_MARKS: Final = "\u3001\u3002\u3008-\u3011\u3014-\u301b！（），：；？｛｝～"
_SPACE_AT_MARK: Final = re.compile(f"(?<=[{_MARKS}])\\s+|\\s+(?=[{_MARKS}])")
_SPACE_AT_HAN: Final = re.compile(f"(?<=[{HAN}])\\s+|\\s+(?=[{HAN}])")

_JOINERS: Final = "._-+@#/"
_ATOM: Final = re.compile(f"[^\\W_{HAN}{KANA}]+")
_RUN: Final = re.compile(
    f"(?P<han>[{HAN}]+)|(?P<kana>[{KANA}]+)"
    f"|{_ATOM.pattern}(?:[{re.escape(_JOINERS)}]+{_ATOM.pattern})*"
)
_AFTER_ORDINAL: Final = re.compile("(?<![^0-9])[编章节条款项目]")


def literal(text: str) -> str:
    """`text` folded, white space as one space, or as none beside a Han character or Chinese mark.

    A part of the result is its own literal form.
    """
    folded = fold(_SPACE_AT_MARK.sub("", text))
    return " ".join(_SPACE_AT_HAN.sub("", folded).split())


@dataclass(frozen=True, slots=True)
class Words:
    """Tokens that follow one another in the index; of the last only the start if `open`."""

    tokens: tuple[str, ...]
    open: bool = False


@dataclass(frozen=True, slots=True)
class Needs:
    """What the index must hold of a text with the phrase.

    `start` is the first word where it may begin before the phrase does (else empty); `inside`:
    that word is all there is, and may go on after the phrase as well.
    """

    words: tuple[Words, ...]
    start: str = ""
    inside: bool = False


def needs(phrase: str) -> Needs:
    """What is certain of any text that holds `phrase`, which is in literal form."""
    found: list[Words] = []
    chain: list[str] = []
    start = ""
    for run in _RUN.finditer(phrase):
        if run.lastgroup:
            found += [*_pieces(chain), *_pieces(_pairs(phrase, run))]
            chain = []
            continue
        atoms = _ATOM.findall(run.group())
        opens, goes_on = run.start() == 0, run.end() == len(phrase)
        joins_left = not phrase[: run.start()].strip(_JOINERS)
        joins_right = not phrase[run.end() :].strip(_JOINERS)
        if joins_right and not (goes_on and len(atoms) == 1):
            # The whole word stands before its parts, and is unknown: it may go on.
            found += _pieces(chain)
            chain = []
        if opens:
            start = atoms.pop(0)
        elif len(atoms) > 1 and not (joins_left or joins_right):
            chain.append(run.group())
        chain += atoms
        if goes_on:
            found += _pieces(chain, last_open=True)
            chain = []
    found += _pieces(chain)
    return Needs(tuple(found), start, inside=start == phrase)


def _pairs(phrase: str, run: re.Match[str]) -> list[str]:
    """Pairs of neighbours, as they follow one another in the index; of one character itself.

    The 条 of 第12条 makes no pair with what comes after it.
    """
    characters = run.group()
    if len(characters) > 1 and _AFTER_ORDINAL.match(phrase, run.start()):
        characters = characters[1:]
    pairs = [characters[i : i + 2] for i in range(len(characters) - 1)]
    return pairs or [characters]


def _pieces(tokens: list[str], *, last_open: bool = False) -> Iterator[Words]:
    cut = [token[:MAX_TOKEN] for token in tokens]
    for first in range(0, len(cut), _AT_ONCE):
        part = cut[first : first + _AT_ONCE]
        yield Words(tuple(part), last_open and first + _AT_ONCE >= len(cut))
