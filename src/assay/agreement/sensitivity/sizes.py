"""How much text a metric needs, and how scores follow those of a reference system."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from assay.agreement.coefficients import Coefficient
from assay.agreement.panel import Candidate
from assay.agreement.sensitivity.stages import TextDraws, across_systems
from assay.agreement.sensitivity.study import Study, Texts, corpus_scores, text_scores
from assay.data import DataError
from assay.settings import did_you_mean
from assay.statistics.arrays import Array, divide
from assay.statistics.correlation import pearson_rows
from assay.statistics.intervals import interval

__all__ = [
    "DifficultySlope",
    "Reached",
    "SizeAgreement",
    "check_sizes",
    "place_of",
    "reached",
    "sizes_of",
    "slopes_of",
    "usual_sizes",
]

DRAWS = 200
"""So many random choices of texts for each size."""

TAILS = (0.5, 0.025, 0.975, 0.05)
STEPS = (1, 2, 3, 5, 7)
"""Sizes are these times a power of ten: 7,000 is among them."""

SMALLEST = 200


class SizeAgreement(NamedTuple):
    """The agreement at system level of a metric that sees about so many words only.

    `texts` and `actual` are the mean number of texts and words in a draw. `value` is the median
    over draws, 95% of which lie between `low` and `high`; `most` is what 95% of them exceed.
    """

    words: int
    texts: float
    actual: float
    value: float
    low: float
    high: float
    most: float


class Reached(NamedTuple):
    """From how many words on half of all draws, and most of them, reach a value; None is never."""

    half: int | None
    most: int | None


def sizes_of(
    study: Study,
    candidate: Candidate,
    coefficient: Coefficient,
    words: Sequence[int],
    *,
    rng: np.random.Generator,
) -> tuple[SizeAgreement, ...]:
    """The agreement on random texts of each size with what people say of all texts.

    Whole texts are drawn without replacement until there are enough words, so the spread comes
    to nothing as the size comes near that of the test set. People's scores are those of the
    whole test set throughout: it is the metric that sees less.
    """
    order = rng.permuted(np.tile(np.arange(len(study.texts)), (DRAWS, 1)), axis=1)
    return tuple(_size(study, candidate, coefficient, size, order) for size in words)


def usual_sizes(texts: Texts) -> tuple[int, ...]:
    """Round numbers of words up to the size of the test set, and that size.

    >>> usual_sizes(Texts("document", ("a", "b"), np.array([400.0, 950.0])))
    (200, 300, 500, 700, 1000, 1350)
    """
    total = int(texts.words.sum())
    rounds = (step * 10**power for power in range(2, 9) for step in STEPS)
    return (*(words for words in rounds if SMALLEST <= words < total), total)


def reached(sizes: Sequence[SizeAgreement], value: float) -> Reached:
    """The sizes from which on the agreement does not fall below a value again."""
    return Reached(
        _from(sizes, [size.value >= value for size in sizes]),
        _from(sizes, [size.most >= value for size in sizes]),
    )


def check_sizes(words: Sequence[int], texts: Texts) -> tuple[int, ...]:
    """The sizes in order; a `DataError` where one is larger than the test set."""
    total = int(texts.words.sum())
    if words and max(words) > total:
        raise DataError(f"sizes: {max(words)} words, but the test set has {total} only.")
    return tuple(sorted(set(words))) or usual_sizes(texts)


def _size(
    study: Study, candidate: Candidate, coefficient: Coefficient, words: int, order: np.ndarray
) -> SizeAgreement:
    chosen = _chosen(study.texts, words, order)
    # At the size of the whole test set all draws are the same.
    weights = chosen[:1] if chosen.all() else chosen
    scores = corpus_scores(candidate, study.texts, weights)
    quality = np.broadcast_to(study.human.quality, scores.shape)
    values = across_systems(scores, quality, coefficient)
    actual = float((chosen @ study.texts.words).mean())
    return SizeAgreement(words, float(chosen.sum(axis=1).mean()), actual, *_quantiles(values))


def _chosen(texts: Texts, words: int, order: np.ndarray) -> Array:
    """(draws, texts): 1 for the first texts in each order that have enough words together."""
    lengths = texts.words[order]
    before = np.cumsum(lengths, axis=1) - lengths
    chosen = np.zeros(order.shape)
    np.put_along_axis(chosen, order, (before < words).astype(float), axis=1)
    return chosen


def _quantiles(values: Array) -> tuple[float, float, float, float]:
    known = values[~np.isnan(values)]
    if not known.size:
        return np.nan, np.nan, np.nan, np.nan
    value, low, high, most = map(float, np.quantile(known, TAILS))
    return value, low, high, most


def _from(sizes: Sequence[SizeAgreement], holds: Sequence[bool]) -> int | None:
    """The first size from which on it always holds."""
    first = None
    for size, held in zip(reversed(sizes), reversed(holds), strict=True):
        if not held:
            break
        first = size.words
    return first


FLAT = 1e-13
"""A variance below this share of the mean square is rounding."""


class DifficultySlope(NamedTuple):
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
        hint, known = did_you_mean(system, study.systems), ", ".join(study.systems)[:200]
        raise DataError(f"slope {system}: no such system{hint}. Systems: {known}.")
    return study.systems.index(system)


def slopes_of(
    study: Study, candidate: Candidate, reference: int, draws: TextDraws
) -> tuple[DifficultySlope, ...]:
    """The slope of every other system, by least squares over whole texts; BCa intervals."""
    scores = text_scores(candidate, study.texts)
    texts = scores.shape[1]
    all_texts = np.ones((1, texts))
    hard = scores[reference]
    slopes = []
    for place, own in enumerate(scores):
        if place == reference:
            continue
        (slope,), (intercept,) = (line.tolist() for line in _lines(hard, own, all_texts))
        drawn, _ = _lines(hard, own, draws.weights)
        left, _ = _lines(hard, own, 1 - np.eye(texts))
        low, high, _ = interval(slope, drawn, jackknife=left)
        known = int((~np.isnan(hard + own)).sum())
        reason = _reason(slope, known)
        r = float(pearson_rows(hard, own)) if known > 1 else math.nan
        system = study.systems[place]
        slopes.append(DifficultySlope(system, slope, low, high, intercept, r, known, reason))
    return tuple(slopes)


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
