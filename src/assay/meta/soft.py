"""Soft pairwise accuracy: is the metric as sure as people are? (Thompson et al., 2024)."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from assay.meta.agreement import Agreement
from assay.metrics.base import Array, Statistics

__all__ = ["confidences", "confidences_of_corpora", "soft_pairwise_accuracy"]

TRIALS = 1000
BLOCK = 2**24


def soft_pairwise_accuracy(metric: Array, gold: Array) -> Agreement:
    """One less the mean distance of the metric's confidences from people's.

    Both are (pairs,) confidences that the first system of each pair is better, as `confidences`
    gives them. A metric that is always sure and always right about what people are sure of has
    1; one that never knows has 1 less people's mean distance from one half.
    """
    known = ~(np.isnan(metric) | np.isnan(gold))
    if not known.any():
        return Agreement(np.nan, np.nan, 0, 0, "no pair of systems can be compared")
    value = 1 - float(np.abs(metric[known] - gold[known]).mean())
    chance = 1 - float(np.abs(0.5 - gold[known]).mean())
    return Agreement(value, np.nan, int(known.sum()), 1, chance=chance)


def confidences(scores: Array, *, trials: int = TRIALS, rng: np.random.Generator) -> Array:
    """How sure (systems, items) scores are that the first of two systems is better, (pairs,).

    That is one less the one-sided p of a paired permutation test of the difference in means, over
    the items that both have. The same swaps serve all pairs, so give two metrics generators of
    the same seed. Ties count half. `nan` for pairs without a common item.
    """
    first, second = np.triu_indices(len(scores), 1)
    gaps = scores[first] - scores[second]
    known = ~np.isnan(gaps)
    filled = np.where(known, gaps, 0.0)
    observed = filled.sum(axis=1)
    slack = 1e-12 * np.maximum(np.abs(filled).sum(axis=1), 1e-300)
    below = np.zeros(len(gaps))
    step = max(1, BLOCK // max(1, filled.shape[1]))
    for at in range(0, trials, step):
        count = min(step, trials - at)
        signs = np.where(rng.random((count, filled.shape[1])) < 0.5, -1.0, 1.0)
        below += _below(signs @ filled.T, observed, slack)
    return np.where(known.any(axis=1), below / trials, np.nan)


def confidences_of_corpora(
    systems: list[Statistics], *, trials: int = TRIALS, rng: np.random.Generator
) -> Array:
    """The same for a corpus metric: whole segments change places, and the corpus is scored."""
    swaps = rng.random((trials, len(systems[0]))) < 0.5
    sign = 1 if systems[0].metric.higher_is_better else -1
    return np.array([_sure(one, other, swaps, sign) for one, other in combinations(systems, 2)])


def _sure(one: Statistics, other: Statistics, swaps: np.ndarray, sign: int) -> float:
    metric = one.metric
    kept, moved = (~swaps).astype(float), swaps.astype(float)
    here = metric.aggregate(np.asarray(kept @ one.rows + moved @ other.rows, float))
    there = metric.aggregate(np.asarray(kept @ other.rows + moved @ one.rows, float))
    observed = np.array([sign * (one.corpus() - other.corpus())])
    delta = sign * (here - there)
    slack = np.array([1e-12 * max(abs(one.corpus()), 1e-300)])
    return float(_below(delta[:, None], observed, slack)[0] / len(swaps))


def _below(deltas: Array, observed: Array, slack: Array) -> Array:
    """How many trials fall below what was observed; ties count half."""
    less = deltas < observed - slack
    tied = np.abs(deltas - observed) <= slack
    return np.asarray(less.sum(axis=0) + tied.sum(axis=0) / 2)
