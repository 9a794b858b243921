"""A metric made better by power means of its explanations: BMX (Leiter et al., 2022)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.data import Array, DataError, Dataset, Segment, divide
from assay.explanation.explainers import EXPLAINERS, LIME, Explainer
from assay.explanation.importances import Explanation, Sides, explain_segments, sides_of
from assay.metrics.base import METRICS, Metric, Rows
from assay.metrics.chrf import CHRF
from assay.progress import Track, untracked
from assay.registry import SEED, setting
from assay.text import Side

__all__ = [
    "EPSILON",
    "MOST_ITERATIONS",
    "PUBLISHED",
    "Boosted",
    "Boosting",
    "ExplainedScores",
    "Ragged",
    "Regular",
    "WeightAndPower",
    "collapsed",
    "combined",
    "explained_by",
    "power_means",
    "regularised",
]


EPSILON = 1e-9
"""What is added to every importance, of a metric from 0 to 1."""

MOST_ITERATIONS = 5
"""The work grows with the power of the iterations: 100 texts, 10,000, a million ..."""


@dataclass(frozen=True)
class Boosted(Metric):
    """w times a metric's score, and 1 - w times the power mean of its words' importances.

    `metric` and `explainer` may be given by name. In a specification their own settings stand in
    brackets, as in `boost:metric=bleu(effective_order=yes),explainer=lime(samples=50)`. `p` is a
    number, or inf or -inf. With more `iterations` the boosted metric is boosted again. A system's
    score is the mean of its segments', and more is always better.
    """

    name: ClassVar[str] = "boost"

    metric: Metric = setting(CHRF(), key="metric", parse=METRICS.parse)
    explainer: Explainer = setting(LIME(), key="explainer", parse=EXPLAINERS.parse)
    w: float = setting(0.4, key="w")
    p: float | str = setting(-1.4, key="p")
    regular: Literal["paper", "shift"] = setting("paper", key="regular")
    iterations: int = setting(1)
    sides: Literal["both", "hypothesis"] = setting("both", key="sides")
    random_seed: int = setting(SEED, key="random_seed")

    def __post_init__(self) -> None:
        self._settle("metric", METRICS.parse(self.metric))
        self._settle("explainer", EXPLAINERS.parse(self.explainer))
        self._settle("p", _power(self.p))
        super().__post_init__()
        if not 0 <= self.w <= 1:
            raise DataError(f"boost:w={self.w}: give a share from 0 to 1.")
        if not 1 <= self.iterations <= MOST_ITERATIONS:
            raise DataError(f"boost:iterations is from 1 to {MOST_ITERATIONS}.")
        if self.random_seed < 0:
            raise DataError(
                f"boost:random_seed={self.random_seed}: give a whole number of at least 0."
            )

    @property
    def needs_references(self) -> bool:  # type: ignore[override]  # as the metric inside
        """Whether the metric inside compares with references."""
        return self.base.needs_references

    @property
    def scale(self) -> str:  # type: ignore[override]  # as the metric inside
        """That of the metric inside, within which no score is the best there can be."""
        return f"boosted {self.base.scale}"

    @property
    def at(self) -> WeightAndPower:
        """The weight and the power as numbers."""
        return WeightAndPower(self.w, float(self.p))

    @property
    def base(self) -> Metric:
        """The metric that is boosted; with several iterations, itself boosted."""
        if self.iterations > 1:
            return replace(self, iterations=self.iterations - 1)
        return self.metric

    @property
    def needs_languages(self) -> tuple[Side, ...]:
        """Those of the metric inside, and those that the explainer replaces words in."""
        own: tuple[Side, ...] = ()
        if self.explainer.needs_english:
            own = ("target",) if self.metric.needs_references else ("source", "target")
        return tuple(dict.fromkeys((*self.metric.needs_languages, *own)))

    def for_dataset(self, dataset: Dataset) -> Self:
        """With the metric inside as it is for the texts' languages."""
        sides = sides_of(self.metric, hypothesis_only=self.sides == "hypothesis")
        self.explainer.check_dataset(dataset, sides)
        return replace(self, metric=self.metric.for_dataset(dataset))

    @property
    def title(self) -> str:
        """The metric's name, and that it is boosted: `boosted chrF2`."""
        return f"boosted {self.metric.title}"

    @property
    def mask_policy(self) -> Literal["word", "length", "type"]:
        """That of the metric inside."""
        return self.base.mask_policy

    def afresh(self) -> AbstractContextManager[None]:
        """As the metric inside."""
        return self.metric.afresh()

    def boosting(self, segments: Sequence[Segment], *, track: Track = untracked) -> Boosting:
        """The scores of segments, their explanations and what both make together."""
        scores = explained_by(
            self.explainer,
            self.base,
            segments,
            sides=self.sides,
            seed=self.random_seed,
            track=track,
        )
        explanation = scores.explanations([self.at.p], self.regular)[0]
        boosted = combined(scores.base, explanation, self.w)
        lost = collapsed(scores.importances, explanation)
        return Boosting(scores.base, explanation, boosted, lost)

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """The score of each segment, and whether it is known and unknown."""
        scores = self.boosting(segments).boosted
        known = np.isfinite(scores)
        return np.column_stack([np.where(known, scores, 0.0), known, ~known]).astype(float)

    def aggregate(self, sums: Array) -> Array:
        """The mean of what is known; 0 for no segments at all, as for other metrics."""
        total, known, unknown = sums.T
        return np.where((known == 0) & (unknown > 0), np.nan, divide(total, known))

    @classmethod
    def claims(cls) -> dict[str, str]:
        """With what is inside."""
        return super().claims() | {"base": "set metric=NAME", "words": "set explainer=NAME"}

    def details(self) -> dict[str, str]:
        """With all that the metric and the explainer inside leave unsaid."""
        inside = zip(_INSIDE, (self.base, self.explainer), strict=True)
        return super().details() | {key: _flat(settings.details()) for key, settings in inside}

    @classmethod
    def from_options(cls, options: Iterable[tuple[str, str]]) -> Self:
        """Also reads `p=inf` and `p=-inf`."""
        pairs = dict(options)
        if pairs.get("p") not in _ENDLESS:
            return super().from_options(pairs.items())
        p = pairs.pop("p")
        return replace(super().from_options(pairs.items()), p=p)

    def _settle(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


_ENDLESS = ("inf", "-inf")
_INSIDE = ("base", "words")


def _power(value: float | str) -> float | str:
    """A number, and inf or -inf as words: settings are finite numbers."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise DataError(f"boost:p={value}: this setting takes a number, inf or -inf.")
    return number if math.isfinite(number) else str(number)


def _flat(details: dict[str, str]) -> str:
    return ";".join(f"{key}={value}" for key, value in details.items()) or "none"


class Boosting(NamedTuple):
    """The scores of segments and how they came about; boosted = w·base + (1-w)·explanation.

    More is better: with a metric where lower is better, all signs are turned. `collapsed` is where
    the explanation is next to nothing, (segments,).
    """

    base: Array
    explanation: Array
    boosted: Array
    collapsed: NDArray[np.bool_]


class WeightAndPower(NamedTuple):
    """How much the base metric counts, and the power of the mean of the importances."""

    w: float
    p: float


PUBLISHED = {
    "erasure": WeightAndPower(0.6, -0.3),
    "lime": WeightAndPower(0.4, -1.4),
    "shap": WeightAndPower(0.6, -0.95),
    "marginal": WeightAndPower(0.8, -13.1),
}
"""The medians of the best values that Leiter et al. (2022) found for each explainer."""


@dataclass(frozen=True, eq=False)
class ExplainedScores:
    """A metric's scores of segments, and the importances of the words of each.

    More is better: with a metric where lower is better, all signs are turned. The importances
    of a segment are those of the ground truth, then those of the hypothesis. What could not be
    explained is `nan`. `epsilon` is the paper's 1e-9 on the metric's own scale.
    """

    base: Array
    importances: Ragged
    epsilon: float = EPSILON

    def __len__(self) -> int:
        return len(self.base)

    def chosen(self, keep: NDArray[np.bool_]) -> ExplainedScores:
        """Some of the segments."""
        return ExplainedScores(self.base[keep], self.importances.chosen(keep), self.epsilon)

    def explanations(self, powers: Sequence[float] | Array, regular: Regular = "paper") -> Array:
        """The importances of every segment as one number, (powers, segments)."""
        words = regularised(self.importances, regular, epsilon=self.epsilon)
        return power_means(words, powers)

    def boosted(self, at: WeightAndPower, regular: Regular = "paper") -> Array:
        """The boosted score of every segment."""
        return combined(self.base, self.explanations([at.p], regular)[0], at.w)

    def collapsed(self, p: float, regular: Regular = "paper") -> float:
        """The share of segments whose explanation is next to nothing: w times the base is left."""
        if not len(self):
            return 0.0
        return float(np.mean(collapsed(self.importances, self.explanations([p], regular)[0])))


def combined(base: Array, explanations: Array, w: float) -> Array:
    """The weighted sum w · base + (1 - w) · explanation."""
    return np.asarray(w * base + (1 - w) * explanations)


def explained_by(
    explainer: Explainer,
    metric: Metric,
    segments: Sequence[Segment],
    *,
    sides: Sides = "both",
    seed: int,
    track: Track = untracked,
) -> ExplainedScores:
    """Score segments and explain their scores."""
    wanted = sides_of(metric, hypothesis_only=sides == "hypothesis")
    explanations = explain_segments(
        metric, segments, explainer, sides=wanted, seed=seed, track=track
    )
    by_segment = [list(own) for _, own in groupby(explanations, key=attrgetter("segment"))]
    unit = 100.0 if metric.scale.endswith("0-100") else 1.0
    importances = [_concatenated(sides) for sides in by_segment]
    if explainer.follows_metric:
        importances = [metric.oriented(words) for words in importances]
    else:
        importances = [unit * words for words in importances]
    return ExplainedScores(
        base=metric.oriented(np.array([sides[0].score for sides in by_segment], float)),
        importances=Ragged.of(importances),
        epsilon=EPSILON * unit,
    )


def _concatenated(explanations: Sequence[Explanation]) -> Array:
    return np.concatenate([explanation.importances for explanation in explanations])


COLLAPSED = 0.01
"""An explanation below this share of the mean absolute importance says nothing any more."""

Regular: TypeAlias = Literal["paper", "shift"]


class Ragged(NamedTuple):
    """The numbers of many segments, one after the other; `lengths` tells how many each has."""

    values: Array
    lengths: NDArray[np.intp]

    @classmethod
    def of(cls, rows: Sequence[ArrayLike]) -> Ragged:
        """From one sequence of numbers per segment."""
        arrays = [np.asarray(row, float) for row in rows]
        values = np.concatenate([np.zeros(0), *arrays])
        return cls(values, np.array([len(each) for each in arrays], np.intp))

    def reduced(self, combine: np.ufunc) -> Array:
        """The numbers of each segment combined, and 0 where it has none."""
        found = np.zeros(len(self.lengths))
        filled = self.lengths > 0
        starts = (np.cumsum(self.lengths) - self.lengths)[filled]
        if len(starts):
            found[filled] = combine.reduceat(self.values, starts)
        return found

    def spread(self, each: Array) -> Array:
        """A number per segment, repeated for each of its own numbers."""
        return np.repeat(each, self.lengths)

    def chosen(self, keep: NDArray[np.bool_]) -> Ragged:
        """Those of some of the segments."""
        return Ragged(self.values[np.repeat(keep, self.lengths)], self.lengths[keep])


def regularised(
    importances: Ragged, regular: Regular = "paper", *, epsilon: float = EPSILON
) -> Ragged:
    """Importances made positive, as power means need them.

    "paper" (Leiter et al., 2022): where the least importance of a segment is 0 or less, all are
    raised by its absolute value, and `epsilon` is added to all. The least is then `epsilon`
    itself, and with a negative power the mean of them all is next to nothing.

    "shift" raises all by the segment's mean absolute importance besides. The least is then of the
    size of the others, so that no power collapses, and a unit of the metric stays a unit.

    >>> regularised(Ragged.of([[-1.0, 3.0]]), "paper", epsilon=0).values
    array([0., 4.])
    >>> regularised(Ragged.of([[-1.0, 3.0]]), "shift", epsilon=0).values
    array([2., 6.])
    """
    raised = -np.minimum(importances.reduced(np.minimum), 0.0)
    if regular == "shift":
        raised += _sizes(importances)
    return importances._replace(values=importances.values + importances.spread(raised) + epsilon)


def power_means(words: Ragged, powers: Sequence[float] | Array) -> Array:
    """The power means of every segment's numbers, (powers, segments), for every power.

    0 is the geometric mean, infinity the greatest and minus infinity the least. Numbers are 0 or
    more; a segment without any has the mean 0, and one with an unknown number an unknown mean.

    >>> power_means(Ragged.of([[1.0, 9.0], [5.0]]), [0.5, 1, 0]).round(9).tolist()
    [[4.0, 5.0], [5.0, 5.0], [3.0, 5.0]]
    """
    if (words.values < 0).any():
        raise DataError("power means are of numbers from 0 up: regularise importances first.")
    with np.errstate(divide="ignore"):
        logs = words._replace(values=np.log(words.values))
    distances = {sign: _from_extreme(logs, sign) for sign in (-1.0, 1.0)}
    means = np.array([_log_mean(logs, distances, float(p)) for p in powers]).reshape(
        len(powers), len(words.lengths)
    )
    return np.where(words.lengths > 0, np.exp(means), 0.0)


def collapsed(importances: Ragged, explanations: Array) -> NDArray[np.bool_]:
    """Where next to nothing is left of the importances: the explanation is worth no more than 0.

    `explanations` are the power means of each segment, (segments,).
    """
    sizes = _sizes(importances)
    lost = (explanations <= COLLAPSED * sizes) | (sizes == 0)
    return np.asarray(lost & (importances.lengths > 0))


def _sizes(importances: Ragged) -> Array:
    """The mean absolute importance of each segment."""
    total = importances._replace(values=np.abs(importances.values)).reduced(np.add)
    return divide(total, importances.lengths)


class _Distances(NamedTuple):
    """Logarithms less the greatest of their segment (or the least), and that one."""

    values: Ragged
    extreme: Array


def _from_extreme(logs: Ragged, sign: float) -> _Distances:
    extreme = logs.reduced(np.maximum if sign > 0 else np.minimum)
    extreme = np.where(np.isfinite(extreme), extreme, 0.0)
    return _Distances(logs._replace(values=logs.values - logs.spread(extreme)), extreme)


def _log_mean(logs: Ragged, distances: dict[float, _Distances], p: float) -> Array:
    """The logarithm of the p-mean of each segment, exact for the smallest p and safe for great."""
    if np.isnan(p):
        raise DataError("the power of a mean is a number, or inf or -inf.")
    if np.isinf(p):
        return logs.reduced(np.maximum if p > 0 else np.minimum)
    counts = np.maximum(logs.lengths, 1)
    if p == 0:
        return logs.reduced(np.add) / counts
    values, extreme = distances[np.sign(p)]
    with np.errstate(over="ignore", divide="ignore"):
        powers = values._replace(values=np.expm1(p * values.values))
        return extreme + np.log1p(powers.reduced(np.add) / counts) / p
