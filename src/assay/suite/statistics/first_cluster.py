"""The first cluster of a row: its best systems, and those that are not significantly worse."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.comparisons import benjamini_hochberg, holm
from assay.metrics.base import Array
from assay.suite.statistics.groups import Tally
from assay.suite.statistics.proportions import Exactness, mcnemar, stratified_z_test, z_test
from assay.suite.statistics.signflips import sign_flips

__all__ = [
    "Correction",
    "Test",
    "against_best",
    "best_of",
    "corrected",
    "corrected_pairs",
    "macro_pairs",
    "pairs",
]

Test = Literal["midp", "mcnemar", "z"]
"""How two systems are compared: by McNemar's test on the items that both have, two-tailed, with
mid-p or exact; or by the paper's Z-test of two proportions, one-tailed, as if they had been
measured on different items."""

Correction = Literal["row", "none", "holm", "bh"]
"""For many comparisons: Holm's over all pairs of systems in the row; not at all; or Holm's, or
Benjamini and Hochberg's, over all pairs of systems in all rows of the level."""

TIE = 1e-9
"""Accuracies that differ by less are equal, but for rounding."""

_EXACTNESS: dict[Test, Exactness] = {"mcnemar": "exact", "midp": "midp"}


def best_of(accuracy: Array) -> NDArray[np.bool_]:
    """Which systems (last axis) have the highest accuracy; none where none has any."""
    highest = np.where(np.isnan(accuracy), -np.inf, accuracy).max(axis=-1, keepdims=True)
    return np.asarray(accuracy >= highest - TIE)


def pairs(counts: Tally, test: Test) -> Array:
    """The p of the first system being better than the second, (groups, systems, systems).

    `nan` where one of the two has no items, and for a system and itself.
    """
    if test == "z":
        k, n = counts.passed, counts.items
        p = z_test(k[:, :, None], n[:, :, None], k[:, None, :], n[:, None, :])
    else:
        lost = counts.won.transpose(0, 2, 1)
        p = _two_tailed(mcnemar(counts.won, lost, method=_EXACTNESS[test]))
    return _known(p, counts.items > 0)


def macro_pairs(counts: Tally, test: Test) -> Array:
    """The same for the average over all groups, (1, systems, systems)."""
    systems = counts.items.shape[1]
    known = counts.items.sum(axis=0) > 0
    p = np.ones((1, systems, systems))
    for better, other in permutations(np.flatnonzero(known), 2):
        p[0, better, other] = _macro_tail(counts, better, other, test)
    return _known(p if test == "z" else _two_tailed(p), known[None, :])


def against_best(p: Array, best: NDArray[np.bool_]) -> Array:
    """The p of each system being worse than the best of its row, (rows, systems).

    `nan` for the best and for systems without items. Where several are best, the largest p of
    those against them counts: a system is worse if it is worse than all of them.
    """
    largest = np.where(best[:, :, None], p, 0).max(axis=1, initial=0)
    return np.where(best | ~best.any(axis=1, keepdims=True), np.nan, largest)


def corrected_pairs(p: Array, families: Sequence[str], correct: Correction) -> Array:
    """The p of pairs, (rows, systems, systems), corrected; one family per row.

    Two systems are one comparison. The one that does not come out ahead of the other has 1.
    """
    if correct == "none":
        return p
    names = [str(at) for at in range(len(p))] if correct == "row" else families
    method: Correction = "holm" if correct == "row" else correct
    other = p.transpose(0, 2, 1)
    smaller = np.minimum(p, other)
    one, two = np.triu_indices(p.shape[1], 1)
    new = corrected(smaller[:, one, two], names, method)
    result = smaller.copy()
    result[:, one, two] = result[:, two, one] = new
    return np.where(p > other, np.maximum(result, 1), result)


def corrected(p: Array, families: Sequence[str], correct: Correction) -> Array:
    """Each p, corrected by "holm" or "bh" for all of its family; one family per row of `p`."""
    if correct not in ("holm", "bh"):
        return p
    method = holm if correct == "holm" else benjamini_hochberg
    result = np.empty_like(p)
    for family in set(families):
        rows = np.array([each == family for each in families])
        result[rows] = method(p[rows].ravel()).reshape(p[rows].shape)
    return result


def _macro_tail(counts: Tally, better: np.intp, other: np.intp, test: Test) -> float:
    if test == "z":
        k, n = counts.passed, counts.items
        return float(stratified_z_test(k[:, better], n[:, better], k[:, other], n[:, other]))
    return sign_flips(
        counts.won[:, better, other],
        counts.won[:, other, better],
        counts.shared[:, better, other],
        method=_EXACTNESS[test],
    )


def _two_tailed(p: Array) -> Array:
    return np.minimum(1, 2 * p)


def _known(p: Array, some: NDArray[np.bool_]) -> Array:
    """The p of two different systems that both have items, `nan` elsewhere."""
    both = some[:, :, None] & some[:, None, :] & ~np.eye(p.shape[1], dtype=bool)
    return np.where(both, p, np.nan)
