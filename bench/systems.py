"""The systems that are compared, as named configurations over the blocks of one index."""

from __future__ import annotations

import re
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kb.search import locate, reranking
from kb.search.fusion import Fused, Ranked, reciprocal_rank_fusion
from kb.search.ranking import CONVEX, DEFAULT, DEPTH, RRF, Near, Ranking, make_question, order
from kb.text.tokens import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from kb.app import Project
    from kb.catalog import Reader
    from kb.ports import Embedder, Reranker

PRODUCT: Final = "product"
OURS: Final = ("BM25", "vectors", RRF.name, CONVEX.name, PRODUCT)
"""Over the product's own two engines; the only ones measured without their right document."""
REFERENCES: Final = ("rank_bm25 bigrams", "rank_bm25 jieba", "seed recipe")
SYSTEMS: Final = (*REFERENCES, *OURS)
RERANKED: Final = "product + reranker"
"""Only where KB_RERANKER names a model: within the product's budget, so that times matter twice."""
MEANING: Final = {
    "rank_bm25 bigrams": "rank_bm25 (Okapi, its defaults) over bigrams of Han, words otherwise",
    "rank_bm25 jieba": "rank_bm25 over jieba's words",
    "seed recipe": "bigram BM25 + vectors, RRF k = 60, ranks from 0",
    "BM25": "the product's keywords alone: unigrams + bigrams in FTS5",
    "vectors": "the product's vectors alone",
    RRF.name: "both engines by reciprocal ranks, k = 60, ranks from 1",
    CONVEX.name: "both engines by standardised scores, half and half",
    PRODUCT: "convex + 3 · share of the question's words (idf) within 5 lines of the block"
    " + 2 · share of its runs of three characters inside it",
    RERANKED: "the product's first 30 by KB_RERANKER's cross-encoder, as many as 2 s allow",
}
_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Said:
    """What a system says to one question: all its candidates, and the seconds it took."""

    fused: Sequence[Fused]
    seconds: float


class Bench:
    """One index in one view, with the engines' answers to a question computed once."""

    def __init__(
        self,
        shard: Project,
        reader: Reader,
        embedder: Embedder | None,
        reranker: Reranker | None = None,
    ) -> None:
        self._shard = shard
        self.reader = reader
        self._embedder = embedder
        self._reranker = reranker
        self._references: dict[str, _Reference] = {}
        self._key: Any = None
        self._kept: dict[str, tuple[Any, float]] = {}

    def ask(self, name: str, text: str, documents: Collection[int] | None = None) -> Said:
        """The system called `name`; `documents` restricts its engines."""
        if name in REFERENCES:
            fused, seconds = _timed(lambda: self._reference(name, text))
            return Said(fused, seconds)
        key = (text, documents)
        if self._key != key:
            self._key, self._kept = key, {}
        question, a = self._once("question", lambda: make_question(self.reader, text))
        sparse: Sequence[Ranked] = []
        near, b, c = Near(), 0.0, 0.0
        if name != "vectors":
            sparse, b = self._once(
                "sparse", lambda: locate.keywords(self.reader, question, documents)
            )
        if name != "BM25" and self._embedder:
            near, c = self._once("near", lambda: self._near(text, documents))
        ranking = _RANKINGS[name]
        fused, d = _timed(lambda: order(self.reader, question, near, sparse, ranking))
        if name == RERANKED:
            fused, e = _timed(lambda: self._reranked(text, fused))
            return Said(fused, a + b + c + d + e)
        return Said(fused, a + b + c + d)

    def _reranked(self, text: str, fused: Sequence[Fused]) -> Sequence[Fused]:
        assert self._reranker
        deadline = time.monotonic() + reranking.BUDGET_SECONDS
        return reranking.reordered(self.reader, text, fused, self._reranker, deadline)[0]

    def _near(self, text: str, documents: Collection[int] | None) -> Near:
        engine = self._embedder
        assert engine
        vector = engine.embed_query(text)
        return locate.nearest(
            self.reader, lambda: (vector, ()), documents, lambda: self._shard.dense
        )

    def _once(self, what: str, work: Callable[[], Any]) -> tuple[Any, float]:
        if what not in self._kept:
            self._kept[what] = _timed(work)
        return self._kept[what]

    def _reference(self, name: str, text: str) -> Sequence[Fused]:
        if name != "seed recipe":
            return reciprocal_rank_fusion([], self._words(name).rank(text))
        near = self._near(text, None).ranked if self._embedder else []
        return reciprocal_rank_fusion(near, self._words("rank_bm25 bigrams").rank(text), k=59)

    def _words(self, name: str) -> _Reference:
        if name not in self._references:
            cut = _jieba if name.endswith("jieba") else bigrams
            self._references[name] = _Reference(self.reader, cut)
        return self._references[name]


class _Reference:
    """rank_bm25 over the text that the product indexes for its blocks."""

    def __init__(self, reader: Reader, cut: Callable[[str], list[str]]) -> None:
        from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]

        texts = [pair for d in reader.documents().values() for pair in reader.indexed_texts(d)]
        self._ids = [id_ for id_, _text in texts]
        self._cut = cut
        self._index = BM25Okapi([cut(text) for _id, text in texts])

    def rank(self, text: str) -> list[Ranked]:
        scores = self._index.get_scores(self._cut(text))
        best = np.argsort(-scores, kind="stable")[:DEPTH]
        return [Ranked(self._ids[i], float(scores[i])) for i in best if scores[i] > 0]


def bigrams(text: str) -> list[str]:
    """Pairs of neighbouring Han characters (one alone is itself) and words of other scripts."""
    found: list[str] = []
    for run in _WORD.findall(fold(text)):
        if run.isascii():
            found.append(run)
        else:
            found += [run[i : i + 2] for i in range(max(1, len(run) - 1))]
    return found


def _jieba(text: str) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its regular expressions are older than Python's rules
        import jieba  # type: ignore[import-untyped]

    jieba.setLogLevel("ERROR")
    return [word for word in jieba.lcut(fold(text)) if _WORD.search(word)]


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    value = work()
    return value, time.perf_counter() - started


_RANKINGS: Final[dict[str, Ranking]] = {
    "BM25": CONVEX,
    "vectors": CONVEX,
    RRF.name: RRF,
    CONVEX.name: CONVEX,
    PRODUCT: DEFAULT,
    RERANKED: DEFAULT,
}
