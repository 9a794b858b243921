"""How far to trust scores and differences: intervals, paired tests, correction, clusters."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import Array, DataError
from assay.progress import HERE, Mapper, current_cluster
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
from assay.statistics.multiplicity import Correction, benjamini_hochberg, holm, step_down

if TYPE_CHECKING:
    from assay.metrics.base import Statistics

__all__ = [
    "ENOUGH",
    "BootstrapStatistic",
    "Comparison",
    "Correction",
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
    "swapped_differences",
    "usual_method",
]


BootstrapStatistic = Literal["two-sided", "sacrebleu"]

TOLERANCE = 1e-9
"""A resampled difference that falls short of the observed one by this share still reaches it."""

COMPARED = 2**23
"""Resampled differences of all pairs are looked at in blocks of about so many (64 MB)."""

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
    correction: Correction = "holm",
) -> list[Comparison]:
    """Compare systems on the same resamples (Koehn, 2004), one comparison per pair.

    p is the share of resamples whose difference is at least as far from the mean difference as
    the observed one is from 0: two-sided, and 1 for identical systems. One segment cannot be
    resampled, so its p is 1 as well. For fewer than 100 segments, and for metrics over types,
    p is too small: prefer `paired_jackknife` or `paired_randomisation`.

    "sacrebleu" is the statistic of sacreBLEU and Moses: how often |difference|, less its mean,
    is above the observed |difference|. It gives their figures, also the 1 / (resamples + 1) that
    they give to identical systems. `replicates` are those of `bootstrap`, where they are at hand.

    `correction` is for all pairs together: with Holm's, so many pairs need so many resamples that
    p / pairs can be as small as the level; "step-down" does with 1,000 (see `step_down`).
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
    adjusted = None
    if correction == "step-down":
        sizes = _centred_sizes(replicates, pairs)
        adjusted = _for_resamples(statistics, pairs).adjusted(sizes)
    return comparisons(
        statistics, pairs=pairs, p=p, replicates=replicates, level=level, adjusted=adjusted
    )


def paired_randomisation(
    statistics: Sequence[Statistics],
    *,
    pairs: Pairs,
    trials: int = 10_000,
    resamples: int = 1000,
    level: float = 0.95,
    rng: np.random.Generator,
    correction: Correction = "holm",
) -> list[Comparison]:
    """Compare systems by approximate randomisation (Riezler and Maxwell, 2005).

    In each trial the two systems' outputs change places on a random half of the segments; p is
    the share of trials with a |difference| at least as large as the observed one. sacreBLEU
    counts only larger ones, so that identical systems have p = 1 / (trials + 1) there, and 1
    here; but for such ties the figures are the same. The `resamples` are for the interval of
    the difference; 0 leaves it `nan`. `correction` is as in `paired_bootstrap`.
    """
    _check(statistics)
    if usual_method(statistics[0].metric, len(statistics[0])) == "jackknife":
        resamples = 0  # the interval needs none
    tally = _Tally.of(statistics, pairs)
    sizes = tally.counted(_swapped_sizes(statistics, pairs, trials, rng))
    adjusted = None
    if correction == "step-down":
        adjusted = _for_swaps(statistics, pairs).adjusted(sizes)
    p = tally.finished(sizes)
    replicates = bootstrap(statistics, resamples=resamples, rng=rng)
    return comparisons(
        statistics, pairs=pairs, p=p, replicates=replicates, level=level, adjusted=adjusted
    )


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


