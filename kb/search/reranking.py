"""A second look at the first candidates: a cross-encoder reads each with the question.

It is loaded in a thread of its own and asked only once it is there: no question waits for it.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Final

from kb.errors import KbError, RerankingFailed
from kb.messages import tr
from kb.text.blocks import indexed_lines, indexed_text
from kb.text.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kb.catalog import Reader
    from kb.model import Block, Page
    from kb.ports import Reranker
    from kb.search.fusion import Fused

BUDGET_SECONDS: Final = 2.0
"""What a question may take longer for it."""
CANDIDATES: Final = 30
"""Candidates, the first of the usual order, that it may read."""
PASSAGE_CHARS: Final = 400
"""Neighbouring lines join a block while title, headings and lines stay within this. The time of a
pair grows with its length, and every pair more within the budget is worth more than context."""

_LOG: Final = logging.getLogger(__name__)


class Reranking:
    """The reranker that `load` gives, and its state: not begun, loading, ready or failed.

    Whoever comes first has it loaded; `load` is called once and runs in a thread. `clock` counts
    seconds as `Reranker.score` has them.
    """

    def __init__(
        self, load: Callable[[], Reranker], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._load = load
        self._clock = clock
        self._thread = threading.Thread(target=self._run, name="reranker", daemon=True)
        self._begun = False
        self._lock = threading.Lock()
        self._engine: Reranker | None = None
        self._failure: KbError | None = None

    def start(self) -> None:
        """Begin to load, unless somebody has. Returns at once."""
        with self._lock:
            if not self._begun:
                self._thread.start()
                self._begun = True

    def wait(self) -> Reranker:
        """The reranker, waited for. Raises RerankingFailed, or what else kept it from loading."""
        self.start()
        self._thread.join()
        if self._engine is None:
            raise self._failure or RerankingFailed("")
        return self._engine

    def order(
        self, reader: Reader, question: str, found: Sequence[Fused]
    ) -> tuple[list[Fused], list[str]]:
        """`found` (best first) as the reranker has it, and what must be said.

        The usual order while it loads, after it failed, and where it is too slow for two passages.
        """
        self.start()
        if len(found) < 2:  # noqa: PLR2004 - one alone has no order
            return list(found), []
        if self._failure:
            return list(found), [tr("rerank.failed", reason=self._failure)]
        if self._engine is None:
            return list(found), [tr("rerank.loading")]
        try:
            deadline = self._clock() + BUDGET_SECONDS
            ordered, reached = reordered(reader, question, found, self._engine, deadline)
        except Exception as error:
            _LOG.debug("reranker", exc_info=True)  # the notice says it in every answer
            return list(found), [tr("rerank.failed", reason=_told(error))]
        slow = [tr("rerank.slow", seconds=BUDGET_SECONDS)] if reached < 2 else []  # noqa: PLR2004
        return ordered, slow

    def _run(self) -> None:
        try:
            self._engine = self._load()
        except Exception as error:
            _LOG.debug("reranker", exc_info=True)
            self._failure = _told(error)


def _told(error: Exception) -> KbError:
    if isinstance(error, KbError):
        return error
    return RerankingFailed(f"{type(error).__name__}: {error}")


def reordered(
    reader: Reader, question: str, found: Sequence[Fused], engine: Reranker, deadline: float
) -> tuple[list[Fused], int]:
    """`found` (best first), what was reached by `deadline` in the engine's order.

    The reached are a beginning of the list: the others stay below all of them, in their old order.
    Scores stay with the places, so they fall from hit to hit; relevance stays with its candidate.
    Also returns how many were reached.
    """
    first = found[:CANDIDATES]
    scores = engine.score(question, passages(reader, first), deadline)
    reached = first[: len(scores)]
    best = sorted(range(len(reached)), key=lambda i: -scores[i])
    moved = [replace(reached[i], score=place.score) for i, place in zip(best, reached, strict=True)]
    return [*moved, *found[len(reached) :]], len(reached)


# -- what it reads -------------------------------------------------------------------------


def passages(reader: Reader, found: Sequence[Fused]) -> list[str]:
    """One text a candidate, as `passage` makes it; empty for one that is not there any more."""
    blocks = reader.blocks([hit.id for hit in found])
    documents = reader.documents({block.document_id for block in blocks.values()})
    pages: dict[tuple[int, int], Page | None] = {}
    texts = []
    for hit in found:
        block = blocks.get(hit.id)
        document = documents.get(block.document_id) if block else None
        if block is None or document is None:
            texts.append("")
            continue
        place = block.document_id, block.page
        if place not in pages:
            pages[place] = reader.page(*place)
        page = pages[place]
        texts.append(passage(document.title, block, page) if page else "")
    return texts


def passage(title: str, block: Block, page: Page) -> str:
    """What is indexed for a block (title, headings, lines), and its neighbours as far as they fit.

    Whole lines in turn, the next below and the next above, within `PASSAGE_CHARS`.
    """
    lines, numbers = split_lines(page.text), indexed_lines(page)
    below = [n for n in numbers if n > block.line_end]
    above = [n for n in reversed(numbers) if n < block.line_start]
    left = PASSAGE_CHARS - len(indexed_text(title, block, page))
    start, end = block.line_start, block.line_end
    for number in filter(None, chain.from_iterable(zip_longest(below, above))):
        left -= len(lines[number - 1]) + 1
        if left < 0:
            break
        start, end = min(start, number), max(end, number)
    return indexed_text(title, replace(block, line_start=start, line_end=end), page)
