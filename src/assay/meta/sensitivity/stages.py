"""The two stages (Babych and Hartley, 2008): sensitivity, and its dependence on quality."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from assay.intervals import Interval, interval
from assay.meta.agreement import Agreement, agree
from assay.meta.coefficients import Coefficient
from assay.meta.outliers import outliers
from assay.meta.panel import Candidate
from assay.meta.sensitivity.people import People
from assay.meta.sensitivity.resampling import (
    Draws,
    Numbers,
    across_systems,
    over_texts,
    partial,
    spreads,
)
from assay.meta.sensitivity.study import Study, corpus_scores
from assay.metrics.base import Array

__all__ = ["Estimate", "Stages", "Tendency", "difference", "stages_of"]

FEWEST = 4
"""Of fewer systems there is nothing to resample, nor to hold fixed."""

Tendency = Literal["falls", "rises", "cannot tell"]


class Estimate(NamedTuple):
    """A correlation with its 95% interval; where `value` is `nan`, `reason` says why."""

    value: float
    low: float
    high: float
    p: float
    n: int
    reason: str = ""

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
    people at system level. All three have intervals for other texts and other systems.
    `without_outliers` is the dependence among systems of not too different quality, where some
    are. `replicates` are the dependence on every resample, `corpora` the systems' scores.
    """

    candidate: Candidate
    sensitivity: tuple[Estimate, ...]
    dependence: Estimate
    given_spread: Estimate
    without_outliers: Agreement | None
    agreement: Estimate
    replicates: Array
    corpora: Array


def stages_of(study: Study, candidate: Candidate, coefficient: Coefficient, draws: Draws) -> Stages:
    """Both stages of one metric."""
    people, weights = study.people, draws.weights
    drawn = over_texts(candidate.oriented, people.scores, coefficient, draws.texts)
    first = _first(candidate, people, coefficient, drawn)
    quality = people.quality_on(weights)
    values = np.array([each.value for each in first])
    replicates = across_systems(drawn, quality, coefficient, draws.systems)
    found = _agreement(values, people.quality, coefficient)
    corpora = corpus_scores(candidate, study.texts, weights)
    own = corpus_scores(candidate, study.texts, np.ones((1, len(study.texts))))[0]
    return Stages(
        candidate=candidate,
        sensitivity=first,
        dependence=_of_systems(found, replicates),
        given_spread=_given_spread(study, coefficient, draws, values, drawn),
        without_outliers=_without_outliers(values, people.quality, coefficient),
        agreement=_of_systems(
            _agreement(own, people.quality, coefficient),
            across_systems(corpora, quality, coefficient, draws.systems),
        ),
        replicates=replicates,
        corpora=corpora,
    )


def difference(first: Stages, second: Stages) -> Estimate:
    """How much more the first metric's sensitivity depends on quality than the second's."""
    value = first.dependence.value - second.dependence.value
    low, high, _ = _corrected(value, first.replicates - second.replicates)
    return Estimate(value, low, high, math.nan, first.dependence.n)


def _first(
    candidate: Candidate, people: People, coefficient: Coefficient, drawn: Array
) -> tuple[Estimate, ...]:
    """The sensitivity of each system, with BCa intervals."""
    left = _without_each(candidate, people, coefficient)
    found = []
    for at, (own, human) in enumerate(zip(candidate.oriented, people.scores, strict=True)):
        agreement = agree(own[None], human[None], coefficient)
        reason = agreement.reason
        if np.isnan(human).all():
            reason = "people rated none of its texts"
        low, high, _ = interval(agreement.value, drawn[:, at], jackknife=left[:, at])
        found.append(Estimate(agreement.value, low, high, agreement.p, agreement.n, reason))
    return tuple(found)


def _given_spread(
    study: Study, coefficient: Coefficient, draws: Draws, values: Array, drawn: Array
) -> Estimate:
    """The partial correlation of sensitivity and quality, people's spread held fixed."""
    people = study.people
    known = int((~np.isnan(values + people.quality + people.spread)).sum())
    if known < FEWEST:
        reason = f"only {known} systems; a partial correlation needs {FEWEST}"
        return Estimate(math.nan, math.nan, math.nan, math.nan, known, reason)

    def held(sensitivity: Array, quality: Array, spread: Array, systems: Numbers | None) -> Array:
        spread = np.where(np.isnan(sensitivity), np.nan, spread)  # of the same systems
        pairs = ((sensitivity, quality), (sensitivity, spread), (spread, quality))
        return partial(*(across_systems(a, b, coefficient, systems) for a, b in pairs))

    value = float(held(values[None], people.quality[None], people.spread[None], None)[0])
    quality = people.quality_on(draws.weights)
    replicates = held(drawn, quality, spreads(people.scores, draws.texts), draws.systems)
    low, high, _ = _corrected(value, replicates)
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


def _of_systems(found: Agreement, replicates: Array) -> Estimate:
    """The agreement with its interval; none where systems are too few to be drawn."""
    low, high, _ = _corrected(found.value, replicates if found.n >= FEWEST else replicates[:0])
    return Estimate(found.value, low, high, found.p, found.n, found.reason)


def _agreement(values: Array, quality: Array, coefficient: Coefficient) -> Agreement:
    return agree(values[None], quality[None], coefficient)


def _corrected(value: float, replicates: Array) -> Interval:
    """The interval corrected for bias: BCa without acceleration, as there are two kinds of draw.

    Resampled correlations are nearer to 0 than the observed one, since noise is added to noise.
    Plain percentiles miss most of what is there; see the simulation in docs/meta.md.
    """
    return interval(value, replicates, method="bca")
