"""Paired comparisons of systems: p, correction for many pairs, effect sizes, clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError
from assay.statistics.arrays import Array
from assay.statistics.intervals import ROUNDING, interval, usual_method

if TYPE_CHECKING:
    from assay.metrics.base import Statistics

__all__ = [
    "Comparison",
    "Pairs",
    "against_first",
    "all_pairs",
    "benjamini_hochberg",
    "comparisons",
    "holm",
    "rank_clusters",
    "significant",
]

TIE = 1e-9
"""Segment scores that differ by less than this share of their size are equal."""

Pairs = Sequence[tuple[int, int]]
"""Which systems to compare, by position."""


class Comparison(NamedTuple):
    """The first system against the second, both given by their positions.

    `difference` is the first score minus the second in the metric's own units, whichever
    direction is better; `low` and `high` are its interval by the usual method. `p_holm` is
    corrected for all comparisons of one call. `effect` is the mean over the standard deviation of
    the jackknife pseudo-values of the difference (Cohen's d_z for a mean of segment scores): 0 for
    identical systems, `nan` for a difference that does not vary. `wins`, `ties` and `losses` are
    the shares of segments on which the first system is better, equal or worse, among those with
    both scores known.
    """

    first: int
    second: int
    difference: float
    p: float
    p_holm: float
    low: float
    high: float
    effect: float
    wins: float
    ties: float
    losses: float


class _Shares(NamedTuple):
    wins: float
    ties: float
    losses: float


def against_first(count: int) -> list[tuple[int, int]]:
    """Every other system compared with the first one, the baseline.

    >>> against_first(3)
    [(1, 0), (2, 0)]
    """
    return [(system, 0) for system in range(1, count)]


def all_pairs(count: int) -> list[tuple[int, int]]:
    """Every two systems, once.

    >>> all_pairs(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(combinations(range(count), 2))


def comparisons(
    statistics: Sequence[Statistics], *, pairs: Pairs, p: Array, replicates: Array, level: float
) -> list[Comparison]:
    """One comparison per pair, from its p and all systems' bootstrap replicates."""
    scores = [each.corpus() for each in statistics]
    without = [each.without_each() for each in statistics]
    segments = [each.metric.oriented(each.segments()) for each in statistics]
    found = []
    for (i, j), raw, corrected in zip(pairs, p, holm(p), strict=True):
        difference = scores[i] - scores[j]
        jackknife = without[i] - without[j]
        low, high, _ = interval(
            difference,
            replicates[i] - replicates[j],
            level=level,
            method=usual_method(statistics[i].metric, len(statistics[i])),
            jackknife=jackknife,
        )
        noise = ROUNDING * len(jackknife) * max(abs(scores[i]), abs(scores[j]))
        effect = _effect(difference, jackknife, noise)
        shares = _shares(segments[i], segments[j])
        tested = (difference, float(raw), float(corrected), low, high)
        found.append(Comparison(i, j, *tested, effect, *shares))
    return found


def holm(p: Sequence[float] | Array) -> Array:
    """Holm's correction for testing several pairs at once; `nan` is not counted and stays.

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p, float)
    order = np.argsort(values)
    order = order[: np.count_nonzero(~np.isnan(values))]
    steps = values[order] * np.arange(len(order), 0, -1)
    corrected = np.full(len(values), np.nan)
    corrected[order] = np.minimum(1, np.maximum.accumulate(steps))
    return corrected


def benjamini_hochberg(p: Sequence[float] | Array) -> Array:
    """The false discovery rate at which each p would count; `nan` is not counted and stays.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    array([0.03, 0.04, 0.04])
    """
    values = np.asarray(p, float)
    order = np.argsort(values)
    order = order[: np.count_nonzero(~np.isnan(values))]
    steps = values[order] * len(order) / np.arange(1, len(order) + 1)
    corrected = np.full(len(values), np.nan)
    corrected[order] = np.minimum(1, np.minimum.accumulate(steps[::-1])[::-1])
    return corrected


def significant(
    compared: Sequence[Comparison], count: int, *, alpha: float = 0.05
) -> NDArray[np.bool_]:
    """Which of `count` systems differ: the symmetric matrix of corrected p below `alpha`.

    Pairs that were not compared are not significant.
    """
    matrix = np.zeros((count, count), bool)
    for each in compared:
        matrix[each.first, each.second] = matrix[each.second, each.first] = each.p_holm < alpha
    return matrix


def _effect(difference: float, jackknife: Array, noise: float) -> float:
    """The mean over the standard deviation of the pseudo-values; below `noise` is rounding."""
    count = len(jackknife)
    pseudo = count * difference - (count - 1) * jackknife
    pseudo = pseudo[~np.isnan(pseudo)]
    if len(pseudo) < 2:
        return math.nan
    mean, spread = float(pseudo.mean()), float(pseudo.std(ddof=1))
    if spread > noise:
        return mean / spread
    return 0.0 if abs(mean) <= noise else math.nan


def _shares(first: Array, second: Array) -> _Shares:
    """How often the first is above, equal to and below the second."""
    known = ~(np.isnan(first) | np.isnan(second))
    if not known.any():
        return _Shares(math.nan, math.nan, math.nan)
    first, second = first[known], second[known]
    tied = np.isclose(first, second, rtol=TIE, atol=ROUNDING)
    wins = float(np.mean(~tied & (first > second)))
    ties = float(np.mean(tied))
    return _Shares(wins, ties, float(np.mean(~tied & (first < second))))


def rank_clusters(
    scores: Sequence[float] | Array,
    significant: NDArray[np.bool_],
) -> list[int]:
    """The cluster of each system, 1 for the highest score, as WMT ranks its systems.

    `significant` is a symmetric (systems, systems) matrix: does this pair differ significantly?
    A line is drawn wherever every system above it differs from every system below it, and never
    between equal scores. Systems of unknown score (`nan`) come last, in a cluster of their own.

    >>> differ = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]], bool)
    >>> rank_clusters([31.2, 31.0, 28.5], differ)
    [1, 1, 2]
    """
    values = np.asarray(scores, float)
    differ = np.asarray(significant, bool)
    _check(differ, len(values))
    order = np.argsort(-values, kind="stable")
    ranked = values[order]
    starts = np.zeros(len(values), int)
    starts[1:] = _lines(ranked, differ[np.ix_(order, order)])
    clusters = np.empty(len(values), int)
    clusters[order] = 1 + np.cumsum(starts)
    return [int(cluster) for cluster in clusters]


def _lines(ranked: Array, differ: NDArray[np.bool_]) -> list[bool]:
    """Whether a line stands below each system but the last; unknown scores come last."""
    known = np.count_nonzero(~np.isnan(ranked))
    return [
        at == known
        or bool(at < known and ranked[at - 1] != ranked[at] and differ[:at, at:known].all())
        for at in range(1, len(ranked))
    ]


def _check(differ: NDArray[np.bool_], count: int) -> None:
    if differ.shape != (count, count) or (differ != differ.T).any():
        raise DataError(
            f"significance of {count} systems: needs a symmetric {count} x {count} matrix, one "
            f"row and one column per system, not one of shape {differ.shape} "
            "or with another answer for (i, j) than for (j, i)."
        )
