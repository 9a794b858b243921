"""Language pairs side by side: means, medians, spread and wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.agreement.panel import as_printed
from assay.statistics.arrays import Array

__all__ = ["LeaveOut", "Summary", "summarise"]


LeaveOut = Literal["none", "paper"]
"""Every pair counts, or the rule of Gowda et al. (2021) for leaving pairs out."""

PRINTED = 3
"""Decimals in the tables of the paper, whose summaries are of what is printed."""

SLACK = 1e-12


@dataclass(frozen=True, eq=False)
class Summary:
    """What all pairs say together, one value per metric.

    `values` (pairs, metrics) are those that were summarised, `kept` the pairs that count for
    mean, median and standard deviation, `significant` and `best` mark cells; `wins` counts those
    that are best of their pair, ties for all that share it.
    """

    values: Array
    kept: NDArray[np.bool_]
    significant: NDArray[np.bool_]
    best: NDArray[np.bool_]
    mean: Array
    median: Array
    sd: Array
    wins: NDArray[np.int_]


def summarise(
    values: Array, p: Array, *, leave_out: LeaveOut = "none", alpha: float = 0.05
) -> Summary:
    """Summaries of (pairs, metrics) agreements and their p.

    With "none" all pairs count in which every metric has a value, whatever its p, and the best
    metric of each wins. With "paper" only pairs count in which every metric is significant, and
    only significant cells win; agreements are then taken as printed, without their sign and with
    three decimals. That favours metrics: what fails anywhere is not held against anybody.

    >>> values, p = np.array([[0.9, 0.8], [0.5, 0.1]]), np.array([[0.01, 0.01], [0.03, 0.4]])
    >>> summary = summarise(values, p)
    >>> summary.mean.round(3).tolist(), summary.wins.tolist()
    ([0.7, 0.45], [2, 0])
    """
    paper = leave_out == "paper"
    shown = as_printed(np.abs(values), PRINTED) if paper else values
    known = ~np.isnan(values)
    # Where a coefficient has no p, nothing speaks against it.
    significant = known & ~(p >= alpha)
    kept = np.asarray((significant if paper else known).all(axis=1))
    best = _best(shown, significant if paper else known)
    chosen = shown[kept]
    median = _of(chosen, np.median, 1)
    return Summary(
        values=shown,
        kept=kept,
        significant=significant,
        best=best,
        mean=_of(chosen, np.mean, 1),
        # Half-way between two printed figures there is one more decimal, and no rounding error.
        median=as_printed(median, PRINTED + 1) if paper else median,
        sd=_of(chosen, lambda each, axis: np.std(each, axis=axis, ddof=1), 2),
        wins=best.sum(axis=0),
    )


def _best(values: Array, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The highest of each row among those allowed; none of a single metric."""
    if values.shape[1] < 2:
        return np.zeros(values.shape, bool)
    among = np.where(allowed, values, -np.inf)
    return np.asarray(allowed & (among >= among.max(axis=1, keepdims=True) - SLACK))


def _of(chosen: Array, statistic: object, least: int) -> Array:
    if len(chosen) < least:
        return np.full(chosen.shape[1], np.nan)
    return np.asarray(statistic(chosen, axis=0))  # type: ignore[operator]
