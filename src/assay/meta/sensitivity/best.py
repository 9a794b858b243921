"""Agreement among the best systems only, as fewer and fewer of them are left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assay.intervals import interval
from assay.meta.agreement import Agreement, agree
from assay.meta.coefficients import Coefficient
from assay.meta.sensitivity.resampling import Draws, across_systems
from assay.meta.sensitivity.stages import Estimate, Stages
from assay.meta.sensitivity.study import Study, corpus_scores
from assay.metrics.base import Array

__all__ = ["Best", "best_of"]

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
