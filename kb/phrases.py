"""Words in quotes: matched literally, by their folded text, across line breaks inside a block."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kb.fusion import Ranked
from kb.text import fold, split_lines, tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from kb.catalog import Reader
    from kb.types import Block

MAX_CHECKED: Final = 5_000
"""Blocks that hold every word of a phrase, the best first, whose text is read for the phrase."""
_RAREST: Final = 12  # words of a phrase that the index is asked for

_QUOTED: Final = re.compile('「([^「」]+)」|『([^『』]+)』|“([^“”]+)”|"([^"]+)"|＂([^＂]+)＂')


def quoted(text: str) -> list[str]:
    """The phrases that stand in paired quotes and hold a word, in order."""
    groups = (next(filter(None, found.groups())) for found in _QUOTED.finditer(text))
    return [phrase.strip() for phrase in groups if tokens(phrase)]


def holding(
    reader: Reader, phrases: Sequence[str], documents: Collection[int] | None
) -> list[Ranked]:
    """The blocks that hold every phrase, best BM25 of the phrases' words first."""
    terms = dict.fromkeys(term for phrase in phrases for term in tokens(phrase))
    frequencies = reader.document_frequencies(terms)
    rarest = sorted(terms, key=lambda term: frequencies[term])[:_RAREST]
    found = reader.match_all(rarest, MAX_CHECKED, documents)
    wanted = [_literal(phrase) for phrase in phrases]
    texts = _texts(reader, [id_ for id_, _score in found])
    right = {id_ for id_, text in texts if all(phrase in text for phrase in wanted)}
    return [Ranked(id_, score) for id_, score in found if id_ in right]


def _literal(text: str) -> str:
    """Folded, with any white space as one space."""
    return " ".join(fold(text).split())


def _texts(reader: Reader, ids: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Each block's lines as phrases are looked for in them."""
    by_page: dict[tuple[int, int], list[Block]] = {}
    for block in reader.blocks(ids).values():
        by_page.setdefault((block.document_id, block.page), []).append(block)
    for place, blocks in by_page.items():
        page = reader.page(*place)
        lines = split_lines(page.text) if page else []
        for block in blocks:
            yield block.id, _literal("\n".join(lines[block.line_start - 1 : block.line_end]))
