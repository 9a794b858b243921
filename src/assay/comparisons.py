"""What a paired test says about two systems: p, its correction, interval and size of effect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.intervals import ROUNDING, interval, usual_method
from assay.metrics.base import Array, Statistics

__all__ = [
    "Comparison",
    "Pairs",
    "against_first",
    "all_pairs",
    "benjamini_hochberg",
    "comparisons",
    "holm",
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
    segments = [each.segments() for each in statistics]
    sign = 1 if statistics[0].metric.higher_is_better else -1
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
        shares = _shares(sign * segments[i], sign * segments[j])
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
