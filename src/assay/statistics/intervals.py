"""Confidence intervals from bootstrap replicates and from the jackknife."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from assay.data import Array, DataError

if TYPE_CHECKING:
    from assay.metrics.base import Metric

__all__ = [
    "ENOUGH",
    "Interval",
    "IntervalMethod",
    "interval",
    "jackknife_interval",
    "jackknife_p",
    "standard_error",
    "usual_method",
]

IntervalMethod = Literal["bca", "percentile", "basic", "jackknife"]

ROUNDING = 1e-12
"""Scores that differ by less than this share of their size are the same, but for rounding."""


ENOUGH = 100
"""From so many segments on, the bootstrap holds what it says: see docs/significance.md."""


class Interval(NamedTuple):
    """Where the true value lies, and how far off-centre the resampled values are.

    `bias` is the mean of the replicates minus the observed value, `nan` without replicates.
    """

    low: float
    high: float
    bias: float


def usual_method(metric: Metric, segments: int) -> IntervalMethod:
    """The method that holds what it says for this metric and so many segments."""
    return metric.interval_method if segments >= ENOUGH else "jackknife"


def interval(
    observed: float,
    replicates: Array,
    *,
    level: float = 0.95,
    method: IntervalMethod = "bca",
    jackknife: Array | None = None,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Interval:
    """The interval that holds the true value with probability `level`.

    "percentile" takes the quantiles of the replicates, and "basic" mirrors them at the observed
    value. "bca" (Efron, 1987) corrects them for bias and skewness, by the `jackknife`: the value
    without each segment in turn. "jackknife" looks at that alone: the observed value, give or
    take its standard error times a quantile of Student's t. BCa is right for most metrics. For
    metrics over types, whose resamples lose rare ones, only "jackknife" holds what it says: see
    docs/significance.md. It ends at the `bounds`, beyond which there is no value.

    - Where the observed value lies outside of all replicates, the bias is beyond what BCa can
      correct, and the percentile interval is given.
    - Without a jackknife, or with one whose values are all the same, the acceleration is 0, and
      a "jackknife" interval is unknown or of no width.
    - Replicates that are all the same give an interval of no width.
    - A jackknife of one segment, an unknown observed value or no replicate gives `nan`: one
      segment says nothing about how much segments vary. Unknown replicates are left out.
    """
    if not 0 < level < 1:
        raise DataError(f"level {level:g}: give a share between 0 and 1, such as 0.95.")
    if method == "jackknife":
        return _jackknife_interval(observed, jackknife, level, bounds)
    known = replicates[~np.isnan(replicates)]
    if math.isnan(observed) or not known.size:
        return Interval(math.nan, math.nan, math.nan)
    bias = float(known.mean()) - observed
    if jackknife is not None and len(jackknife) < 2:
        return Interval(math.nan, math.nan, bias)
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if method == "bca":
        tails = _corrected(tails, observed, known, jackknife)
    low, high = np.quantile(known, tails)
    if method == "basic":
        low, high = 2 * observed - high, 2 * observed - low
    return Interval(float(low), float(high), bias)


def standard_error(jackknife: Array) -> float:
    """The standard error of a value, from the value without each segment in turn.

    `nan` for fewer than two known values.

    >>> round(standard_error(np.array([2.5, 2.0, 1.5])), 9)  # the mean of 1, 2 and 3
    0.577350269
    """
    known = jackknife[~np.isnan(jackknife)]
    count = len(known)
    if count < 2:
        return math.nan
    return math.sqrt((count - 1) / count * float(((known - known.mean()) ** 2).sum()))


def _jackknife_interval(
    observed: float, jackknife: Array | None, level: float, bounds: tuple[float, float]
) -> Interval:
    from scipy.special import stdtrit

    if jackknife is None or math.isnan(observed):
        return Interval(math.nan, math.nan, math.nan)
    known = np.count_nonzero(~np.isnan(jackknife))
    reach = float(stdtrit(known - 1, (1 + level) / 2)) * standard_error(jackknife)
    if math.isnan(reach):
        return Interval(math.nan, math.nan, math.nan)
    least, most = min(bounds[0], observed), max(bounds[1], observed)
    return Interval(max(least, observed - reach), min(most, observed + reach), math.nan)


def _corrected(tails: Array, observed: float, replicates: Array, jackknife: Array | None) -> Array:
    """The tails that BCa uses instead of the given ones, which come back where it has none."""
    from scipy.special import ndtr, ndtri

    shift = ndtri(_share_below(replicates, observed))
    if not np.isfinite(shift):
        return tails
    moved = shift + ndtri(tails)
    stretch = 1 - _acceleration(jackknife) * moved
    # The acceleration is below 1/6, so this takes a shift and a level far out in the tails.
    if (stretch <= 0).any():
        return tails
    return np.asarray(ndtr(shift + moved / stretch))


def _share_below(values: Array, observed: float) -> float:
    """The share of the values that are below the observed one; ties count half."""
    slack = ROUNDING * abs(observed)
    below = np.count_nonzero(values < observed - slack)
    ties = np.count_nonzero(np.abs(values - observed) <= slack)
    return (below + ties / 2) / len(values)


def _acceleration(jackknife: Array | None) -> float:
    """How fast the standard error changes with the value: the jackknife's skewness by 6 sqrt n."""
    known = np.zeros(0) if jackknife is None else jackknife[~np.isnan(jackknife)]
    if not known.size:
        return 0.0
    pull = known.mean() - known
    if np.abs(pull).max() <= ROUNDING * np.abs(known).max():
        return 0.0
    pull /= np.abs(pull).max()  # neither squares nor cubes underflow
    return float((pull**3).sum() / (6 * (pull**2).sum() ** 1.5))


