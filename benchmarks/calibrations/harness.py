"""Calibration by simulation: how often a test rejects a true null, how often intervals hold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
"""Real test sets, systems and human scores; see its README."""

SIZES = (100, 300, 1000, 3000)
"""Numbers of segments to simulate with."""


class Row(NamedTuple):
    """What one test or interval did in `runs` simulations; `nan` is not simulated.

    `at_05` and `at_01` are the shares of p below .05 and .01 under a true null. `below` and
    `above` are the shares of 95 % intervals that the truth lies below and above, `width` is
    their average width.
    """

    test: str
    metric: str
    n: int
    runs: int
    at_05: float = math.nan
    at_01: float = math.nan
    below: float = math.nan
    above: float = math.nan
    width: float = math.nan

    @property
    def coverage(self) -> float:
        """The share of intervals that hold the truth."""
        return 1 - self.below - self.above

    @property
    def calibrated(self) -> bool:
        """Whether the figures are within what is wanted, but for the simulation's own error."""
        noise = 2 * math.sqrt(0.05 * 0.95 / self.runs)
        low, high = (0.03, 0.065) if self.n >= 200 else (0.0, 0.07)
        test = math.isnan(self.at_05) or low - noise <= self.at_05 <= high + noise
        sides = [side for side in (self.below, self.above) if not math.isnan(side)]
        held = not sides or 0.93 - noise <= self.coverage <= 0.97 + noise
        return test and held and all(side <= 0.04 + noise for side in sides)


def null(test: str, metric: str, n: int, p: Sequence[float]) -> Row:
    """The row of a test, from its p-values where there was nothing to find."""
    values = np.asarray(p, float)
    known = values[~np.isnan(values)]
    if not known.size:
        return Row(test, metric, n, 0)
    return Row(
        test, metric, n, len(known), float((known < 0.05).mean()), float((known < 0.01).mean())
    )


def coverage(
    test: str, metric: str, n: int, intervals: Sequence[Sequence[float]], truth: float
) -> Row:
    """The row of an interval, from the (low, high) of every run and the true value."""
    low, high = np.asarray(intervals, float)[:, :2].T
    known = ~(np.isnan(low) | np.isnan(high))
    low, high = low[known], high[known]
    sides = float((truth < low).mean()), float((truth > high).mean())
    return Row(
        test, metric, n, len(low), below=sides[0], above=sides[1], width=float((high - low).mean())
    )


def table(rows: Iterable[Row]) -> str:
    """The rows in Markdown."""
    return "\n".join(lines(rows))


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """The lines of the table in Markdown, as the rows come."""
    yield "| test | metric | n | runs | p < .05 | p < .01 | below | above | covered | width | |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|"
    for row in rows:
        figures = [_share(x) for x in (row.at_05, row.at_01, row.below, row.above, row.coverage)]
        width = "" if math.isnan(row.width) else f"{row.width:.3g}"
        mark = "" if row.calibrated else "off"
        cells = (row.test, row.metric, f"{row.n:,}", f"{row.runs:,}", *figures, width, mark)
        yield "| " + " | ".join(cells) + " |"


def _share(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}".removeprefix("0")
