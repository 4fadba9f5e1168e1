"""Words in quotes: matched literally, by their folded text, across line breaks inside a page."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from kb.search.fusion import Ranked
from kb.text.blocks import indexed_lines
from kb.text.lines import split_lines
from kb.text.literal import Needs, Words, literal, needs
from kb.text.tokens import MAX_TOKEN, tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kb.catalog import Reader
    from kb.model import Block

MAX_CHECKED: Final = 5_000
"""Blocks that hold every word of a phrase, the best first, whose text is read for the phrase."""
MAX_PAGES: Final = 1_000
"""Pages that are read for a phrase that goes on from one block to another."""
OVER_BLOCKS: Final = 8
"""Characters from which on a phrase is also looked for over several blocks."""
MAX_WORDS: Final = 500
"""Words of the index that the first word of a phrase may be the end or the middle of."""
_RAREST: Final = 12  # parts of a phrase that the index is asked for
_RAREST_OF_PAGE: Final = 4
_LOOKED_UP: Final = 3  # first words of phrases, the longest, for which the vocabulary is read
_SHRINKS: Final = 8  # characters that folding may take from an ordinal: 第一百二十三条 is 第123条

_QUOTED: Final = re.compile('「([^「」]+)」|『([^『』]+)』|“([^“”]+)”|"([^"]+)"|＂([^＂]+)＂')


def quoted(text: str) -> list[str]:
    """The phrases that stand in paired quotes and hold a word, in order, each once."""
    groups = (next(filter(None, found.groups())) for found in _QUOTED.finditer(text))
    return list(dict.fromkeys(phrase.strip() for phrase in groups if tokens(phrase)))


@dataclass(frozen=True, slots=True)
class Holding:
    """The blocks that hold every phrase, best first; more may if not all were `checked`."""

    ranked: Sequence[Ranked]
    checked: bool


def holding(reader: Reader, phrases: Sequence[str], documents: Collection[int] | None) -> Holding:
    """The blocks that hold every phrase, by the BM25 of what the index knows of the phrases.

    A phrase that no block holds whole, since it goes over several, is held by that in which it
    begins. Those come last.
    """
    wanted = [literal(phrase) for phrase in phrases]
    wants = [needs(phrase) for phrase in wanted]
    known = reader.document_frequencies({t for want in wants for t in _whole_tokens(want)})
    clauses, all_words = _clauses(reader, wants, known)
    found = reader.match_words(clauses, MAX_CHECKED, documents)
    right = _in_one_block(reader, [id_ for id_, _score in found], wanted)
    ranked = [Ranked(id_, score) for id_, score in found if id_ in right]
    long = known and max(map(len, wanted)) >= OVER_BLOCKS
    pages = reader.pages_with(_rarest(known), MAX_PAGES + 1, documents) if long else []
    over = _over_blocks(reader, pages[:MAX_PAGES], wanted) - right
    weakest = ranked[-1].score if ranked else 1.0
    ranked += [Ranked(id_, weakest) for id_ in sorted(over)]
    checked = all_words and len(found) < MAX_CHECKED and len(pages) <= MAX_PAGES
    return Holding(ranked, checked)


# -- candidates ----------------------------------------------------------------------------


def _whole_tokens(want: Needs) -> Iterator[str]:
    """The tokens of which the phrase holds both ends."""
    for words in want.words:
        yield from words.tokens[:-1] if words.open else words.tokens


def _rarest(known: dict[str, int]) -> list[str]:
    return sorted(known, key=lambda token: known[token])[:_RAREST_OF_PAGE]


def _clauses(
    reader: Reader, wants: Sequence[Needs], known: dict[str, int]
) -> tuple[list[list[Words]], bool]:
    """What a block must hold; False if its words are too many for all to be looked for.

    Which words of the index a phrase begins in is only found out where the rest of it is not rare.
    """

    def blocks(words: Words) -> int:
        return min((known[token] for token in words.tokens if token in known), default=MAX_CHECKED)

    rarest = sorted((words for want in wants for words in want.words), key=blocks)[:_RAREST]
    clauses = [[words] for words in rarest]
    if rarest and blocks(rarest[0]) < MAX_CHECKED:
        return clauses, True
    complete = True
    begun = sorted((want for want in wants if want.start), key=lambda want: -len(want.start))
    for want in begun[:_LOOKED_UP]:
        around = reader.words_around(want.start, MAX_WORDS + 1, inside=want.inside)
        complete = complete and len(around) <= MAX_WORDS
        itself = [Words((want.start[:MAX_TOKEN],), open=True)] if want.inside else []
        clauses.append([*itself, *(Words((word,)) for word in around[:MAX_WORDS])])
    return clauses, complete


# -- blocks --------------------------------------------------------------------------------


def _in_one_block(reader: Reader, ids: Sequence[int], wanted: Sequence[str]) -> set[int]:
    """Those of `ids` whose lines hold every phrase."""
    by_page: dict[tuple[int, int], list[Block]] = {}
    for block in reader.blocks(ids).values():
        by_page.setdefault((block.document_id, block.page), []).append(block)
    right = set()
    for place, blocks in by_page.items():
        page = _lines(reader, *place)
        for block in blocks:
            text = page.between(block.line_start, block.line_end)
            if all(phrase in text for phrase in wanted):
                right.add(block.id)
    return right


class _Lines(NamedTuple):
    """The indexed lines of a page, and their numbers."""

    numbers: Sequence[int]
    texts: Sequence[str]

    def between(self, first: int, last: int) -> str:
        """The literal text of the lines `first` to `last`."""
        kept = (t for n, t in zip(self.numbers, self.texts, strict=True) if first <= n <= last)
        return literal("\n".join(kept))


def _lines(reader: Reader, document_id: int, number: int) -> _Lines:
    page = reader.page(document_id, number)
    numbers = indexed_lines(page) if page else []
    lines = split_lines(page.text) if page else []
    return _Lines(numbers, [lines[n - 1] for n in numbers])


# -- over several blocks -------------------------------------------------------------------


def _over_blocks(
    reader: Reader, pages: Iterable[tuple[int, int]], wanted: Sequence[str]
) -> set[int]:
    """The blocks in which every phrase begins or stands, of pages where one goes over blocks."""
    found: set[int] = set()
    for place in pages:
        page = _lines(reader, *place)
        if not any(_may_span(page, phrase) for phrase in wanted):
            continue
        text = literal("\n".join(page.texts))
        if all(phrase in text for phrase in wanted):
            blocks = reader.page_blocks(*place)
            found |= set.intersection(*(_held_by(page, blocks, phrase) for phrase in wanted))
    return found


def _may_span(page: _Lines, phrase: str) -> bool:
    """Whether the phrase may hold a line whole, with what stands above and below it.

    Over two lines it is inside a block, as blocks share a line.
    """
    inner = phrase[1:-1]
    return any(
        len(line) - line.count(" ") - _SHRINKS * line.count("第") <= len(inner)
        and literal(line) in inner
        for line in page.texts[1:-1]
    )


def _held_by(page: _Lines, blocks: Sequence[Block], phrase: str) -> set[int]:
    held = {b.id for b in blocks if phrase in page.between(b.line_start, b.line_end)}
    for first, last in _places(page, phrase):
        if not any(b.line_start <= first and last <= b.line_end for b in blocks):
            held.add([b.id for b in blocks if b.line_start <= first <= b.line_end][-1])
    return held


def _places(page: _Lines, phrase: str) -> Iterator[tuple[int, int]]:
    """First and last line of each place where a phrase stands, from top to bottom."""

    def held(first: int, end: int) -> bool:
        return phrase in literal("\n".join(page.texts[first:end]))

    top, count = 0, len(page.texts)
    while held(top, count):
        end = bisect_left(range(count), True, lo=top + 1, key=lambda end: held(top, end))
        top = next(first for first in range(end - 1, -1, -1) if held(first, end))
        yield page.numbers[top], page.numbers[end - 1]
        top += 1
