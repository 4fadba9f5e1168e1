"""Figures over questions: hits by rank, nDCG, AUC, intervals by bootstrap. Pure."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RESAMPLES: Final = 2_000
_SEED: Final = 20_260_101
_LOSS: Final = 0.03


def share_within(ranks: Sequence[int], k: int) -> float:
    """Per cent of questions whose first right hit stands within the first `k`."""
    return 100 * float(np.mean([0 < rank <= k for rank in ranks]))


def reciprocal_rank(ranks: Sequence[int]) -> float:
    """MRR in per cent."""
    return 100 * float(np.mean([1 / rank if rank else 0.0 for rank in ranks]))


def ndcg(gains: Sequence[int], answers: int, k: int = 10) -> float:
    """nDCG@k in 0-1: a hit's gain is 1 if it is the first to touch an answer; ideal: all on top."""
    gained = sum(1 / log2(rank + 1) for rank, gain in enumerate(gains[:k], 1) if gain)
    return gained / sum(1 / log2(rank + 1) for rank in range(1, min(answers, k) + 1))


def auc(yes: Sequence[float], no: Sequence[float]) -> float:
    """How often a value of `yes` is above one of `no`, ties half."""
    values = np.concatenate([yes, no])
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    above = float(ranks[: len(yes)].sum()) - len(yes) * (len(yes) + 1) / 2
    return above / (len(yes) * len(no))


def accepted_at_loss(right: Sequence[float], no: Sequence[float], loss: float = _LOSS) -> float:
    """Per cent of `no` still accepted by the threshold that loses the share `loss` of `right`."""
    return 100 * float(np.mean(np.asarray(no) >= np.quantile(right, loss)))


def interval(values: Sequence[float]) -> tuple[float, float]:
    """95 % interval of a mean, by bootstrap over questions."""
    return _interval(values, lambda sample: sample.mean(axis=1))


def paired_interval(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """95 % interval of the mean difference, the same questions drawn for both."""
    return interval(list(np.asarray(ours, float) - np.asarray(theirs, float)))


def _interval(
    values: Sequence[float], statistic: Callable[[Floats], Floats]
) -> tuple[float, float]:
    data = np.asarray(values, float)
    draws = np.random.default_rng(_SEED).integers(0, len(data), (RESAMPLES, len(data)))
    low, high = np.percentile(statistic(data[draws]), [2.5, 97.5])
    return float(low), float(high)


def percentile(seconds: Sequence[float], share: float) -> float:
    """In milliseconds."""
    return 1e3 * float(np.quantile(seconds, share))
