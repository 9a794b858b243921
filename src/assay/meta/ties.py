"""Accuracy with ties: the metric may call a pair tied, below a threshold that fits it best.

Deutsch, Foster and Freitag (2023): a metric that never ties cannot be right where people do, and
one that ties often gains by it; so every metric gets the threshold that suits it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError
from assay.meta.coefficients import Coefficient
from assay.meta.pairs import Pairs, differences
from assay.metrics.base import Array

__all__ = ["AccuracyWithTies", "Calibrated", "calibrated"]

MOST = 200_000_000
"""More pairs than this do not fit in memory."""


class Calibrated(NamedTuple):
    """The best accuracy, and the threshold that gives it: differences up to it are ties."""

    accuracy: float
    epsilon: float


def calibrated(pairs: Pairs) -> Calibrated:
    """The threshold that makes most pairs right; the smallest of several."""
    if not len(pairs.metric):
        return Calibrated(np.nan, np.nan)
    size = np.abs(pairs.metric)
    order = np.argsort(size, kind="stable")
    size, gain = size[order], gains(pairs.gold, pairs.metric, pairs.weights)[order]
    start = float(pairs.weights[right(pairs.gold, pairs.metric)].sum())
    # A threshold below all differences makes only exact ties tied: that is epsilon 0.
    ends = np.flatnonzero(np.append(size[1:] > size[:-1], True))
    if size[0] > 0:
        ends = np.concatenate([[-1], ends])
    totals = np.concatenate([np.cumsum(gain), [0.0]])[ends]
    best = int(np.argmax(totals > totals.max() - 1e-12))
    accuracy = min(1.0, start + float(totals[best]))
    return Calibrated(accuracy, float(size[ends[best]]) if ends[best] >= 0 else 0.0)


def right(gold: NDArray[np.int8], metric: Array) -> NDArray[np.bool_]:
    """Pairs that people tell apart and the metric orders alike, ties aside."""
    return np.asarray((gold != 0) & (np.sign(metric) == gold))


def gains(gold: NDArray[np.int8], metric: Array, weights: Array) -> Array:
    """What the accuracy gains where a pair becomes a tie."""
    return np.asarray(weights * ((gold == 0).astype(float) - right(gold, metric)))


@dataclass(frozen=True)
class AccuracyWithTies(Coefficient):
    """The share of pairs ordered, or tied, as by people, with the best threshold for ties.

    One threshold serves all groups; the value is the mean of theirs. Chance is what calling all
    pairs tied gives, or half of the rest, whichever is more.
    """

    name: ClassVar[str] = "acc-eq"
    title: ClassVar[str] = "accuracy with ties"
    least: ClassVar[int] = 2

    def each(self, metric: Array, gold: Array) -> Array:
        """Every group with the threshold that is best for all."""
        flat = metric.reshape(-1, *metric.shape[-2:])
        values = [self._each(one, gold) for one in flat]
        return np.stack(values).reshape(metric.shape[:-1])

    def overall(self, metric: Array, gold: Array) -> Array:
        """The calibrated accuracy, which is the mean over groups."""
        flat = metric.reshape(-1, *metric.shape[-2:])
        values = [calibrated(pairs_of(one, gold)).accuracy for one in flat]
        return np.array(values).reshape(metric.shape[:-2])

    def epsilon(self, metric: Array, gold: Array) -> float:
        """The threshold that is best for all groups."""
        return calibrated(pairs_of(metric, gold)).epsilon

    def chance(self, metric: Array, gold: Array) -> float:
        """Calling every pair tied, or ordering at random those that are not."""
        ties = pairs_of(metric, gold).human_ties
        return max(ties, (1 - ties) / 2)

    def _each(self, metric: Array, gold: Array) -> Array:
        epsilon = self.epsilon(metric, gold)
        human, own = np.sign(differences(gold)), differences(metric)
        known = ~(np.isnan(human) | np.isnan(own))
        said = np.where(np.abs(own) <= epsilon, 0.0, np.sign(own))
        count = known.sum(axis=-1)
        hits = (known & (said == human)).sum(axis=-1)
        return np.where(count > 0, hits / np.maximum(count, 1), np.nan)


def pairs_of(metric: Array, gold: Array) -> Pairs:
    """The pairs within groups, unless there are too many to hold."""
    groups, members = gold.shape
    if groups * members * (members - 1) // 2 > MOST:
        raise DataError(
            f"acc-eq over all pairs of {members:,} scores does not fit in memory: "
            "compare within items (--by item) or within systems (--by system)."
        )
    return Pairs.of(metric, gold)