def jackknife_interval(observed: float, without_each: Array, *, level: float = 0.95) -> Interval:
    """The interval that holds the true value with probability `level`, corrected for skewness.

    Student's t of the jackknife's standard error, with Hall's (1992) transformation for what is
    not symmetrical. Unknown values without a segment are left out; fewer than two known ones, or
    an unknown observed value, give `nan`.
    """
    from scipy.special import stdtrit

    if not 0 < level < 1:
        raise DataError(f"level {level:g}: give a share between 0 and 1, such as 0.95.")
    pull = _pull(without_each)
    n = len(pull)
    if n < 2 or math.isnan(observed):
        return Interval(math.nan, math.nan, math.nan)
    bias = (n - 1) * float(np.nanmean(without_each) - observed)
    spread = math.sqrt(float((pull**2).mean()))
    if spread <= ROUNDING * max(1.0, abs(observed)):
        return Interval(observed, observed, bias)
    skewness = float(((pull / spread) ** 3).mean())
    tails = stdtrit(n - 1, np.array([(1 + level) / 2, (1 - level) / 2]))
    quantiles = _straightened(tails / math.sqrt(n), skewness, n)
    low, high = observed - math.sqrt(n * (n - 1)) * spread * quantiles
    return Interval(float(low), float(high), bias)


def jackknife_p(difference: float, without_each: Array, *, size: float = 1.0) -> float:
    """The two-sided p of a difference of 0: Student's t with the jackknife's standard error.

    `without_each` are the differences without each segment, `size` is that of the values, by which
    rounding is known. Equal systems have p = 1. Fewer than two known values, an unknown
    difference, and one that does not vary over segments, give `nan`.
    """
    from scipy.special import stdtr

    error = standard_error(without_each)
    known = np.count_nonzero(~np.isnan(without_each))
    if math.isnan(error) or math.isnan(difference):
        return math.nan
    if abs(difference) <= ROUNDING * size:
        return 1.0
    if error <= ROUNDING * known * size:
        return math.nan
    return 2 * float(stdtr(known - 1, -abs(difference) / error))


def _pull(without_each: Array) -> Array:
    """How far each segment pulls the value up."""
    known: Array = without_each[~np.isnan(without_each)]
    return known.mean() - known if known.size else known


def _straightened(x: Array, skewness: float, n: int) -> Array:
    """Hall's transformation, turned round: from symmetrical quantiles to those of skewed means."""
    if abs(skewness) < ROUNDING:
        return x
    return 3 / skewness * (np.cbrt(1 + skewness * (x - skewness / (6 * n))) - 1)
