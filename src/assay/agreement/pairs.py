"""Scores laid out in groups, and pairs of members within groups: who is better, and by how much."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError
from assay.statistics.arrays import Array

__all__ = [
    "By",
    "Concordance",
    "Mask",
    "Pairs",
    "concordance",
    "differences",
    "grouped",
    "means",
    "pair_positions",
]

By = Literal["none", "item", "system"]
"""Compared within each item, within each system, or all with all."""

Mask = NDArray[np.bool_]


def grouped(scores: Any, by: By) -> Array:
    """Scores (..., systems, items) as (..., groups, members).

    >>> grouped([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "item").tolist()
    [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    """
    values = np.asarray(scores, float)
    match by:
        case "item":
            return np.swapaxes(values, -1, -2)
        case "system":
            return values
        case "none":
            return values.reshape(*values.shape[:-2], 1, -1)
    raise DataError(f"scores are grouped by item, by system or by none, not by {by!r}.")


def means(values: Array) -> Array:
    """The mean over the last axis without what is unknown; `nan` where nothing is known."""
    known = ~np.isnan(values)
    count = known.sum(axis=-1)
    total = np.where(known, values, 0.0).sum(axis=-1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


BLOCK = 2**24
"""Pairs are worked off in blocks of about so many."""

FEW = 64
"""Groups of up to so many members are compared pair by pair, larger ones by sorting."""


@lru_cache(8)
def pair_positions(members: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first and the second member of every pair."""
    return np.triu_indices(members, 1)


def differences(values: Array) -> Array:
    """First less second member of every pair along the last axis: (..., members) to (..., pairs).

    >>> differences(np.array([5.0, 3.0, 4.0])).tolist()
    [2.0, 1.0, -1.0]
    """
    first, second = pair_positions(values.shape[-1])
    return np.asarray(values[..., first] - values[..., second])


@dataclass(frozen=True, eq=False)
class Concordance:
    """How many pairs of each group agree, disagree and are tied on either side or on both."""

    agree: Array
    disagree: Array
    gold_ties: Array
    metric_ties: Array
    both_ties: Array

    @property
    def total(self) -> Array:
        """All pairs with both scores known."""
        one_sided = self.gold_ties + self.metric_ties - self.both_ties
        return self.agree + self.disagree + one_sided


def concordance(metric: Array, gold: Array) -> Concordance:
    """Pairs counted along the last axis: (..., groups, members) against (groups, members)."""
    shape = np.broadcast_shapes(metric.shape, gold.shape)
    own = np.broadcast_to(metric, shape).reshape(-1, *shape[-2:])
    counts = _by_pairs(own, gold) if shape[-1] <= FEW else _by_sorting(own, gold)
    return Concordance(*(each.reshape(shape[:-1]) for each in counts))


def _by_pairs(metric: Array, gold: Array) -> list[Array]:
    """Every pair looked at, a block of them at a time."""
    human = differences(gold)
    step = max(1, BLOCK // max(1, human.size))
    starts = range(0, max(1, len(metric)), step)
    parts = [_counts(differences(metric[at : at + step]), human) for at in starts]
    return [np.concatenate(each) for each in zip(*parts, strict=True)]


def _counts(metric: Array, gold: Array) -> tuple[Array, ...]:
    known = ~(np.isnan(metric) | np.isnan(gold))
    m, g = np.sign(metric), np.sign(gold)
    product = m * g
    masks = (product > 0, product < 0, (g == 0) & known, (m == 0) & known, (m == 0) & (g == 0))
    return tuple(mask.sum(axis=-1).astype(float) for mask in masks)


def _by_sorting(metric: Array, gold: Array) -> list[Array]:
    """Groups one by one, in n log n steps each."""
    counts = [
        _sorted_counts(own, human) for rows in metric for own, human in zip(rows, gold, strict=True)
    ]
    return list(np.array(counts, float).reshape(*metric.shape[:-1], 5).transpose(2, 0, 1))


def _sorted_counts(metric: Array, gold: Array) -> tuple[float, ...]:
    from scipy.stats import kendalltau

    known = ~(np.isnan(metric) | np.isnan(gold))
    m, g = metric[known], gold[known]
    total = math.comb(len(m), 2)
    tied_g, tied_m, tied_both = _tied(g), _tied(m), _tied(np.stack([m, g], axis=1))
    untied = total - tied_g - tied_m + tied_both
    if tied_g == total or tied_m == total:
        return 0, 0, tied_g, tied_m, tied_both
    # tau-b is this surplus over the square root, so the surplus is a whole number again.
    spread = math.sqrt(total - tied_g) * math.sqrt(total - tied_m)
    surplus = round(kendalltau(m, g).statistic * spread)
    return (untied + surplus) / 2, (untied - surplus) / 2, tied_g, tied_m, tied_both


def _tied(values: Array) -> int:
    """The number of pairs of equal rows."""
    _, counts = np.unique(values, axis=0, return_counts=True)
    return int((counts * (counts - 1) // 2).sum())


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of all groups in one row, for accuracies with ties.

    `gold` is the sign of people's difference, `metric` the metric's difference, `weights` what a
    pair adds to the mean over groups.
    """

    gold: NDArray[np.int8]
    metric: Array
    weights: Array

    @classmethod
    def of(cls, metric: Array, gold: Array) -> Pairs:
        """The pairs within each group of (groups, members) scores, without unknown ones."""
        human, own = differences(gold), differences(metric)
        known = ~(np.isnan(human) | np.isnan(own))
        counts = known.sum(axis=-1, keepdims=True)
        groups = max(1, int((counts > 0).sum()))
        weights = np.broadcast_to(1 / (groups * np.maximum(counts, 1)), known.shape)[known]
        return cls(np.sign(human[known]).astype(np.int8), own[known], weights)

    @cached_property
    def human_ties(self) -> float:
        """The share of pairs that people do not tell apart."""
        return float(self.weights[self.gold == 0].sum())
