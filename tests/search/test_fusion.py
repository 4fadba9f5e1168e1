from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.search.fusion import RRF_K, Ranked, convex_combination, reciprocal_rank_fusion

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
        assert hit.relevance == 0
    assert [h.score for h in fused] == sorted((h.score for h in fused), reverse=True)


@given(ids)
def test_one_list_alone_keeps_its_order(order: list[int]) -> None:
    assert [h.id for h in reciprocal_rank_fusion([], ranked(order))] == order


def test_what_both_engines_find_comes_before_what_one_finds_at_the_same_rank() -> None:
    fused = reciprocal_rank_fusion(ranked([1, 2]), ranked([3, 2]))
    assert fused[0].id == 2


def test_a_lone_keyword_hit_outweighs_what_is_merely_near() -> None:
    near = [Ranked(id_, 0.9 - id_ / 1000) for id_ in range(1, 101)]
    fused = convex_combination(near, [Ranked(90, 7.0)], share=0.5, depth=100)
    assert fused[0].id == 90
    assert (fused[0].dense_rank, fused[0].sparse_rank, fused[0].sparse_score) == (90, 1, 7.0)


@given(ids, st.floats(0.1, 10), st.floats(-5, 5))
def test_scale_and_offset_of_an_engines_scores_do_not_matter(
    order: list[int], scale: float, offset: float
) -> None:
    one = ranked(order)
    other = [Ranked(hit.id, hit.score * scale + offset) for hit in one]
    sparse = ranked(order[::-1])
    fused = convex_combination(one, sparse, share=0.5, depth=20)
    again = {h.id: h.score for h in convex_combination(other, sparse, share=0.5, depth=20)}
    assert all(hit.score == pytest.approx(again[hit.id], abs=1e-6) for hit in fused)


@given(ids)
def test_an_empty_list_has_no_say(order: list[int]) -> None:
    fused = convex_combination([], ranked(order), share=0.5, depth=100)
    assert [hit.id for hit in fused] == order


def test_what_has_no_vector_yet_stands_as_its_keywords_have_it() -> None:
    dense = [Ranked(1, 0.9), Ranked(2, 0.8), Ranked(3, 0.7)]
    sparse = [Ranked(7, 6.0), Ranked(1, 5.0), Ranked(2, 1.0)]
    assert convex_combination(dense, sparse, share=0.5, depth=100)[0].id == 1
    fused = convex_combination(dense, sparse, share=0.5, depth=100, unknown={7})
    assert fused[0].id == 7
    assert fused[0].dense_rank is None
    assert fused[0].dense_score is None
