"""Language pairs side by side: means, medians, spread and wins; scores as printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.agreement.panel import Candidate
from assay.data import DataError
from assay.registry import parse
from assay.settings import nearest
from assay.statistics.arrays import Array

__all__ = ["LeaveOut", "Rounding", "Summary", "as_printed", "goes_by", "summarise"]


def as_printed(scores: Array, digits: int) -> Array:
    """The scores as they read when printed with so many decimals.

    >>> as_printed(np.array([[31.25, 31.35]]), 1).tolist()
    [[31.2, 31.4]]
    """
    # NumPy multiplies before it rounds, so that halves may fall to the other side.
    rounded = [round(each, digits) for each in scores.ravel().tolist()]
    return np.array(rounded, float).reshape(scores.shape)


def goes_by(candidate: Candidate, name: str) -> bool:
    """Whether a metric is meant: by its title, its settings, or a short form of these."""
    if name.lower() in (candidate.name.lower(), candidate.title.lower()):
        return True
    try:
        return str(parse(name)) == (candidate.resolved or candidate.name)
    except DataError:
        return False


@dataclass(frozen=True)
class Rounding:
    """Decimals for all metrics, and for some of them other decimals; None is not rounded."""

    digits: int | None = None
    by_name: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, words: Sequence[str]) -> Rounding:
        """From words such as `1` and `chrf1=0`."""
        digits, by_name = None, {}
        for word in words:
            name, equals, number = word.rpartition("=")
            try:
                value = int(number)
            except ValueError:
                raise DataError(
                    f"--round {word}: give a number of decimals, or METRIC=DECIMALS as in chrf1=0."
                ) from None
            if equals:
                by_name[name] = value
            else:
                digits = value
        return cls(digits, by_name)

    def apply(self, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
        """The metrics with rounded scores."""
        for name in self.by_name:
            if not any(goes_by(each, name) for each in candidates):
                titles = [each.title for each in candidates]
                known = ", ".join(titles)
                raise DataError(
                    f"--round: no metric {name!r}{nearest(name, titles)} among {known}."
                )
        return tuple(self._apply(each) for each in candidates)

    def _apply(self, candidate: Candidate) -> Candidate:
        own = [value for name, value in self.by_name.items() if goes_by(candidate, name)]
        digits = own[0] if own else self.digits
        if digits is None:
            return candidate
        return replace(candidate, scores=as_printed(candidate.scores, digits))


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
