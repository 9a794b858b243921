"""Is one metric closer to people than another? Williams' test, and swapping at random."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.clusters import rank_clusters
from assay.data import DataError
from assay.meta.coefficients import Coefficient
from assay.meta.grouping import By, Mask, grouped
from assay.meta.swapping import swapped_values
from assay.metrics.base import Array

__all__ = ["MetricComparison", "compare_metrics", "permutation_p", "williams"]

TRIALS = 1000
BLOCK = 2**21
"""Trials are worked off in blocks of about so many scores."""

SLACK = 1e-12
"""A difference that falls short of the observed one by this much still reaches it."""


def williams(first: float, second: float, between: float, n: int) -> float:
    """The two-sided p of two metrics correlating otherwise with people, by Williams' test.

    `first` and `second` are the metrics' correlations with people, `between` that of the two
    metrics with each other, all over the same `n` scores (Williams, 1959; Steiger, 1980), which
    are independent of each other: those of systems, not of many systems on many segments.

    >>> round(williams(0.9, 0.8, 0.7, 20), 4)
    0.1878
    """
    from scipy.special import stdtr

    if n < 4 or any(map(math.isnan, (first, second, between))):
        return math.nan
    k = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    mean = (first + second) / 2
    spread = 2 * k * (n - 1) / (n - 3) + mean**2 * (1 - between) ** 3
    if spread <= 0:
        return 1.0 if first == second else 0.0
    t = (first - second) * math.sqrt((n - 1) * (1 + between) / spread)
    return float(2 * stdtr(n - 3, -abs(t)))


def permutation_p(
    first: Array,
    second: Array,
    gold: Array,
    coefficient: Coefficient,
    *,
    by: By = "none",
    trials: int = TRIALS,
    rng: np.random.Generator,
) -> float:
    """The two-sided p of two metrics agreeing otherwise with people.

    In each trial the metrics' standardised (systems, items) scores change places at random, those
    of all systems on an item together, since they depend on each other; p is the share of trials,
    the observed one among them, with a difference at least as large either way.
    """
    if trials < 1:
        raise DataError(f"{trials} trials: give at least 1.")
    nothing = [np.zeros((1, *gold.shape), bool)]
    observed = swapped_values(first, second, gold, coefficient, by, nothing)[0]
    swaps = _swaps((len(gold), gold.shape[1]), trials, rng)
    values = swapped_values(first, second, gold, coefficient, by, swaps)
    delta = values[:, 0] - values[:, 1]
    if math.isnan(observed[0] - observed[1]):
        return math.nan
    reached = np.count_nonzero(np.abs(delta) >= abs(observed[0] - observed[1]) - SLACK)
    return float((reached + 1) / (trials + 1))


@dataclass(frozen=True, eq=False)
class MetricComparison:
    """Metrics set against each other.

    `p[i, j]` is the two-sided p of metric i, which is ahead, and metric j agreeing otherwise with
    people; `clusters` ranks the metrics, 1 for the best, where those that cannot be told apart
    share a rank.
    """

    metrics: tuple[str, ...]
    values: Array
    p: Array
    clusters: tuple[int, ...]


def compare_metrics(
    scores: Mapping[str, Array],
    gold: Array,
    coefficient: Coefficient,
    *,
    by: By = "none",
    trials: int = TRIALS,
    alpha: float = 0.05,
    rng: np.random.Generator,
) -> MetricComparison:
    """Every metric against every other; all pairs see the same swaps."""
    names = tuple(scores)
    human = grouped(gold, by)
    values = np.array(
        [float(coefficient.overall(grouped(each, by), human)) for each in scores.values()]
    )
    seed = int(rng.integers(2**63))
    p = np.full((len(names), len(names)), np.nan)
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            if i != j and values[i] >= values[j]:
                p[i, j] = permutation_p(
                    scores[first],
                    scores[second],
                    gold,
                    coefficient,
                    by=by,
                    trials=trials,
                    rng=np.random.default_rng(seed),
                )
    better = _better(p, alpha)
    return MetricComparison(names, values, p, tuple(rank_clusters(values, better | better.T)))


def _better(p: Array, alpha: float) -> NDArray[np.bool_]:
    return np.asarray(np.where(np.isnan(p), 1.0, p) < alpha)


def _swaps(shape: tuple[int, int], trials: int, rng: np.random.Generator) -> Iterator[Mask]:
    """Random masks, a block of trials at a time; the blocks do not change what is drawn.

    All systems change places together on an item; where there is one item only, each by itself.
    """
    drawn = shape if shape[1] == 1 else (1, shape[1])
    step = max(1, BLOCK // max(1, math.prod(shape)))
    for at in range(0, trials, step):
        count = min(step, trials - at)
        yield np.broadcast_to(rng.random((count, *drawn)) < 0.5, (count, *shape))