@dataclass(frozen=True, eq=False)
class _Tally:
    """How often the |difference| of each pair reaches the observed one, and is known at all."""

    thresholds: Array
    reached: Array
    known: Array

    @classmethod
    def of(cls, statistics: Sequence[Statistics], pairs: Pairs) -> _Tally:
        scores = [each.corpus() for each in statistics]
        thresholds = [_threshold(scores[i], scores[j]) for i, j in pairs]
        return cls(np.array(thresholds), *np.zeros((2, len(pairs))))

    def counted(self, blocks: Iterable[Array]) -> Iterator[Array]:
        """The same blocks (pairs, b) of sizes, after they were counted."""
        for sizes in blocks:
            self.reached[:] += np.count_nonzero(sizes >= self.thresholds[:, None], axis=1)
            self.known[:] += np.count_nonzero(~np.isnan(sizes), axis=1)
            yield sizes

    def finished(self, blocks: Iterable[Array]) -> Array:
        """The p of each pair, after what is left of the blocks."""
        deque(blocks, maxlen=0)
        p = (self.reached + 1) / (self.known + 1)
        return np.where(np.isnan(self.thresholds), np.nan, p)


def _swapped_sizes(
    statistics: Sequence[Statistics], pairs: Pairs, trials: int, rng: np.random.Generator
) -> Iterator[Array]:
    """The |difference| of each pair in every trial, in blocks (pairs, b)."""
    pieces = weights.swap_pieces(len(statistics[0]), trials, rng=rng)
    workplace = _workplace(statistics, trials)
    sizes = _sizes if workplace is HERE else _sizes_at_once
    for blocks in workplace.map(partial(sizes, statistics, pairs), pieces):
        yield from blocks


def _workplace(statistics: Sequence[Statistics], count: int) -> Mapper:
    """Where so many resamples are scored: what is one piece of work is done here."""
    return current_cluster() if count * len(statistics[0]) > weights.BLOCK else HERE


