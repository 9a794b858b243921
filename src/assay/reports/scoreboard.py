"""The scoreboard: every system by every metric, with intervals, rank ranges and clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import Array, Dataset
from assay.metrics.base import Metric, Statistics, labels, reference_count
from assay.metrics.mean import Mean
from assay.statistics.intervals import standard_error
from assay.statistics.signflips import sign_flip_p
from assay.statistics.significance import all_pairs, confidence, holm, rank_clusters

__all__ = ["ALPHA", "Difference", "Scoreboard", "Standing", "scoreboard"]

ALPHA = 0.05
RESAMPLES = 1000


class Difference(NamedTuple):
    """One system's score less another's: its interval, and p before and after Holm."""

    value: float
    low: float
    high: float
    p: float
    p_adjusted: float


@dataclass(frozen=True, eq=False)
class Standing:
    """What one metric says of all systems.

    `differences` has one entry for each two systems by their positions, the first less the second.
    `ranks` are the best and the worst rank that a system may have: systems that differ
    significantly are above or below it for sure.
    """

    metric: Metric
    label: str
    signature: str
    scores: Array
    intervals: tuple[tuple[float, float], ...]
    differences: dict[tuple[int, int], Difference]
    clusters: tuple[int, ...]
    ranks: tuple[tuple[int, int], ...]
    segments: Array

    def difference(self, first: int, second: int) -> Difference:
        """The first system's score less the second's."""
        if (first, second) in self.differences:
            return self.differences[first, second]
        value, low, high, p, adjusted = self.differences[second, first]
        return Difference(-value, -high, -low, p, adjusted)


@dataclass(frozen=True, eq=False)
class Scoreboard:
    """All metrics, the leading one first."""

    systems: tuple[str, ...]
    standings: tuple[Standing, ...]

    @property
    def order(self) -> list[int]:
        """The systems by the leading metric, the best first."""
        leading = self.standings[0]
        goodness = leading.metric.oriented(leading.scores)
        return [
            int(at) for at in np.argsort(-np.nan_to_num(goodness, nan=-math.inf), kind="stable")
        ]


def scoreboard(
    data: Dataset, statistics: Sequence[Sequence[Statistics]], *, level: float, seed: int
) -> Scoreboard:
    """The scoreboard of all systems, from the statistics of each metric."""
    names = labels([each[0].metric for each in statistics])
    count = reference_count(data.references)
    return Scoreboard(
        tuple(data.systems),
        tuple(
            _standing(of_metric, name, count, level=level, seed=seed)
            for of_metric, name in zip(statistics, names, strict=True)
        ),
    )


def _standing(
    statistics: Sequence[Statistics], label: str, references: int | str, *, level: float, seed: int
) -> Standing:
    metric = statistics[0].metric
    scores = np.array([each.corpus() for each in statistics])
    rng = np.random.default_rng(seed)
    intervals = [
        confidence(each, level=level, resamples=RESAMPLES, rng=rng)[:2] for each in statistics
    ]
    pairs = all_pairs(len(statistics))
    tests = [_difference(statistics[i], statistics[j], level) for i, j in pairs]
    adjusted = holm([test.p for test in tests])
    differences = {
        pair: test._replace(p_adjusted=float(p))
        for pair, test, p in zip(pairs, tests, adjusted, strict=True)
    }
    differ = np.zeros((len(scores), len(scores)), bool)
    for (i, j), test in differences.items():
        differ[i, j] = differ[j, i] = test.p_adjusted < ALPHA
    goodness = metric.oriented(scores)
    return Standing(
        metric,
        label,
        f"{metric.title}|{metric.signature(references if metric.needs_references else None)}",
        scores,
        tuple((float(low), float(high)) for low, high in intervals),
        differences,
        tuple(rank_clusters(goodness, differ)),
        _ranks(goodness, differ),
        np.array([each.for_segments().segments() for each in statistics]),
    )


def _difference(one: Statistics, other: Statistics, level: float) -> Difference:
    """The difference with the interval of its jackknife, and the p of the sign-flip test."""
    from scipy.special import stdtrit

    if isinstance(one.metric, Mean):
        # People did not rate all segments of all systems: only those rated for both tell.
        both = (one.rows[:, 1] > 0) & (other.rows[:, 1] > 0)
        one, other = one[both], other[both]
    value = one.corpus() - other.corpus()
    without = one.without_each() - other.without_each()
    known = int(np.count_nonzero(~np.isnan(without)))
    reach = standard_error(without) * float(stdtrit(max(1, known - 1), (1 + level) / 2))
    p = sign_flip_p(one.contributions(other)) if known > 1 else 1.0
    return Difference(value, value - reach, value + reach, math.nan if math.isnan(value) else p, p)


def _ranks(goodness: Array, differ: NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    above = goodness[:, None] < goodness[None, :]
    best = 1 + (differ & above).sum(axis=1)
    worst = len(goodness) - (differ & above.T).sum(axis=1)
    return tuple((int(low), int(high)) for low, high in zip(best, worst, strict=True))
