"""The two stages (Babych and Hartley, 2008), the size of text a metric needs, and slopes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.agreement.agree import Agreement, agree
from assay.agreement.coefficients import Coefficient, fisher_interval
from assay.agreement.panel import Candidate, outliers
from assay.agreement.sensitivity.study import Study, TextRatings, Texts, corpus_scores, text_scores
from assay.data import Array, DataError, divide
from assay.registry import did_you_mean
from assay.statistics.correlation import pearson_rows
from assay.statistics.intervals import interval

__all__ = [
    "BestSystems",
    "CorrelationEstimate",
    "DifficultySlope",
    "Numbers",
    "Reached",
    "SizeAgreement",
    "Stages",
    "Tendency",
    "TextDraws",
    "across_systems",
    "best_of",
    "check_sizes",
    "difference",
    "over_texts",
    "partial",
    "place_of",
    "reached",
    "sizes_of",
    "slopes_of",
    "stages_of",
    "usual_sizes",
]


FEWEST = 4
"""Of fewer systems there is no interval, and nothing to hold fixed."""

TAILS = (0.5, 0.025, 0.975)

BLOCK = 2**23
"""Resamples are worked off so many pairs of texts at a time."""

Numbers = NDArray[np.intp]

Tendency = Literal["falls", "rises", "cannot tell"]


@dataclass(frozen=True, eq=False)
class TextDraws:
    """Texts drawn with replacement: their numbers, (b, texts)."""

    texts: Numbers

    @classmethod
    def of(cls, texts: int, count: int, *, rng: np.random.Generator) -> TextDraws:
        """So many draws; the same for every metric, so that metrics can be compared."""
        return cls(rng.integers(0, texts, (count, texts)))

    @property
    def weights(self) -> Array:
        """How often each text is drawn, (b, texts)."""
        count, texts = self.texts.shape
        places = self.texts + texts * np.arange(count)[:, None]
        drawn = np.bincount(places.ravel(), minlength=count * texts)
        return np.asarray(drawn.reshape(count, texts), float)


class CorrelationEstimate(NamedTuple):
    """A correlation with its 95% interval; where `value` is `nan`, `reason` says why.

    `test` says where `p` comes from.
    """

    value: float
    low: float
    high: float
    p: float
    n: int
    reason: str = ""
    test: str = ""

    @property
    def tendency(self) -> Tendency | None:
        """What becomes of one as the other rises, as far as the interval tells."""
        if math.isnan(self.value):
            return None
        if self.high < 0:
            return "falls"
        return "rises" if self.low > 0 else "cannot tell"


@dataclass(frozen=True, eq=False)
class Stages:
    """What one metric's scores say.

    `sensitivity` is the correlation over texts, one per system. `dependence` is that of
    sensitivity with quality, over systems; `given_spread` is what is left of it among systems
    whose human scores vary alike from text to text. `agreement` is the metric's correlation with
    people at system level. All three have intervals by Fisher's z, for other systems on as many
    texts. `without_outliers` is the dependence among systems of not too different quality, where
    some are.
    """

    candidate: Candidate
    sensitivity: tuple[CorrelationEstimate, ...]
    dependence: CorrelationEstimate
    given_spread: CorrelationEstimate
    without_outliers: Agreement | None
    agreement: CorrelationEstimate


def stages_of(
    study: Study, candidate: Candidate, coefficient: Coefficient, draws: TextDraws
) -> Stages:
    """Both stages of one metric."""
    human = study.human
    first = _first(candidate, human, coefficient, draws)
    values = np.array([estimate.value for estimate in first])
    own = corpus_scores(candidate, study.texts, np.ones((1, len(study.texts))))[0]
    return Stages(
        candidate=candidate,
        sensitivity=first,
        dependence=_over_systems(values, human.quality, coefficient),
        given_spread=_given_spread(human, coefficient, values),
        without_outliers=_without_outliers(values, human.quality, coefficient),
        agreement=_over_systems(own, human.quality, coefficient),
    )


def difference(first: Stages, second: Stages, coefficient: Coefficient) -> CorrelationEstimate:
    """How much more the first metric's sensitivity depends on quality than the second's.

    The interval is that of Zou (2007) for two correlations that share a variable.
    """
    one, other = first.dependence, second.dependence
    ours, theirs = (
        np.array([[estimate.value for estimate in stages.sensitivity]])
        for stages in (first, second)
    )
    between = float(across_systems(ours, theirs, coefficient)[0])
    value = one.value - other.value
    common = _common(one.value, other.value, between)
    low = value - _reach(one.value - one.low, other.high - other.value, common)
    high = value + _reach(one.high - one.value, other.value - other.low, common)
    return CorrelationEstimate(value, low, high, math.nan, one.n)


def _common(one: float, other: float, between: float) -> float:
    """The correlation of two correlations with the same variable, from that of the other two."""
    room = (1 - one**2) * (1 - other**2)
    if not room > 0:
        return math.nan
    rest = 1 - one**2 - other**2 - between**2
    common = ((between - one * other / 2) * rest + between**3) / room
    return max(-1.0, min(1.0, common))


def _reach(first: float, second: float, common: float) -> float:
    square = first**2 + second**2 - 2 * common * first * second
    return math.sqrt(square) if square >= 0 else math.nan if math.isnan(square) else 0.0


def _first(
    candidate: Candidate, human: TextRatings, coefficient: Coefficient, draws: TextDraws
) -> tuple[CorrelationEstimate, ...]:
    """The sensitivity of each system, with BCa intervals."""
    drawn = over_texts(candidate.oriented, human.scores, coefficient, draws.texts)
    left = _without_each(candidate, human, coefficient)
    estimates = []
    for place, (own, theirs) in enumerate(zip(candidate.oriented, human.scores, strict=True)):
        agreement = agree(own[None], theirs[None], coefficient)
        low, high, _ = interval(agreement.value, drawn[:, place], jackknife=left[:, place])
        estimate = _with_interval(agreement, low, high)
        if np.isnan(theirs).all():
            estimate = estimate._replace(reason="people rated none of its texts")
        estimates.append(estimate)
    return tuple(estimates)


def _given_spread(
    human: TextRatings, coefficient: Coefficient, values: Array
) -> CorrelationEstimate:
    """The partial correlation of sensitivity and quality, people's spread held fixed."""
    three = np.stack([values, human.quality, human.spread])
    three = np.where(np.isnan(three).any(axis=0), np.nan, three)
    known = int((~np.isnan(three[0])).sum())
    if known < FEWEST:
        reason = f"only {known} systems; a partial correlation needs {FEWEST}"
        return CorrelationEstimate(math.nan, math.nan, math.nan, math.nan, known, reason)
    pairs = ((0, 1), (0, 2), (2, 1))
    correlations = (
        across_systems(three[a : a + 1], three[b : b + 1], coefficient) for a, b in pairs
    )
    value = float(partial(*correlations)[0])
    low, high = fisher_interval(coefficient, value, known - 1)
    reason = "" if not math.isnan(value) else "spread and quality, or sensitivity, are one"
    return CorrelationEstimate(value, low, high, math.nan, known, reason)


