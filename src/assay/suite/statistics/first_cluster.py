"""The first cluster of a row: its best systems, and those that are not significantly worse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.comparisons import benjamini_hochberg, holm
from assay.metrics.base import Array
from assay.suite.statistics.groups import Tally
from assay.suite.statistics.proportions import Exactness, mcnemar, stratified_z_test, z_test
from assay.suite.statistics.signflips import sign_flips

__all__ = ["Correction", "Test", "best_of", "corrected", "macro_worse", "worse"]

Test = Literal["z", "mcnemar", "midp"]
"""How systems are compared: the paper's Z-test of two proportions, as if they had been measured
on different items, or McNemar's test on the items that both have, exact or with mid-p."""

Correction = Literal["none", "holm", "bh"]
"""For many comparisons: not at all, Holm's, or Benjamini and Hochberg's."""

TIE = 1e-9
"""Accuracies that differ by less are equal, but for rounding."""

_EXACTNESS: dict[Test, Exactness] = {"mcnemar": "exact", "midp": "midp"}


def best_of(accuracy: Array) -> NDArray[np.bool_]:
    """Which systems (last axis) have the highest accuracy; none where none has any."""
    highest = np.where(np.isnan(accuracy), -np.inf, accuracy).max(axis=-1, keepdims=True)
    return np.asarray(accuracy >= highest - TIE)


def worse(counts: Tally, best: NDArray[np.bool_], test: Test) -> Array:
    """One-tailed p of each system being worse than the best, (groups, systems).

    `nan` for the best and for systems without items. Where several are best, the largest p of
    those against them counts: a system is worse if it is worse than all of them.
    """
    if test == "z":
        k, n = counts.passed, counts.items
        p = z_test(k[:, :, None], n[:, :, None], k[:, None, :], n[:, None, :])
    else:
        lost = counts.won.transpose(0, 2, 1)
        p = mcnemar(counts.won, lost, method=_EXACTNESS[test])
    p = np.where(best[:, :, None], p, 0).max(axis=1)
    return np.where(best | (counts.items == 0), np.nan, p)


def macro_worse(counts: Tally, best: NDArray[np.bool_], test: Test) -> Array:
    """The same for the average over all groups, (systems,)."""
    p = np.full(len(best), np.nan)
    for system in np.flatnonzero(~best & (counts.items.sum(axis=0) > 0)):
        p[system] = max(_macro_p(counts, other, system, test) for other in np.flatnonzero(best))
    return p


def corrected(p: Array, families: Sequence[str], correct: Correction) -> Array:
    """Each p, corrected for all comparisons of its family; one family per row of `p`."""
    if correct == "none":
        return p
    method = holm if correct == "holm" else benjamini_hochberg
    result = np.empty_like(p)
    for family in set(families):
        rows = np.array([each == family for each in families])
        result[rows] = method(p[rows].ravel()).reshape(p[rows].shape)
    return result


def _macro_p(counts: Tally, better: np.intp, other: np.intp, test: Test) -> float:
    if test == "z":
        k, n = counts.passed, counts.items
        return float(stratified_z_test(k[:, better], n[:, better], k[:, other], n[:, other]))
    return sign_flips(
        counts.won[:, better, other],
        counts.won[:, other, better],
        counts.shared[:, better, other],
        method=_EXACTNESS[test],
    )
