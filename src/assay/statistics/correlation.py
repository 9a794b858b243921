"""Correlations of many groups at once, from their sums; `nan` is missing."""

from __future__ import annotations

import numpy as np

from assay.statistics.arrays import Array

__all__ = ["pearson_rows", "ranks"]

FLAT = 1e-13
"""A variance below this share of the mean square is rounding, and the scores are all equal."""


def pearson_rows(first: Array, second: Array) -> Array:
    """Pearson's r along the last axis: (..., members) twice to (...).

    Members of which one score is missing are left out; `nan` where one side does not vary.
    """
    known = ~(np.isnan(first) | np.isnan(second))
    count = np.maximum(known.sum(axis=-1, keepdims=True), 1)
    a, flat_a = _centred(first, known, count)
    b, flat_b = _centred(second, known, count)
    spread = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    flat = flat_a | flat_b | (spread == 0)
    r = (a * b).sum(axis=-1) / np.where(flat, 1.0, spread)
    return np.where(flat, np.nan, np.clip(r, -1, 1))


def ranks(values: Array, known: np.ndarray) -> Array:
    """Ranks along the last axis among what is known, ties sharing theirs; `nan` elsewhere."""
    from scipy.stats import rankdata

    ranked = rankdata(np.where(known, values, np.inf), axis=-1)
    return np.where(known, ranked, np.nan)


def _centred(values: Array, known: np.ndarray, count: np.ndarray) -> tuple[Array, np.ndarray]:
    """The known values less their mean, 0 elsewhere, and whether they do not vary."""
    filled = np.where(known, values, 0.0)
    centred = np.where(known, filled - filled.sum(axis=-1, keepdims=True) / count, 0.0)
    size = (filled * filled).sum(axis=-1)
    return centred, (centred * centred).sum(axis=-1) <= FLAT * size
