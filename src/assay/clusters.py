"""Rank clusters: systems that a test cannot tell apart share a rank."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError
from assay.metrics.base import Array

__all__ = ["rank_clusters"]


def rank_clusters(
    scores: Sequence[float] | Array,
    significant: NDArray[np.bool_],
    *,
    higher_is_better: bool = True,
) -> list[int]:
    """The cluster of each system, 1 for the best, as WMT ranks its systems.

    `significant` is a symmetric (systems, systems) matrix: does this pair differ significantly?
    A line is drawn wherever every system above it differs from every system below it, and never
    between equal scores. Systems of unknown score (`nan`) come last, in a cluster of their own.

    >>> differ = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]], bool)
    >>> rank_clusters([31.2, 31.0, 28.5], differ)
    [1, 1, 2]
    """
    values = np.asarray(scores, float)
    differ = np.asarray(significant, bool)
    _check(differ, len(values))
    order = np.argsort(-values if higher_is_better else values, kind="stable")
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


def _check(differ: NDArray[np.bool_], count: int) -> None:
    if differ.shape != (count, count) or (differ != differ.T).any():
        raise DataError(
            f"significance of {count} systems: needs a symmetric {count} x {count} matrix, one "
            f"row and one column per system, not one of shape {differ.shape} "
            "or with another answer for (i, j) than for (j, i)."
        )
