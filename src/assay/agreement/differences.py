"""Is one metric closer to people than another? Williams' test, and swapping at random."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from assay.agreement.coefficients import AccuracyWithTies, Coefficient, gains, right
from assay.statistics.arrays import Array
from assay.statistics.comparisons import rank_clusters
from assay.statistics.correlation import (
    By,
    Mask,
    commonly_known,
    differences,
    grouped,
    pearson_rows,
    swap_test,
    swapped_values,
)

__all__ = [
    "MetricComparison",
    "compare_metrics",
    "permutation_p",
    "williams",
    "williams_of_all",
]


TRIALS = 1000


def williams(first: float, second: float, between: float, n: int) -> float:
    """The two-sided p of two metrics correlating differently with people, by Williams' test.

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


def williams_of_all(metrics: Sequence[Array], human: Array) -> Array:
    """Williams' p of every metric against every other, over what all three have scored."""
    p = np.full((len(metrics), len(metrics)), np.nan)
    for i, first in enumerate(metrics):
        for j, second in enumerate(metrics):
            if i != j:
                three = np.stack([first, second, human]).reshape(3, -1)
                a, b, people = three[:, ~np.isnan(three).any(axis=0)]
                ours, theirs = float(pearson_rows(a, people)), float(pearson_rows(b, people))
                p[i, j] = williams(ours, theirs, float(pearson_rows(a, b)), len(people))
    return p


def permutation_p(
    first: Array,
    second: Array,
    human: Array,
    coefficient: Coefficient,
    *,
    by: By = "none",
    trials: int = TRIALS,
    rng: np.random.Generator,
) -> float:
    """The two-sided p of two metrics' (systems, items) scores agreeing differently with people.

    The metrics' standardised scores change places at random: see `swap_test`.
    """
    a, b, people = commonly_known(first, second, human)
    if isinstance(coefficient, AccuracyWithTies):
        shared = _Trials.of(*(grouped(scores, by) for scores in (a, b, people)))
        values = partial(shared.all_values, by=by)
    else:
        values = partial(swapped_values, a, b, people, coefficient.overall, by=by)
    return swap_test(values, (human.shape[0], human.shape[1]), trials=trials, rng=rng)


@dataclass(frozen=True, eq=False)
class MetricComparison:
    """Metrics set against each other.

    `p[i, j]` is the two-sided p of metric i, which is ahead, and metric j agreeing differently with
    people; `clusters` ranks the metrics, 1 for the best, where those that cannot be told apart
    share a rank.
    """

    metrics: tuple[str, ...]
    values: Array
    p: Array
    clusters: tuple[int, ...]


def compare_metrics(
    scores: Mapping[str, Array],
    human: Array,
    coefficient: Coefficient,
    *,
    by: By = "none",
    trials: int = TRIALS,
    alpha: float = 0.05,
    rng: np.random.Generator,
) -> MetricComparison:
    """Every metric against every other; all pairs see the same swaps."""
    names = tuple(scores)
    people = grouped(human, by)
    values = np.array(
        [float(coefficient.overall(grouped(own, by), people)) for own in scores.values()]
    )
    seed = int(rng.integers(2**63))
    p = np.full((len(names), len(names)), np.nan)
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            if i != j and values[i] >= values[j]:
                p[i, j] = permutation_p(
                    scores[first],
                    scores[second],
                    human,
                    coefficient,
                    by=by,
                    trials=trials,
                    rng=np.random.default_rng(seed),
                )
    better = _better(p, alpha)
    return MetricComparison(names, values, p, tuple(rank_clusters(values, better | better.T)))


def _better(p: Array, alpha: float) -> NDArray[np.bool_]:
    return np.asarray(np.where(np.isnan(p), 1.0, p) < alpha)


@dataclass(frozen=True, eq=False)
class _Trials:
    """Everything that trials of the accuracy with ties share.

    After a swap a pair's difference is one of four: both members' scores from one metric, both
    from the other, or one of each. All four are sorted once; a trial picks one of each pair.
    """

    pair: NDArray[np.int32]  # of every difference, in order of size
    kind: NDArray[np.int8]
    gain: NDArray[np.float64]
    ends: NDArray[np.bool_]  # the last of equal sizes
    right: NDArray[np.float64]  # (4, pairs): what the pair adds where it is no tie
    groups: NDArray[np.intp]
    members: tuple[NDArray[np.intp], NDArray[np.intp]]

    @classmethod
    def of(cls, a: Array, b: Array, human: Array) -> _Trials:
        """From (groups, members) scores."""
        first, second = np.triu_indices(human.shape[-1], 1)
        gaps = differences(human)
        known = ~np.isnan(gaps)
        counts = known.sum(axis=-1, keepdims=True)
        weights = np.broadcast_to(
            1 / (max(1, int((counts > 0).sum())) * np.maximum(counts, 1)), known.shape
        )[known]
        sign = np.sign(gaps[known]).astype(np.int8)
        own = [(x[:, first] - y[:, second])[known] for x, y in ((a, a), (a, b), (b, a), (b, b))]
        size = np.abs(np.concatenate(own))
        order = np.argsort(size, kind="stable")
        size = size[order]
        groups, pairs = np.nonzero(known)
        return cls(
            pair=np.tile(np.arange(len(sign), dtype=np.int32), 4)[order],
            kind=np.repeat(np.arange(4, dtype=np.int8), len(sign))[order],
            gain=np.concatenate([gains(sign, gap, weights) for gap in own])[order],
            ends=np.append(size[1:] > size[:-1], True),
            right=np.stack([weights * right(sign, gap) for gap in own]),
            groups=groups,
            members=(first[pairs], second[pairs]),
        )

    def all_values(self, swaps: Iterable[Mask], *, by: By) -> Array:
        """The calibrated accuracies of both metrics after each swap, (trials, 2)."""
        masks = (mask for block in swaps for mask in grouped(block, by).astype(bool))
        return np.array([self.values(mask) for mask in masks])

    def values(self, swapped: Mask) -> tuple[float, float]:
        """The calibrated accuracies of both metrics after a swap of (groups, members)."""
        one, other = (swapped[self.groups, member].astype(np.int8) for member in self.members)
        kind = 2 * one + other
        return self._best(kind), self._best((3 - kind).astype(np.int8))

    def _best(self, kind: NDArray[np.int8]) -> float:
        start = float(self.right[kind, np.arange(len(kind))].sum())
        chosen = kind[self.pair] == self.kind
        totals = np.cumsum(np.where(chosen, self.gain, 0.0))
        return min(1.0, start + max(0.0, float(totals[self.ends].max(initial=0.0))))
