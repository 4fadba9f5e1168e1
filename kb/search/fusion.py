"""Two ranked lists as one: reciprocal ranks, or standardised scores. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

RRF_K: Final = 60
"""The constant of Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet
and individual Rank Learning Methods", SIGIR 2009."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One candidate of one engine, best first in its list. Higher `score` is better."""

    id: int
    score: float


@dataclass(frozen=True, slots=True)
class Fused:
    """A candidate of the fused list.

    Ranks count from 1; a rank and the engine's own score (cosine, BM25) are None where it did not
    list the candidate. One found by centred vectors only has its cosine, but no rank. `relevance`
    is 0-1, 0 until somebody has judged it.
    """

    id: int
    score: float
    dense_rank: int | None = None
    sparse_rank: int | None = None
    dense_score: float | None = None
    sparse_score: float | None = None
    relevance: float = 0.0


def reciprocal_rank_fusion(
    dense: Sequence[Ranked], sparse: Sequence[Ranked], k: int = RRF_K
) -> list[Fused]:
    """Both lists as one, best first: score = Σ 1 / (k + rank), ranks from 1.

    Ties go to the better keyword rank, then to the smaller id.
    """
    scores: dict[int, float] = {}
    for ranked in (dense, sparse):
        for rank, hit in enumerate(ranked, 1):
            scores[hit.id] = scores.get(hit.id, 0.0) + 1.0 / (k + rank)
    return _fused(scores, dense, sparse)


def convex_combination(
    dense: Sequence[Ranked],
    sparse: Sequence[Ranked],
    *,
    share: float,
    depth: int,
    unknown: Collection[int] = (),
) -> list[Fused]:
    """Both lists as one, best first: score = share · dense + (1 - share) · sparse, standardised.

    A keyword list of fewer than `depth` is complete: every other block scores 0 in it. A candidate
    that one engine did not list counts there as its weakest; one of those whose vector is `unknown`
    as its keywords have it. An empty list has no say.
    """
    of_dense, low_dense = deviations(dense, len(dense))
    of_sparse, low_sparse = deviations(sparse, depth)
    if not dense or not sparse:
        share = float(bool(dense))
    of_dense |= {id_: of_sparse[id_] for id_ in unknown}
    scores = {
        id_: share * of_dense.get(id_, low_dense) + (1 - share) * of_sparse.get(id_, low_sparse)
        for id_ in {**of_dense, **of_sparse}
    }
    return _fused(scores, dense, sparse)


def deviations(ranked: Sequence[Ranked], size: int) -> tuple[dict[int, float], float]:
    """How many standard deviations each stands above the mean, and how many the weakest does.

    Both by the scores of the list itself. A list shorter than `size` is filled up with zeros.
    """
    if not ranked:
        return {}, 0.0
    scores = [hit.score for hit in ranked] + [0.0] * (size - len(ranked))
    mean = sum(scores) / len(scores)
    deviation = sqrt(sum((score - mean) ** 2 for score in scores) / len(scores)) or 1.0
    standing = {hit.id: (hit.score - mean) / deviation for hit in ranked}
    return standing, (min(scores) - mean) / deviation


def _fused(
    scores: Mapping[int, float], dense: Sequence[Ranked], sparse: Sequence[Ranked]
) -> list[Fused]:
    of_dense = {hit.id: (rank, hit.score) for rank, hit in enumerate(dense, 1)}
    of_sparse = {hit.id: (rank, hit.score) for rank, hit in enumerate(sparse, 1)}
    nowhere = (None, None)
    fused = []
    for id_, score in scores.items():
        dense_rank, cosine = of_dense.get(id_, nowhere)
        sparse_rank, bm25 = of_sparse.get(id_, nowhere)
        fused.append(Fused(id_, score, dense_rank, sparse_rank, cosine, bm25))
    return sorted(fused, key=lambda hit: (-hit.score, hit.sparse_rank or len(fused) + 1, hit.id))
