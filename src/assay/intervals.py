"""Confidence intervals from bootstrap replicates."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from assay.data import DataError
from assay.metrics.base import Array

__all__ = ["Interval", "IntervalMethod", "interval"]

IntervalMethod = Literal["bca", "percentile", "basic", "centred"]

ROUNDING = 1e-12
"""Scores that differ by less than this share of their size are the same, but for rounding."""


class Interval(NamedTuple):
    """Where the true value lies, and how far off-centre the resampled values are.

    `bias` is the mean of the replicates minus the observed value. `nan` is unknown.
    """

    low: float
    high: float
    bias: float


def interval(
    observed: float,
    replicates: Array,
    *,
    level: float = 0.95,
    method: IntervalMethod = "bca",
    jackknife: Array | None = None,
) -> Interval:
    """The interval that holds the true value with probability `level`.

    "percentile" takes the quantiles of the replicates, "basic" mirrors them at the observed
    value, and "centred" moves them by the bias. "bca" (Efron, 1987) corrects them for bias and
    skewness, by the `jackknife`: the value without each segment in turn. BCa is right for most
    metrics. Where the bias is larger than the standard error, as for metrics over types, whose
    resamples lose rare ones, only "centred" holds what it says: see docs/significance.md.

    - Where the observed value lies outside of all replicates, the bias is beyond what BCa can
      correct, and the percentile interval is given.
    - Without a jackknife, or with one whose values are all the same, the acceleration is 0.
    - Replicates that are all the same give an interval of no width.
    - A jackknife of one segment, an unknown observed value or no replicate gives `nan`: one
      segment says nothing about how much segments vary. Unknown replicates are left out.
    """
    if not 0 < level < 1:
        raise DataError(f"level {level:g}: give a share between 0 and 1, such as 0.95.")
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
    if method == "centred":
        low, high = low - bias, high - bias
    return Interval(float(low), float(high), bias)


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
