"""The two stages (Babych and Hartley, 2008): sensitivity, and its dependence on quality."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from assay.agreement.agree import Agreement, agree
from assay.agreement.coefficients import Coefficient, fisher_interval
from assay.agreement.findings import outliers
from assay.agreement.panel import Candidate
from assay.agreement.sensitivity.study import Study, corpus_scores
from assay.agreement.sensitivity.texts import Draws, People, across_systems, over_texts, partial
from assay.statistics.arrays import Array
from assay.statistics.intervals import interval

__all__ = ["Best", "Estimate", "Stages", "Tendency", "best_of", "difference", "stages_of"]

FEWEST = 4
"""Of fewer systems there is no interval, and nothing to hold fixed."""

Tendency = Literal["falls", "rises", "cannot tell"]


class Estimate(NamedTuple):
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
    sensitivity: tuple[Estimate, ...]
    dependence: Estimate
    given_spread: Estimate
    without_outliers: Agreement | None
    agreement: Estimate


def stages_of(study: Study, candidate: Candidate, coefficient: Coefficient, draws: Draws) -> Stages:
    """Both stages of one metric."""
    people = study.people
    first = _first(candidate, people, coefficient, draws)
    values = np.array([each.value for each in first])
    own = corpus_scores(candidate, study.texts, np.ones((1, len(study.texts))))[0]
    return Stages(
        candidate=candidate,
        sensitivity=first,
        dependence=_over_systems(values, people.quality, coefficient),
        given_spread=_given_spread(people, coefficient, values),
        without_outliers=_without_outliers(values, people.quality, coefficient),
        agreement=_over_systems(own, people.quality, coefficient),
    )


def difference(first: Stages, second: Stages, coefficient: Coefficient) -> Estimate:
    """How much more the first metric's sensitivity depends on quality than the second's.

    The interval is that of Zou (2007) for two correlations that share a variable.
    """
    one, other = first.dependence, second.dependence
    both = [np.array([e.value for e in each.sensitivity]) for each in (first, second)]
    between = float(across_systems(both[0][None], both[1][None], coefficient)[0])
    value = one.value - other.value
    common = _common(one.value, other.value, between)
    low = value - _reach(one.value - one.low, other.high - other.value, common)
    high = value + _reach(one.high - one.value, other.value - other.low, common)
    return Estimate(value, low, high, math.nan, one.n)


def _common(one: float, other: float, between: float) -> float:
    """The correlation of two correlations with the same variable, from that of the other two."""
    room = (1 - one**2) * (1 - other**2)
    if not room > 0:
        return math.nan
    rest = 1 - one**2 - other**2 - between**2
    found = ((between - one * other / 2) * rest + between**3) / room
    return max(-1.0, min(1.0, found))


def _reach(first: float, second: float, common: float) -> float:
    square = first**2 + second**2 - 2 * common * first * second
    return math.sqrt(square) if square >= 0 else math.nan if math.isnan(square) else 0.0


def _first(
    candidate: Candidate, people: People, coefficient: Coefficient, draws: Draws
) -> tuple[Estimate, ...]:
    """The sensitivity of each system, with BCa intervals."""
    drawn = over_texts(candidate.oriented, people.scores, coefficient, draws.texts)
    left = _without_each(candidate, people, coefficient)
    found = []
    for at, (own, human) in enumerate(zip(candidate.oriented, people.scores, strict=True)):
        agreement = agree(own[None], human[None], coefficient)
        reason = agreement.reason
        if np.isnan(human).all():
            reason = "people rated none of its texts"
        low, high, _ = interval(agreement.value, drawn[:, at], jackknife=left[:, at])
        p, n, test = agreement.p, agreement.n, agreement.test
        found.append(Estimate(agreement.value, low, high, p, n, reason, test))
    return tuple(found)


def _given_spread(people: People, coefficient: Coefficient, values: Array) -> Estimate:
    """The partial correlation of sensitivity and quality, people's spread held fixed."""
    three = np.stack([values, people.quality, people.spread])
    three = np.where(np.isnan(three).any(axis=0), np.nan, three)
    known = int((~np.isnan(three[0])).sum())
    if known < FEWEST:
        reason = f"only {known} systems; a partial correlation needs {FEWEST}"
        return Estimate(math.nan, math.nan, math.nan, math.nan, known, reason)
    pairs = ((0, 1), (0, 2), (2, 1))
    each = (across_systems(three[a : a + 1], three[b : b + 1], coefficient) for a, b in pairs)
    value = float(partial(*each)[0])
    low, high = fisher_interval(coefficient, value, known - 1)
    reason = "" if not math.isnan(value) else "spread and quality, or sensitivity, are one"
    return Estimate(value, low, high, math.nan, known, reason)


