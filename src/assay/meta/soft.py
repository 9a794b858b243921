"""Soft pairwise accuracy: is the metric as sure as people are? (Thompson et al., 2024)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from assay.meta.agreement import Agreement
from assay.meta.grouping import Mask
from assay.metrics.base import Array, Metric, Statistics

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
    systems: Sequence[Statistics],
    known: Mask,
    *,
    lower: bool = False,
    trials: int = TRIALS,
    rng: np.random.Generator,
) -> Array:
    """The same for a corpus metric: whole segments change places, and the corpus is scored.

    `known`, (systems, segments), says which segments count: of two systems those that both have.
    `lower` says that less is better.
    """
    swaps = rng.random((trials, len(systems[0]))) < 0.5
    pairs = list(combinations(range(len(systems)), 2))
    alike: dict[bytes, list[int]] = {}
    for place, (one, other) in enumerate(pairs):
        alike.setdefault((known[one] & known[other]).tobytes(), []).append(place)
    found = np.full(len(pairs), np.nan)
    for common, places in alike.items():
        items = np.flatnonzero(np.frombuffer(common, bool))
        if len(items):
            chosen = [pairs[place] for place in places]
            own = {at: systems[at][items] for at in sorted({at for pair in chosen for at in pair})}
            found[places] = _of_pairs(own, chosen, swaps[:, items], -1 if lower else 1)
    return found


def _of_pairs(
    systems: Mapping[int, Statistics], pairs: Sequence[tuple[int, int]], swaps: Mask, sign: int
) -> Array:
    """The confidences of pairs of systems that have the same segments in common, (pairs,)."""
    metric = next(iter(systems.values())).metric
    sums = {at: np.asarray(each.rows.sum(axis=0), float) for at, each in systems.items()}
    scores = {at: each.corpus() for at, each in systems.items()}
    observed = np.array([scores[i] - scores[j] for i, j in pairs])
    slack = 1e-12 * np.array([max(abs(scores[i]), 1e-300) for i, _ in pairs])
    below = np.zeros(len(pairs))
    step = max(1, BLOCK // max(1, len(systems) * len(next(iter(sums.values())))))
    for first in range(0, len(swaps), step):
        stay = ~swaps[first : first + step]
        kept = {at: _kept(stay, each) for at, each in systems.items()}
        deltas = [_delta(metric, kept, sums, i, j) for i, j in pairs]
        below += _below(sign * np.stack(deltas, axis=1), sign * observed, slack)
    return below / len(swaps)


def _kept(stay: Mask, system: Statistics) -> Array:
    """The sums of the segments that stay with their system, one row per trial."""
    return np.asarray(stay.astype(float) @ system.rows, float)


def _delta(
    metric: Metric, kept: Mapping[int, Array], sums: Mapping[int, Array], one: int, other: int
) -> Array:
    """The difference of two systems after each swap: what stays, and what comes from the other."""
    here = kept[one] + sums[other] - kept[other]
    there = kept[other] + sums[one] - kept[one]
    return metric.aggregate(here) - metric.aggregate(there)


def _below(deltas: Array, observed: Array, slack: Array) -> Array:
    """How many trials fall below what was observed; ties count half."""
    less = deltas < observed - slack
    tied = np.abs(deltas - observed) <= slack
    return np.asarray(less.sum(axis=0) + tied.sum(axis=0) / 2)