def _sizes(statistics: Sequence[Statistics], pairs: Pairs, swaps: weights.Swaps) -> Iterator[Array]:
    step = max(1, COMPARED // max(1, len(pairs)))
    for drawn in swaps.blocks():
        for at in range(0, len(drawn), step):
            keep = drawn[at : at + step]
            sizes = np.empty((len(pairs), len(keep)))
            for place, found in enumerate(swapped_differences(statistics, pairs, keep)):
                np.abs(found, out=sizes[place])
            yield sizes


def _sizes_at_once(
    statistics: Sequence[Statistics], pairs: Pairs, swaps: weights.Swaps
) -> list[Array]:
    """The same blocks, to be sent."""
    return list(_sizes(statistics, pairs, swaps))


def _centred_sizes(replicates: Array, pairs: Pairs) -> Iterator[Array]:
    """How far the difference of each pair is from its mean over all resamples, (pairs, b)."""
    if not replicates.shape[1]:
        return
    first, second = np.array(pairs, int).reshape(-1, 2).T
    known = ~np.isnan(replicates)
    count = np.maximum(known.sum(axis=1), 1)
    middle = np.where(known, replicates, 0.0).sum(axis=1) / count
    means = middle[first] - middle[second]
    step = max(1, COMPARED // max(1, len(pairs)))
    for at in range(0, replicates.shape[1], step):
        block = replicates[:, at : at + step]
        yield np.abs(block[first] - block[second] - means[:, None])


class _Studentised(NamedTuple):
    """The observed |differences| of pairs by their errors, and what resampled ones are divided by.

    An error of 0 is that of equal systems, or of a difference that does not vary at all.
    """

    observed: Array
    error: Array

    def adjusted(self, sizes: Iterable[Array]) -> Array:
        """The step-down p of all pairs, from blocks (pairs, b) of sizes under the null."""
        error = self.error[:, None]
        by_error = (
            np.divide(block, error, out=np.zeros_like(block), where=error > 0) for block in sizes
        )
        return step_down(self.observed, by_error)


def _for_swaps(statistics: Sequence[Statistics], pairs: Pairs) -> _Studentised:
    """By the root mean square of what segments contribute, which stays as it is when they swap.

    So an observed difference is one among all that random signs can give, as the test has it.
    """
    difference, error, known = _jackknife_errors(statistics, pairs)
    count = len(statistics[0])
    root = np.sqrt(error**2 * (count - 1) / count + difference**2 / count)
    observed = np.divide(difference, root, out=np.zeros_like(root), where=root > 0)
    return _Studentised(np.where(known, observed, np.nan), root)


def _for_resamples(statistics: Sequence[Statistics], pairs: Pairs) -> _Studentised:
    """By the error in resamples, which is the same in all of them.

    That of the observed difference is itself an estimate: the difference has Student's t
    distribution where resampled ones have the normal, so it is moved to the same place in that.
    """
    from scipy.special import ndtri, stdtr

    difference, error, known = _jackknife_errors(statistics, pairs)
    count = len(statistics[0])
    t = np.divide(difference, error, out=np.zeros_like(error), where=error > 0)
    # A difference that does not vary is beyond all that is resampled.
    certain = (error == 0) & (difference > 0)
    observed = np.where(certain, np.inf, -ndtri(stdtr(max(1, count - 1), -t)))
    resampled = error * math.sqrt((count - 1) / count)
    return _Studentised(np.where(known, observed, np.nan), resampled)


def _jackknife_errors(
    statistics: Sequence[Statistics], pairs: Pairs
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """The |difference| of each pair, its standard error, 0 where that is rounding, and if known."""
    scores = np.array([each.corpus() for each in statistics])
    without = np.array([each.without_each() for each in statistics])
    count = without.shape[1]
    covariance = (count - 1) ** 2 / count * np.atleast_2d(np.cov(without, bias=count < 2))
    first, second = np.array(pairs, int).reshape(-1, 2).T
    variance = covariance[first, first] + covariance[second, second]
    error = np.sqrt(np.maximum(0.0, variance - 2 * covariance[first, second]))
    difference = np.abs(scores[first] - scores[second])
    noise = ROUNDING * count * np.maximum(np.abs(scores[first]), np.abs(scores[second]))
    known = ~np.isnan(difference + error)
    # The variance is a difference of sums, so it is exact to the root of what the sums are.
    still = error <= noise + np.sqrt(ROUNDING * np.where(known, variance, 0.0))
    return np.where(difference > noise, difference, 0.0), np.where(still, 0.0, error), known


def swapped_differences(
    statistics: Sequence[Statistics], pairs: Pairs, keep: Array
) -> Iterator[Array]:
    """The difference of each pair after swapping what is not kept, one per row of `keep`.

    The sums of what each system keeps are shared by all its pairs; sparse ones are too wide for
    that, and left to the metric.
    """
    metric = statistics[0].metric
    if not _is_dense(statistics):
        yield from metric.swapped([each.rows for each in statistics], pairs, keep)
        return
    totals = [each.rows.sum(axis=0) for each in statistics]
    kept = _sums(statistics, keep)
    for i, j in pairs:
        # What the first system does not keep comes from the second, and the other way round.
        first = metric.aggregate(kept[i] + (totals[j] - kept[j]))
        yield first - metric.aggregate(kept[j] + (totals[i] - kept[i]))


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
    corrected for all comparisons of one call: by Holm's method unless another was asked for.
    `effect` is the mean over the standard deviation of the jackknife pseudo-values of the
    difference (Cohen's d_z for a mean of segment scores): 0 for identical systems, `nan` for a
    difference that does not vary. `wins`, `ties` and `losses` are the shares of segments on which
    the first system is better, equal or worse, among those with both scores known.
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
    statistics: Sequence[Statistics],
    *,
    pairs: Pairs,
    p: Array,
    replicates: Array,
    level: float,
    adjusted: Array | None = None,
) -> list[Comparison]:
    """One comparison per pair, from its p and all systems' bootstrap replicates.

    `adjusted` are the corrected p, by default Holm's; where one of them is unknown, Bonferroni's.
    """
    bonferroni = np.minimum(1.0, p * np.count_nonzero(~np.isnan(p)))
    every = holm(p)
    if adjusted is not None:
        every = np.maximum(p, np.where(np.isnan(adjusted), bonferroni, adjusted))
    scores = [each.corpus() for each in statistics]
    without = [each.without_each() for each in statistics]
    segments = [each.metric.oriented(each.segments()) for each in statistics]
    found = []
    for (i, j), raw, corrected in zip(pairs, p, every, strict=True):
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
