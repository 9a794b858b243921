"""Many tests at once: p-values that hold for all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from assay.data import Array

__all__ = ["Correction", "benjamini_hochberg", "holm", "step_down"]

Correction = Literal["holm", "step-down"]
"""Holm's method on each p, or the step-down max-T test on all resampled differences."""

TOLERANCE = 1e-9
"""A resampled difference that falls short of the observed one by this share still reaches it."""


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


def step_down(observed: Array, resampled: Iterable[Array]) -> Array:
    """The adjusted p of several differences, (m,), by the step-down max-T test.

    `resampled` are blocks (m, b) of the same differences where there is nothing to find; all are
    sizes by their standard errors. The largest observed one is compared with the largest of all m
    in each resample, the next with the largest of all but that one, and so on (Westfall and Young,
    1993; Romano and Wolf, 2005). So the smallest p is 1 / (resamples + 1), however many differences
    there are, and what is correlated does not count twice. Unknown ones (`nan`) stay so.

    >>> step_down(np.array([3.0, 1.0]), [np.array([[1.0, 2.0, 0.5], [0.5, 4.0, 0.7]])])
    array([0.5, 0.5])
    """
    known = np.count_nonzero(~np.isnan(observed))
    order = np.argsort(observed)[:known]
    sizes = observed[order, None]
    reached, count = np.zeros(known), 0
    for block in resampled:
        largest = np.maximum.accumulate(np.nan_to_num(block[order], nan=-1.0), axis=0)
        reached += np.count_nonzero(largest >= sizes - TOLERANCE * np.abs(sizes), axis=1)
        count += block.shape[1]
    # No p is below that of a larger difference.
    p = np.maximum.accumulate(((reached + 1) / (count + 1))[::-1])[::-1]
    adjusted = np.full(len(observed), np.nan)
    adjusted[order] = p
    return adjusted
