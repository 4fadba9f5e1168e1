"""Which texts share a run, as properties."""

from hypothesis import given
from hypothesis import strategies as st

from kb.embedding.running import by_length

SIZES = st.lists(st.integers(0, 60), max_size=60)


@given(SIZES, st.integers(1, 100), st.integers(1, 12))
def test_every_place_is_in_one_batch_and_every_batch_is_bounded(sizes, most, items):
    batches = list(by_length(sizes, most, items))
    assert sorted(place for batch in batches for place in batch) == list(range(len(sizes)))
    for batch in batches:
        assert 1 <= len(batch) <= items
        assert len(batch) == 1 or len(batch) * sizes[batch[0]] <= most


@given(SIZES, st.integers(1, 100), st.integers(1, 12))
def test_batches_go_from_the_largest_to_the_smallest(sizes, most, items):
    found = [sizes[place] for batch in by_length(sizes, most, items) for place in batch]
    assert found == sorted(sizes, reverse=True)


@given(SIZES)
def test_equal_sizes_stay_in_their_order(sizes):
    order = [place for batch in by_length(sizes, 10**9, 10**9) for place in batch]
    assert order == sorted(range(len(sizes)), key=lambda place: (-sizes[place], place))