def _without_each(candidate: Candidate, people: People, coefficient: Coefficient) -> Array:
    """The sensitivity of each system without each text in turn, (texts, systems)."""
    systems, texts = people.scores.shape
    if texts < 2:
        return np.full((texts, systems), np.nan)
    others = np.array([[other for other in range(texts) if other != at] for at in range(texts)])
    return over_texts(candidate.oriented, people.scores, coefficient, others)


def _without_outliers(values: Array, quality: Array, coefficient: Coefficient) -> Agreement | None:
    """The second stage without systems far better or worse than most; None where none is."""
    far = outliers(quality)
    return _agreement(values[~far], quality[~far], coefficient) if far.any() else None


def _over_systems(values: Array, quality: Array, coefficient: Coefficient) -> Estimate:
    """The agreement with its interval; none where systems are too few."""
    found = _agreement(values, quality, coefficient)
    low, high = fisher_interval(coefficient, found.value, found.n)
    return Estimate(found.value, low, high, found.p, found.n, found.reason, found.test)


def _agreement(values: Array, quality: Array, coefficient: Coefficient) -> Agreement:
    return agree(values[None], quality[None], coefficient)


TAILS = (0.5, 0.025, 0.975)


class Best(NamedTuple):
    """The agreement among the k best systems by people's scores, of which `last` is the worst.

    The interval is for other texts. `typical`, `random_low` and `random_high` are what k systems
    drawn at random have: the median, and the ends between which 95% lie.
    """

    k: int
    last: str
    agreement: Estimate
    typical: float
    random_low: float
    random_high: float


def best_of(
    study: Study,
    stages: Stages,
    coefficient: Coefficient,
    draws: Draws,
    *,
    rng: np.random.Generator,
) -> tuple[Best, ...]:
    """From all systems down to the fewest that the coefficient can compare."""
    people = study.people
    order = _ranked(people.quality)
    own = corpus_scores(stages.candidate, study.texts, np.ones((1, len(study.texts))))[0]
    corpora = corpus_scores(stages.candidate, study.texts, draws.weights)
    quality = people.quality_on(draws.weights)
    shuffled = rng.permuted(np.tile(order, (len(draws.texts), 1)), axis=1)
    found = []
    for k in range(len(order), coefficient.least - 1, -1):
        top = order[:k]
        agreement = agree(own[None, top], people.quality[None, top], coefficient)
        drawn = across_systems(corpora[:, top], quality[:, top], coefficient)
        others = across_systems(own[shuffled[:, :k]], people.quality[shuffled[:, :k]], coefficient)
        found.append(Best(k, study.systems[top[-1]], _estimate(agreement, drawn), *_tails(others)))
    return tuple(found)


def _estimate(found: Agreement, replicates: Array) -> Estimate:
    """With a plain percentile interval: of very few systems the bias cannot be corrected."""
    low, high, _ = interval(found.value, replicates, method="percentile")
    return Estimate(found.value, low, high, found.p, found.n, found.reason, found.test)


def _ranked(quality: Array) -> np.ndarray:
    """The numbers of the systems with a human score, the best first."""
    order = np.argsort(-quality, kind="stable")
    return np.asarray(order[~np.isnan(quality[order])])


def _tails(values: Array) -> tuple[float, float, float]:
    known = values[~np.isnan(values)]
    if not known.size:
        return np.nan, np.nan, np.nan
    typical, low, high = (float(each) for each in np.quantile(known, TAILS))
    return typical, low, high
