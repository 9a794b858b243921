"""How far to trust scores and differences: intervals, paired tests, correction, clusters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.cluster import HERE, Mapper, current_cluster
from assay.data import Array, DataError
from assay.statistics import weights
from assay.statistics.intervals import (
    ENOUGH,
    ROUNDING,
    Interval,
    IntervalMethod,
    interval,
    jackknife_p,
    usual_method,
)

if TYPE_CHECKING:
    from assay.metrics.base import Statistics

__all__ = [
    "ENOUGH",
    "BootstrapStatistic",
    "Comparison",
    "Interval",
    "IntervalMethod",
    "Pairs",
    "against_first",
    "all_pairs",
    "benjamini_hochberg",
    "bootstrap",
    "bootstrap_p",
    "comparisons",
    "confidence",
    "holm",
    "interval",
    "paired_bootstrap",
    "paired_jackknife",
    "paired_randomisation",
    "rank_clusters",
    "significant",
    "usual_method",
]


BootstrapStatistic = Literal["two-sided", "sacrebleu"]

TOLERANCE = 1e-9
"""A resampled difference that falls short of the observed one by this share still reaches it."""

STACK = 2**25
"""Dense rows of all systems are copied side by side up to so many numbers (256 MB)."""


def bootstrap(
    statistics: Sequence[Statistics], *, resamples: int = 1000, rng: np.random.Generator
) -> Array:
    """Every system's score on the same resamples of the segments, (systems, resamples)."""
    _check(statistics)
    pieces = weights.resample_pieces(len(statistics[0]), resamples, rng=rng)
    scores = _workplace(statistics, resamples).map(partial(_scores, statistics), pieces)
    return np.concatenate([np.zeros((len(statistics), 0)), *scores], axis=1)


def confidence(
    statistics: Statistics,
    *,
    level: float = 0.95,
    method: IntervalMethod | None = None,
    resamples: int = 1000,
    rng: np.random.Generator,
) -> Interval:
    """The interval of one system's corpus score, by default with the usual method."""
    chosen = method or usual_method(statistics.metric, len(statistics))
    count = 0 if chosen == "jackknife" else resamples
    replicates = bootstrap([statistics], resamples=count, rng=rng)[0]
    jackknife = statistics.without_each()
    return interval(
        statistics.corpus(),
        replicates,
        level=level,
        method=chosen,
        jackknife=jackknife,
        bounds=statistics.metric.bounds,
    )


def paired_bootstrap(
    statistics: Sequence[Statistics],
    *,
    pairs: Pairs,
    resamples: int = 1000,
    statistic: BootstrapStatistic = "two-sided",
    level: float = 0.95,
    rng: np.random.Generator,
    replicates: Array | None = None,
) -> list[Comparison]:
    """Compare systems on the same resamples (Koehn, 2004), one comparison per pair.

    p is the share of resamples whose difference is at least as far from the mean difference as
    the observed one is from 0: two-sided, and 1 for identical systems. One segment cannot be
    resampled, so its p is 1 as well. For fewer than 100 segments, and for metrics over types,
    p is too small: prefer `paired_jackknife` or `paired_randomisation`.

    "sacrebleu" is the statistic of sacreBLEU and Moses: how often |difference|, less its mean,
    is above the observed |difference|. It gives their figures, also the 1 / (resamples + 1) that
    they give to identical systems. `replicates` are those of `bootstrap`, where they are at hand.
    """
    if replicates is None:
        replicates = bootstrap(statistics, resamples=resamples, rng=rng)
    scores = [each.corpus() for each in statistics]
    p = np.array(
        [
            bootstrap_p(replicates[i] - replicates[j], scores[i], scores[j], statistic)
            for i, j in pairs
        ]
    )
    if len(statistics[0]) == 1 and statistic == "two-sided":
        p = np.where(np.isnan(p), p, 1.0)
    return comparisons(statistics, pairs=pairs, p=p, replicates=replicates, level=level)


