"""Retrieval sets: a folder with `docs/*.txt` and `qrels.jsonl`, and what counts as found.

`qrels.jsonl` has one question a line: `qid`, `query`, `answers` (source, page, line_start,
line_end; 1-based, inclusive) and `kind`: `span` marks the lines that hold the answer, `passage` the
lines of the right passage. A field `text_…` is the same question in another language.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kb.model import Hit


class Span(NamedTuple):
    """Lines of a page, 1-based and inclusive."""

    source: str
    page: int
    line_start: int
    line_end: int

    def overlaps(self, other: Span) -> bool:
        """Whether they share a line."""
        same = (self.source, self.page) == (other.source, other.page)
        return same and self.line_start <= other.line_end and other.line_start <= self.line_end

    def holds(self, other: Span) -> bool:
        """Whether `other` lies within."""
        same = (self.source, self.page) == (other.source, other.page)
        return same and self.line_start <= other.line_start and other.line_end <= self.line_end


@dataclass(frozen=True, slots=True)
class Question:
    """A human's question and every range that answers it."""

    id: str
    text: str
    answers: tuple[Span, ...]
    kind: str = ""


def load_questions(folder: Path, field: str = "query") -> list[Question]:
    """The questions of a set that have `field` (`text_zh`: the same question in Chinese)."""
    return [
        Question(
            row["qid"],
            row[field].strip(),
            tuple(Span(**answer) for answer in row["answers"]),
            row.get("kind", ""),
        )
        for row in _rows(folder)
        if row.get(field)
    ]


def question_fields(folder: Path) -> list[str]:
    """The fields that questions of a set are asked in: `query`, then each `text_…`."""
    others = {key for row in _rows(folder) for key in row if key.startswith("text_")}
    return ["query", *sorted(others)]


def _rows(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "qrels.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line.strip()]


def matched(hit: Hit) -> list[Span]:
    """The matched lines of a hit, one span a line; what it shows around them does not count."""
    place = hit.citation
    return [Span(place.source, place.page, n.line, n.line) for n in hit.lines if n.match]


def shown(hit: Hit) -> Span:
    """Everything that a hit shows."""
    place = hit.citation
    return Span(place.source, place.page, place.line_start, place.line_end)


def gains(found: Sequence[Sequence[Span]], answers: Sequence[Span]) -> list[int]:
    """Of each hit, given as spans, how many answers it is the first to touch."""
    left = set(answers)
    counts = []
    for spans in found:
        touched = {answer for answer in left if any(span.overlaps(answer) for span in spans)}
        left -= touched
        counts.append(len(touched))
    return counts


def first_right(found: Sequence[Sequence[Span]], answers: Sequence[Span]) -> int:
    """Rank (from 1) of the first that touches an answer; 0 for none."""
    return next((rank for rank, gain in enumerate(gains(found, answers), 1) if gain), 0)
