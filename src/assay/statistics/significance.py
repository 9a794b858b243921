"""How far to trust a score, and a difference between scores: intervals and paired tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from assay.data import DataError
from assay.statistics import weights
from assay.statistics.arrays import Array
from assay.statistics.comparisons import (
    Comparison,
    Pairs,
    against_first,
    all_pairs,
    benjamini_hochberg,
    comparisons,
    holm,
    rank_clusters,
    significant,
)
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
    blocks = weights.resamples(len(statistics[0]), resamples, rng=rng)
    scores = [_scores(statistics, block) for block in blocks]
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
    reached, known = np.zeros((2, len(pairs)))
    differences = _swapped if _is_dense(statistics) else _swapped_sparse
    for keep in weights.swaps(len(statistics[0]), trials, rng=rng):
        for at, sizes in enumerate(map(np.abs, differences(statistics, pairs, keep))):
            reached[at] += np.count_nonzero(sizes >= thresholds[at])
            known[at] += np.count_nonzero(~np.isnan(sizes))
    return np.where(np.isnan(thresholds), np.nan, (reached + 1) / (known + 1))


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


def _scores(statistics: Sequence[Statistics], block: Array) -> Array:
    """The score of every system under every row of weights, (systems, b)."""
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