def _without_each(candidate: Candidate, human: TextRatings, coefficient: Coefficient) -> Array:
    """The sensitivity of each system without each text in turn, (texts, systems)."""
    systems, texts = human.scores.shape
    if texts < 2:
        return np.full((texts, systems), np.nan)
    others = np.array([[other for other in range(texts) if other != text] for text in range(texts)])
    return over_texts(candidate.oriented, human.scores, coefficient, others)


def _without_outliers(values: Array, quality: Array, coefficient: Coefficient) -> Agreement | None:
    """The second stage without systems far better or worse than most; None where none is."""
    far = outliers(quality)
    return _agreement(values[~far], quality[~far], coefficient) if far.any() else None


def _over_systems(values: Array, quality: Array, coefficient: Coefficient) -> CorrelationEstimate:
    """The agreement with its interval; none where systems are too few."""
    agreement = _agreement(values, quality, coefficient)
    low, high = fisher_interval(coefficient, agreement.value, agreement.n)
    return _with_interval(agreement, low, high)


def _with_interval(agreement: Agreement, low: float, high: float) -> CorrelationEstimate:
    value, p, n = agreement.value, agreement.p, agreement.n
    return CorrelationEstimate(value, low, high, p, n, agreement.reason, agreement.test)


def _agreement(values: Array, quality: Array, coefficient: Coefficient) -> Agreement:
    return agree(values[None], quality[None], coefficient)


