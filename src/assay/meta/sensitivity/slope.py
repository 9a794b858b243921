"""The difficulty slope: how a system's scores follow a reference system's from text to text."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from assay.data import DataError
from assay.intervals import interval
from assay.meta.panel import Candidate
from assay.meta.sensitivity.resampling import Draws
from assay.meta.sensitivity.study import Study, text_scores
from assay.metrics.base import Array, divide
from assay.moments import pearson_rows
from assay.settings import nearest

__all__ = ["Slope", "place_of", "slopes_of"]

FLAT = 1e-13
"""A variance below this share of the mean square is rounding."""


class Slope(NamedTuple):
    """The line through a system's scores of texts by the reference system's.

    1 is to gain and lose from text to text as the reference system does; more is to lose more
    where texts are hard for it. Where there is none, `reason` says why.
    """

    system: str
    slope: float
    low: float
    high: float
    intercept: float
    r: float
    n: int
    reason: str = ""


def place_of(system: str, study: Study) -> int:
    """The number of the reference system; a `DataError` where there is none of that name."""
    if system not in study.systems:
        hint, known = nearest(system, study.systems), ", ".join(study.systems)[:200]
        raise DataError(f"--slope {system}: no such system{hint}. Systems: {known}.")
    return study.systems.index(system)


def slopes_of(
    study: Study, candidate: Candidate, reference: int, draws: Draws
) -> tuple[Slope, ...]:
    """The slope of every other system, by least squares over whole texts; BCa intervals."""
    scores = text_scores(candidate, study.texts)
    texts = scores.shape[1]
    all_texts = np.ones((1, texts))
    hard = scores[reference]
    found = []
    for at, own in enumerate(scores):
        if at == reference:
            continue
        slope, intercept = (float(each[0]) for each in _lines(hard, own, all_texts))
        drawn, _ = _lines(hard, own, draws.weights)
        left, _ = _lines(hard, own, 1 - np.eye(texts))
        low, high, _ = interval(slope, drawn, jackknife=left)
        known = int((~np.isnan(hard + own)).sum())
        reason = _reason(slope, known)
        r = float(pearson_rows(hard, own)) if known > 1 else math.nan
        found.append(Slope(study.systems[at], slope, low, high, intercept, r, known, reason))
    return tuple(found)


def _reason(slope: float, texts: int) -> str:
    if not math.isnan(slope):
        return ""
    if texts < 2:
        return f"{texts} texts to compare; a line needs 2"
    return "the reference system has the same score on all texts"


def _lines(x: Array, y: Array, weights: Array) -> tuple[Array, Array]:
    """Slope and intercept of the weighted regression of y on x, for each row of weights."""
    known = ~np.isnan(x + y)
    middle = float(x[known].mean()) if known.any() else 0.0
    # Around 0, sums of squares keep their digits.
    x, y = np.where(known, x - middle, 0.0), np.where(known, y, 0.0)
    weights = weights * known
    total = weights.sum(axis=1)
    mean_x, mean_y = divide(weights @ x, total), divide(weights @ y, total)
    variance = divide(weights @ (x * x), total) - mean_x**2
    covariance = divide(weights @ (x * y), total) - mean_x * mean_y
    flat = variance <= FLAT * (middle + mean_x) ** 2
    slope = np.where(flat, np.nan, divide(covariance, np.where(flat, 1.0, variance)))
    return slope, mean_y - slope * (mean_x + middle)
