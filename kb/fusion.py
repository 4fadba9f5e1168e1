"""Reciprocal rank fusion and relevance. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    """A candidate of the fused list. Ranks count from 1, None where an engine did not list it."""

    id: int
    score: float
    relevance: float
    dense_rank: int | None
    sparse_rank: int | None


def reciprocal_rank_fusion(
    dense: Sequence[Ranked], sparse: Sequence[Ranked], k: int = RRF_K
) -> list[Fused]:
    """Both lists as one, best first: score = Σ 1 / (k + rank), ranks from 1.

    Ties go to the better keyword rank, then to the smaller id. Each list's own `score` is taken
    as its candidate's relevance in 0-1, and the better of the two becomes the fused relevance.
    """
    dense_ranks = {hit.id: rank for rank, hit in enumerate(dense, 1)}
    sparse_ranks = {hit.id: rank for rank, hit in enumerate(sparse, 1)}
    relevance = _relevance(dense, sparse)
    fused = [
        Fused(
            id_,
            _reciprocal(dense_ranks.get(id_), k) + _reciprocal(sparse_ranks.get(id_), k),
            relevance[id_],
            dense_ranks.get(id_),
            sparse_ranks.get(id_),
        )
        for id_ in relevance
    ]
    return sorted(fused, key=lambda hit: (-hit.score, hit.sparse_rank or len(fused) + 1, hit.id))


def _reciprocal(rank: int | None, k: int) -> float:
    return 0.0 if rank is None else 1.0 / (k + rank)


def _relevance(dense: Sequence[Ranked], sparse: Sequence[Ranked]) -> dict[int, float]:
    best: dict[int, float] = {}
    for hit in (*dense, *sparse):
        best[hit.id] = max(best.get(hit.id, 0.0), min(1.0, max(0.0, hit.score)))
    return best