def paired_randomisation(
    statistics: Sequence[Statistics],
    *,
    pairs: Pairs,
    trials: int = 10_000,
    resamples: int = 1000,
    level: float = 0.95,
    rng: np.random.Generator,
) -> list[Comparison]:
    """Compare systems by approximate randomisation (Riezler and Maxwell, 2005).

    In each trial the two systems' outputs change places on a random half of the segments; p is
    the share of trials with a |difference| at least as large as the observed one. sacreBLEU
    counts only larger ones, so that identical systems have p = 1 / (trials + 1) there, and 1
    here; but for such ties the figures are the same. The `resamples` are for the interval of
    the difference; 0 leaves it `nan`.
    """
    _check(statistics)
    p = _randomisation_p(statistics, pairs, trials, rng)
    replicates = bootstrap(statistics, resamples=resamples, rng=rng)
    return comparisons(statistics, pairs=pairs, p=p, replicates=replicates, level=level)


def paired_jackknife(
    statistics: Sequence[Statistics], *, pairs: Pairs, level: float = 0.95
) -> list[Comparison]:
    """Compare systems by leaving out one segment at a time (Tukey, 1958).

    p is that of Student's t: the difference by its jackknife standard error, which is the paired
    t-test where the score is a mean of segment scores. One segment says nothing: its p is 1. The
    jackknife stands in for `paired_bootstrap` where there are few segments, and where resampling
    changes what is measured, as it does for metrics over types.
    """
    _check(statistics)
    without = [each.without_each() for each in statistics]
    scores = [each.corpus() for each in statistics]
    p = np.array(
        [
            jackknife_p(
                scores[i] - scores[j],
                without[i] - without[j],
                size=max(abs(scores[i]), abs(scores[j])),
            )
            for i, j in pairs
        ]
    )
    if len(statistics[0]) == 1:
        p = np.array([math.nan if math.isnan(scores[i] - scores[j]) else 1.0 for i, j in pairs])
    none = np.zeros((len(statistics), 0))
    return comparisons(statistics, pairs=pairs, p=p, replicates=none, level=level)


def bootstrap_p(
    differences: Array,
    first: float,
    second: float,
    statistic: BootstrapStatistic = "two-sided",
) -> float:
    """The p of a difference from its bootstrap replicates; see `paired_bootstrap`."""
    if math.isnan(first - second):
        return math.nan
    known = differences[~np.isnan(differences)]
    if not known.size:
        return 1.0
    if statistic == "sacrebleu":
        sizes = np.abs(known)
        reached = sizes - sizes.mean() > abs(first - second)
    else:
        reached = np.abs(known - known.mean()) >= _threshold(first, second)
    return (np.count_nonzero(reached) + 1) / (len(known) + 1)


def _randomisation_p(
    statistics: Sequence[Statistics], pairs: Pairs, trials: int, rng: np.random.Generator
) -> Array:
    scores = [each.corpus() for each in statistics]
    thresholds = np.array([_threshold(scores[i], scores[j]) for i, j in pairs])
    pieces = weights.swap_pieces(len(statistics[0]), trials, rng=rng)
    count = partial(_reached, statistics, pairs, thresholds)
    counts = _workplace(statistics, trials).map(count, pieces)
    reached, known = sum(counts, np.zeros((2, len(pairs))))
    return np.where(np.isnan(thresholds), np.nan, (reached + 1) / (known + 1))


def _workplace(statistics: Sequence[Statistics], count: int) -> Mapper:
    """Where so many resamples are scored: what is one piece of work is done here."""
    return current_cluster() if count * len(statistics[0]) > weights.BLOCK else HERE


