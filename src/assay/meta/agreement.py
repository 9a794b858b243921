"""The agreement of one metric with people: a value, its p, or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from assay.meta.coefficients import Coefficient
from assay.meta.grouping import By, grouped
from assay.metrics.base import Array

__all__ = ["Agreement", "agree"]


@dataclass(frozen=True)
class Agreement:
    """A coefficient's value, and how far to trust it.

    `n` counts the scores compared, `groups` the groups that have a value. Where `value` is `nan`,
    `reason` says why. `chance` is what a metric that knows nothing gets, where that is not 0.
    """

    value: float
    p: float
    n: int
    groups: int = 1
    reason: str = ""
    chance: float = 0.0
    epsilon: float = math.nan


def agree(metric: Array, gold: Array, coefficient: Coefficient, *, by: By = "none") -> Agreement:
    """The agreement of (systems, items) scores with people's; `nan` is unknown.

    Within groups, the value is that of all groups together, and p that of a one-sample t-test of
    the groups' values against chance.
    """
    own, human = grouped(metric, by), grouped(gold, by)
    known = ~(np.isnan(own) | np.isnan(human))
    own, human = np.where(known, own, np.nan), np.where(known, human, np.nan)
    n, most = int(known.sum()), int(known.sum(axis=-1).max(initial=0))
    value = float(coefficient.overall(own, human)) if most >= coefficient.least else math.nan
    if math.isnan(value):
        return Agreement(math.nan, math.nan, n, 0, _reason(own, human, most, coefficient))
    each, chance = coefficient.each(own, human), coefficient.chance(own, human)
    alone = by == "none"
    p = coefficient.p(own[known], human[known]) if alone else _t_test(each, chance)
    groups = int((~np.isnan(each)).sum())
    return Agreement(value, p, n, groups, "", chance, coefficient.epsilon(own, human))


def _reason(own: Array, human: Array, most: int, coefficient: Coefficient) -> str:
    """Why there is no value."""
    if not most:
        return "no score is known on both sides"
    if most < coefficient.least:
        return f"only {most} scores to compare; {coefficient.title} needs {coefficient.least}"
    if not _varies(human):
        return "all human scores are equal"
    return "no pair can be compared" if _varies(own) else "all metric scores are equal"


def _varies(scores: Array) -> bool:
    known = ~np.isnan(scores)
    low = np.where(known, scores, np.inf).min(axis=-1)
    high = np.where(known, scores, -np.inf).max(axis=-1)
    return bool((high > low).any())


def _t_test(each: Array, chance: float) -> float:
    """The p of the groups' values differing from chance on average."""
    from scipy.special import stdtr

    known = each[~np.isnan(each)]
    if len(known) < 2 or np.ptp(known) == 0:
        return math.nan
    t = (known.mean() - chance) / (known.std(ddof=1) / math.sqrt(len(known)))
    return float(2 * stdtr(len(known) - 1, -abs(t)))