class BestSystems(NamedTuple):
    """The agreement among the k best systems by people's scores, of which `last` is the worst.

    The interval is for other texts. `typical`, `random_low` and `random_high` are what k systems
    drawn at random have: the median, and the ends between which 95% lie.
    """

    k: int
    last: str
    agreement: CorrelationEstimate
    typical: float
    random_low: float
    random_high: float


def best_of(
    study: Study,
    stages: Stages,
    coefficient: Coefficient,
    draws: TextDraws,
    *,
    rng: np.random.Generator,
) -> tuple[BestSystems, ...]:
    """From all systems down to the fewest that the coefficient can compare."""
    human = study.human
    order = _ranked(human.quality)
    own = corpus_scores(stages.candidate, study.texts, np.ones((1, len(study.texts))))[0]
    corpora = corpus_scores(stages.candidate, study.texts, draws.weights)
    quality = human.quality_on(draws.weights)
    shuffled = rng.permuted(np.tile(order, (len(draws.texts), 1)), axis=1)
    best = []
    for k in range(len(order), coefficient.least - 1, -1):
        top = order[:k]
        agreement = agree(own[None, top], human.quality[None, top], coefficient)
        drawn = across_systems(corpora[:, top], quality[:, top], coefficient)
        others = across_systems(own[shuffled[:, :k]], human.quality[shuffled[:, :k]], coefficient)
        # Of very few systems the bias cannot be corrected: a plain percentile interval.
        low, high, _ = interval(agreement.value, drawn, method="percentile")
        estimate = _with_interval(agreement, low, high)
        best.append(BestSystems(k, study.systems[top[-1]], estimate, *_tails(others)))
    return tuple(best)


def _ranked(quality: Array) -> np.ndarray:
    """The numbers of the systems with a human score, the best first."""
    order = np.argsort(-quality, kind="stable")
    return np.asarray(order[~np.isnan(quality[order])])


def _tails(values: Array) -> tuple[float, float, float]:
    known = values[~np.isnan(values)]
    if not known.size:
        return np.nan, np.nan, np.nan
    typical, low, high = map(float, np.quantile(known, TAILS))
    return typical, low, high


def over_texts(metric: Array, human: Array, coefficient: Coefficient, draws: Numbers) -> Array:
    """The correlation over drawn texts of each system: (systems, texts) to (b, systems).

    `nan` where fewer texts are known than the coefficient needs.
    """
    systems, texts = metric.shape
    step = max(1, BLOCK // max(1, systems * texts * texts))
    blocks = [np.zeros((0, systems))]
    for start in range(0, len(draws), step):
        block = draws[start : start + step]
        own, theirs = _drawn(metric, block), _drawn(human, block)
        enough = (~np.isnan(own + theirs)).sum(axis=1) >= coefficient.least
        values = np.where(enough, coefficient.each(own, theirs), np.nan)
        blocks.append(values.reshape(-1, systems))
    return np.concatenate(blocks)


def across_systems(values: Array, quality: Array, coefficient: Coefficient) -> Array:
    """The correlation over systems, (b, systems) twice to (b,).

    `nan` where fewer systems are known than the coefficient needs: any two lie on a line.
    """
    enough = (~np.isnan(values + quality)).sum(axis=1) >= coefficient.least
    return np.where(enough, coefficient.each(values, quality), np.nan)


def partial(first: Array, second: Array, held: Array) -> Array:
    """The correlation of two things where a third is held fixed, from those of each two.

    `first` is that of both, `second` and `held` that of each with the third; `nan` where the
    third says all.
    """
    room = (1 - second**2) * (1 - held**2)
    tight = room <= 1e-12
    value = (first - second * held) / np.sqrt(np.where(tight, 1.0, room))
    return np.where(tight, np.nan, np.clip(value, -1, 1))


def _drawn(scores: Array, draws: Numbers) -> Array:
    """The drawn texts of every system, (b * systems, texts)."""
    return np.moveaxis(scores[:, draws], 0, 1).reshape(-1, draws.shape[1])


DRAWS = 200
"""So many random choices of texts for each size."""

SIZE_TAILS = (0.5, 0.025, 0.975, 0.05)
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
    value, low, high, most = map(float, np.quantile(known, SIZE_TAILS))
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
