"""Which texts share a run or a request: those of like length, for all are padded to the longest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def by_length(sizes: Sequence[int], most: int, items: int) -> Iterator[list[int]]:
    """The places of `sizes` in batches of like size, largest first.

    A batch has at most `items` places and, each counted as large as its largest, at most `most` in
    all, for that is what it costs once padded; what is larger than `most` is alone.
    """
    batch: list[int] = []
    for place in sorted(range(len(sizes)), key=lambda place: -sizes[place]):
        if batch and (len(batch) == items or (len(batch) + 1) * sizes[batch[0]] > most):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
