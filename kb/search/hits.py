"""Fused candidates → hits: the shown range grows to its neighbours, never shown twice."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kb.messages import tr
from kb.model import Citation, Hit, Line
from kb.text.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kb.catalog import Reader
    from kb.model import Block, Document, Page
    from kb.search.fusion import Fused

HIT_OVERHEAD: Final = 120
"""Characters that a hit's heading and fence add to its lines."""
_AT_ONCE: Final = 30
LINE_OVERHEAD: Final = 8
"""Characters that a number, its separator and a line end add to a shown line."""


@dataclass(slots=True, eq=False)
class _Range:
    """A hit in the making: the matched lines, and the lines shown around them."""

    best: Fused
    block: Block
    document: Document
    page: Page
    start: int
    end: int
    matched: list[tuple[int, int]] = field(default_factory=list)

    @property
    def place(self) -> tuple[int, int]:
        return self.block.document_id, self.block.page


def build_hits(
    reader: Reader, fused: Sequence[Fused], top_k: int, max_chars: int, *, spread: bool = True
) -> tuple[list[Hit], int]:
    """Up to `top_k` hits, best first, and how many were left out to stay within `max_chars`.

    Blocks of one page that touch become one hit. With `spread` a document gives at most two thirds
    of the hits while others have any. Each hit is shown with the block before and
    after it as far as the budget reaches, the best hits first; those that touch then become one.
    """
    cap = max(1, top_k * 2 // 3) if spread else top_k
    wanted = top_k
    while True:
        ranges = _merged(reader, fused, wanted, cap)
        kept, left = _within(ranges, max_chars)
        for hit in kept:
            left = _grow(reader, hit, kept, left)
        shown = _joined(kept)
        left_out = len(ranges) - len(kept)
        if left_out or len(ranges) < wanted or len(shown) >= top_k:
            return [_hit(hit) for hit in shown], left_out
        wanted += top_k - len(shown)


def _merged(reader: Reader, fused: Sequence[Fused], top_k: int, cap: int) -> list[_Range]:
    """The first `top_k` ranges that do not touch, each as wide as the candidates it took in.

    A document gives at most `cap` of them while others have any.
    """
    kept: list[_Range] = []
    spare: list[_Range] = []
    for candidate in _ranges(reader, fused):
        if _absorbed(kept, candidate) or _absorbed(spare, candidate):
            continue
        if len(kept) == top_k:
            break
        same = sum(r.document.id == candidate.document.id for r in kept)
        (spare if same >= cap else kept).append(candidate)
    for candidate in spare:
        if len(kept) < top_k and not _absorbed(kept, candidate):
            kept.append(candidate)
    return sorted(kept, key=lambda r: -r.best.score)


def _absorbed(ranges: list[_Range], candidate: _Range) -> bool:
    """Join a candidate to the ranges it touches; one that closes a gap joins those on both sides.

    The best of them takes it, and is the one that stays.
    """
    touching = [r for r in ranges if _touch(r, candidate)]
    for other in (candidate, *touching[1:]) if touching else ():
        _join(touching[0], other)
    for gone in touching[1:]:
        ranges.remove(gone)
    return bool(touching)


def _joined(ranges: Sequence[_Range]) -> list[_Range]:
    """The same, best first, with those that touch as one."""
    kept: list[_Range] = []
    for each in ranges:
        if not _absorbed(kept, each):
            kept.append(each)
    return kept


def _join(one: _Range, other: _Range) -> None:
    one.start = min(one.start, other.start)
    one.end = max(one.end, other.end)
    one.matched += other.matched


def _ranges(reader: Reader, fused: Sequence[Fused]) -> Iterator[_Range]:
    """Candidates that exist in the reader's view, with their document and page.

    Read by and by: the first few are mostly enough.
    """
    pages: dict[tuple[int, int], Page | None] = {}
    for start in range(0, len(fused), _AT_ONCE):
        part = fused[start : start + _AT_ONCE]
        blocks = reader.blocks([hit.id for hit in part])
        documents = reader.documents({block.document_id for block in blocks.values()})
        for hit in part:
            block = blocks.get(hit.id)
            document = documents.get(block.document_id) if block else None
            if block is None or document is None:
                continue
            place = block.document_id, block.page
            if place not in pages:
                pages[place] = reader.page(*place)
            page = pages[place]
            if page:
                span = block.line_start, block.line_end
                yield _Range(hit, block, document, page, *span, [span])


def _touch(one: _Range, other: _Range) -> bool:
    return one.place == other.place and (one.start <= other.end + 1 and other.start <= one.end + 1)


def _within(ranges: Sequence[_Range], max_chars: int) -> tuple[list[_Range], int]:
    """The ranges whose matched lines fit, in order, and the characters left over.

    The first is always kept, cut on a whole line if it must be.
    """
    left = max_chars
    kept: list[_Range] = []
    for hit in ranges:
        lines = split_lines(hit.page.text)
        if not kept:
            hit.end = _last_fitting(lines, hit.start, hit.end, left - HIT_OVERHEAD)
        cost = HIT_OVERHEAD + _cost(lines, hit.start, hit.end)
        if kept and cost > left:
            break
        kept.append(hit)
        left -= cost
    return kept, left


def _last_fitting(lines: Sequence[str], start: int, end: int, budget: int) -> int:
    last = start
    while last < end and _cost(lines, start, last + 1) <= budget:
        last += 1
    return last


def _cost(lines: Sequence[str], start: int, end: int) -> int:
    """Characters of the numbered lines `start` to `end`; 0 for an empty range."""
    return sum(len(line) + LINE_OVERHEAD for line in lines[start - 1 : end] if end >= start)


def _grow(reader: Reader, hit: _Range, kept: Sequence[_Range], left: int) -> int:
    """Show the neighbouring blocks too, where no other hit shows them and they fit."""
    blocks = reader.page_blocks(*hit.place)
    before = [b for b in blocks if b.line_start < hit.start <= b.line_end + 1]
    after = [b for b in blocks if b.line_start - 1 <= hit.end < b.line_end]
    others = [r for r in kept if r is not hit and r.place == hit.place]
    start = before[0].line_start if before else hit.start
    end = after[-1].line_end if after else hit.end
    start = max([start, *(r.end + 1 for r in others if r.end < hit.start)])
    end = min([end, *(r.start - 1 for r in others if r.start > hit.end)])
    lines = split_lines(hit.page.text)
    above, below = _cost(lines, start, hit.start - 1), _cost(lines, hit.end + 1, end)
    if above <= left:
        hit.start, left = start, left - above
    if below <= left:
        hit.end, left = end, left - below
    return left


def _hit(hit: _Range) -> Hit:
    lines = split_lines(hit.page.text)[hit.start - 1 : hit.end]
    return Hit(
        citation=_citation(hit, lines),
        page_kind=hit.page.kind,
        page_label=hit.page.label,
        lines=tuple(
            Line(number, text, any(a <= number <= b for a, b in hit.matched))
            for number, text in enumerate(lines, hit.start)
        ),
        score=hit.best.score,
        relevance=hit.best.relevance,
        dense_rank=hit.best.dense_rank,
        sparse_rank=hit.best.sparse_rank,
        dense_score=hit.best.dense_score,
        sparse_score=hit.best.sparse_score,
        ocr=hit.page.ocr,
    )


def _citation(hit: _Range, lines: Sequence[str]) -> Citation:
    place = {
        "source": hit.document.source,
        "page": hit.block.page,
        "line_start": hit.start,
        "line_end": hit.end,
    }
    return Citation(
        source=hit.document.source,
        version=hit.document.version,
        page=hit.block.page,
        line_start=hit.start,
        line_end=hit.end,
        heading_path=hit.block.heading_path,
        digest=hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()[:16],
        label=tr("citation.one" if hit.start == hit.end else "citation", **place),
    )
