from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.fusion import RRF_K, Ranked, reciprocal_rank_fusion

ids = st.lists(st.integers(1, 30), unique=True, max_size=20)


def ranked(order: list[int]) -> list[Ranked]:
    return [Ranked(id_, 1 / rank) for rank, id_ in enumerate(order, 1)]


@given(ids, ids)
def test_scores_are_the_formula_and_sorted(dense: list[int], sparse: list[int]) -> None:
    fused = reciprocal_rank_fusion(ranked(dense), ranked(sparse))
    assert {hit.id for hit in fused} == set(dense) | set(sparse)
    for hit in fused:
        ranks = [r.index(hit.id) + 1 for r in (dense, sparse) if hit.id in r]
        assert hit.score == pytest.approx(sum(1 / (RRF_K + rank) for rank in ranks))
        assert hit.dense_rank == (dense.index(hit.id) + 1 if hit.id in dense else None)
        assert hit.sparse_rank == (sparse.index(hit.id) + 1 if hit.id in sparse else None)
        assert 0 <= hit.relevance <= 1
    assert [h.score for h in fused] == sorted((h.score for h in fused), reverse=True)


@given(ids)
def test_one_list_alone_keeps_its_order(order: list[int]) -> None:
    assert [h.id for h in reciprocal_rank_fusion([], ranked(order))] == order


def test_what_both_engines_find_comes_before_what_one_finds_at_the_same_rank() -> None:
    fused = reciprocal_rank_fusion(ranked([1, 2]), ranked([3, 2]))
    assert fused[0].id == 2