def _reached(
    statistics: Sequence[Statistics], pairs: Pairs, thresholds: Array, swaps: weights.Swaps
) -> Array:
    """Of each pair, how many differences reach the threshold and how many are known, (2, pairs)."""
    counts = np.zeros((2, len(pairs)))
    differences = _swapped if _is_dense(statistics) else _swapped_sparse
    for keep in swaps.blocks():
        for at, sizes in enumerate(map(np.abs, differences(statistics, pairs, keep))):
            counts[0, at] += np.count_nonzero(sizes >= thresholds[at])
            counts[1, at] += np.count_nonzero(~np.isnan(sizes))
    return counts


def _swapped(statistics: Sequence[Statistics], pairs: Pairs, keep: Array) -> Iterator[Array]:
    """The difference of each pair after swapping what is not kept, one per row of `keep`.

    The sums of what each system keeps are shared by all its pairs.
    """
    aggregate = statistics[0].metric.aggregate
    totals = [each.rows.sum(axis=0) for each in statistics]
    kept = _sums(statistics, keep)
    for i, j in pairs:
        # What the first system does not keep comes from the second, and the other way round.
        first = aggregate(kept[i] + (totals[j] - kept[j]))
        yield first - aggregate(kept[j] + (totals[i] - kept[i]))


def _swapped_sparse(statistics: Sequence[Statistics], pairs: Pairs, keep: Array) -> Iterator[Array]:
    """The same where sums are too wide to be kept: both systems, stacked, and weighted anew."""
    from scipy.sparse import vstack

    ways = np.hstack([keep, 1 - keep]), np.hstack([1 - keep, keep])
    for i, j in pairs:
        rows = vstack([statistics[i].rows, statistics[j].rows], format="csr")
        stacked = type(statistics[i])(statistics[i].metric, rows)
        first, second = (stacked.score(way) for way in ways)
        yield first - second


def _threshold(first: float, second: float) -> float:
    """The least |difference| that counts as the observed one, rounding apart."""
    size = abs(first - second)
    return size - TOLERANCE * size - ROUNDING * max(abs(first), abs(second))


def _scores(statistics: Sequence[Statistics], resamples: weights.Resamples) -> Array:
    """The score of every system on every resample, (systems, b)."""
    [block] = resamples.blocks()
    if not _is_dense(statistics):
        return np.array([each.score(block) for each in statistics])
    aggregate = statistics[0].metric.aggregate
    return np.array([aggregate(sums) for sums in _sums(statistics, block)])


def _sums(statistics: Sequence[Statistics], block: Array) -> list[Array]:
    """The weighted sums (b, k) of each system; of small rows in one matrix product."""
    rows = [each.rows for each in statistics]
    if sum(each.size for each in rows) > STACK:
        return [block @ each for each in rows]
    return np.hsplit(block @ np.hstack(rows), len(rows))


def _is_dense(statistics: Sequence[Statistics]) -> bool:
    return all(isinstance(each.rows, np.ndarray) for each in statistics)


def _check(statistics: Sequence[Statistics]) -> None:
    if not statistics or not len(statistics[0]):
        raise DataError("significance: no segments to resample; give at least one system's output.")
    first = statistics[0]
    for number, each in enumerate(statistics[1:], 2):
        if len(each) != len(first):
            raise DataError(
                f"significance: system {number} has {len(each)} segments, but the first has "
                f"{len(first)}. Systems are compared on the same segments, in the same order."
            )
        if each.metric != first.metric or each.rows.shape != first.rows.shape:
            raise DataError(
                f"significance: system {number} was scored apart from the first "
                f"({each.metric} and {first.metric}). Pass all systems' segments to one metric "
                "in one call, then cut the statistics up."
            )


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
    _check_differ(differ, len(values))
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


def _check_differ(differ: NDArray[np.bool_], count: int) -> None:
    if differ.shape != (count, count) or (differ != differ.T).any():
        raise DataError(
            f"significance of {count} systems: needs a symmetric {count} x {count} matrix, one "
            f"row and one column per system, not one of shape {differ.shape} "
            "or with another answer for (i, j) than for (j, i)."
        )
