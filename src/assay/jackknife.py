"""Intervals and tests from the values without each segment in turn (Tukey's jackknife).

A resample repeats segments and loses others, and with them the rare types and the few sentences
that a ratio hangs on; to leave out one segment disturbs next to nothing. So the jackknife holds
where the bootstrap is too narrow: see docs/muler.md.
"""

from __future__ import annotations

import math

import numpy as np

from assay.data import DataError
from assay.intervals import ROUNDING, Interval, standard_error
from assay.metrics.base import Array

__all__ = ["jackknife_interval", "jackknife_p"]


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
