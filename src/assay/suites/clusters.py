"""Groups of items, their accuracies, and first clusters: systems not worse than the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, permutations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import Array
from assay.metrics.mean import Mean
from assay.statistics.proportions import (
    Exactness,
    mcnemar,
    mean_interval,
    sign_flips,
    stratified_z_test,
    wilson,
    z_test,
)
from assay.statistics.significance import benjamini_hochberg, holm
from assay.statistics.weights import membership
from assay.suites.model import Item

__all__ = [
    "Correction",
    "Figures",
    "ItemGroup",
    "Level",
    "Tally",
    "Test",
    "against_best",
    "averaged",
    "best_of",
    "comparable",
    "corrected",
    "corrected_pairs",
    "grouped",
    "macro_figures",
    "macro_pairs",
    "pairs",
    "plain_figures",
    "tally",
]

ACCURACY = Mean("accuracy")
"""Accuracies are means of verdicts: 1, 0, and `nan` for what does not count."""

Level = Literal["phenomenon", "category", "micro", "category macro", "phenomenon macro"]
"""What a row is about: one phenomenon, one category, or an average of all."""


class ItemGroup(NamedTuple):
    """Items that belong together, by their positions."""

    level: Level
    name: str
    category: str
    where: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts by group and system, (groups, systems), and by two systems.

    `items` count, `passed` of them pass, and `accuracy` is their share, `nan` where none counts.
    `won[g, i, j]` are the items of group g that system i passes and j fails, `shared[g, i, j]`
    those that count for both.
    """

    items: Array
    passed: Array
    accuracy: Array
    won: Array
    shared: Array

    def of(self, groups: Sequence[int] | NDArray[np.intp]) -> Tally:
        """The counts of some of the groups, by their positions."""
        at = np.asarray(groups, np.intp)
        counts = (self.items, self.passed, self.accuracy, self.won, self.shared)
        return Tally(*(count[at] for count in counts))


def grouped(items: Sequence[Item]) -> list[ItemGroup]:
    """Every category, followed by its phenomena, in the order of the items; last, all items."""
    places: dict[str, dict[str, list[int]]] = {}
    for at, item in enumerate(items):
        places.setdefault(item.category, {}).setdefault(item.phenomenon, []).append(at)
    groups = []
    for category, phenomena in places.items():
        groups.append(_group("category", category, category, [*chain(*phenomena.values())]))
        for name, where in phenomena.items():
            groups.append(_group("phenomenon", name, category, where))
    return [*groups, _group("micro", "micro-average", "", range(len(items)))]


def tally(groups: Sequence[ItemGroup], values: Array) -> Tally:
    """How often systems pass: `values` has a row per system, 1, 0 or `nan` for each item."""
    cut = [group.where for group in groups]
    weights = membership(cut, values.shape[1])
    statistics = [ACCURACY.of(verdicts) for verdicts in values]
    # The rows of `Mean` are the verdict, 0 where unknown, and whether it is known.
    sums = np.stack([weights @ system.rows for system in statistics], axis=1)
    known, passed, failed = ~np.isnan(values) * 1.0, (values == 1) * 1.0, (values == 0) * 1.0
    return Tally(
        items=sums[:, :, 1],
        passed=sums[:, :, 0],
        accuracy=np.stack([system.score(weights) for system in statistics], axis=1),
        won=np.array([passed[:, at] @ failed[:, at].T for at in cut]),
        shared=np.array([known[:, at] @ known[:, at].T for at in cut]),
    )


def averaged(groups: Sequence[ItemGroup], counts: Tally) -> dict[Level, Tally]:
    """The counts of the groups that each macro-average is over."""
    return {
        "category macro": comparable(counts.of(_at("category", groups))),
        "phenomenon macro": comparable(counts.of(_at("phenomenon", groups))),
    }


def comparable(counts: Tally) -> Tally:
    """The groups that have items for every system, but for systems that have none at all."""
    some = counts.items > 0
    return counts.of(np.flatnonzero(some.any(axis=1) & some[:, some.any(axis=0)].all(axis=1)))


def _at(level: Level, groups: Sequence[ItemGroup]) -> list[int]:
    return [at for at, group in enumerate(groups) if group.level == level]


def _group(level: Level, name: str, category: str, where: Sequence[int]) -> ItemGroup:
    return ItemGroup(level, name, category, np.array(where, np.intp))


Test = Literal["midp", "mcnemar", "z"]
"""How two systems are compared: by McNemar's test on the items that both have, two-tailed, with
mid-p or exact; or by the paper's Z-test of two proportions, one-tailed, as if they had been
measured on different items."""

Correction = Literal["row", "none", "holm", "bh"]
"""For many comparisons: Holm's over all pairs of systems in the row; not at all; or Holm's, or
Benjamini and Hochberg's, over all pairs of systems in all rows of the level."""

TIE = 1e-9
"""Accuracies that differ by less are equal, but for rounding."""

_EXACTNESS: dict[Test, Exactness] = {"mcnemar": "exact", "midp": "midp"}


def best_of(accuracy: Array) -> NDArray[np.bool_]:
    """Which systems (last axis) have the highest accuracy; none where none has any."""
    highest = np.where(np.isnan(accuracy), -np.inf, accuracy).max(axis=-1, keepdims=True)
    return np.asarray(accuracy >= highest - TIE)


def pairs(counts: Tally, test: Test) -> Array:
    """The p of the first system being better than the second, (groups, systems, systems).

    `nan` where one of the two has no items, and for a system and itself.
    """
    if test == "z":
        k, n = counts.passed, counts.items
        p = z_test(k[:, :, None], n[:, :, None], k[:, None, :], n[:, None, :])
    else:
        lost = counts.won.transpose(0, 2, 1)
        p = _two_tailed(mcnemar(counts.won, lost, method=_EXACTNESS[test]))
    return _known(p, counts.items > 0)


def macro_pairs(counts: Tally, test: Test) -> Array:
    """The same for the average over all groups, (1, systems, systems)."""
    systems = counts.items.shape[1]
    known = counts.items.sum(axis=0) > 0
    p = np.ones((1, systems, systems))
    for better, other in permutations(np.flatnonzero(known), 2):
        p[0, better, other] = _macro_tail(counts, better, other, test)
    return _known(p if test == "z" else _two_tailed(p), known[None, :])


def against_best(p: Array, best: NDArray[np.bool_]) -> Array:
    """The p of each system being worse than the best of its row, (rows, systems).

    `nan` for the best and for systems without items. Where several are best, the largest p of
    those against them counts: a system is worse if it is worse than all of them.
    """
    largest = np.where(best[:, :, None], p, 0).max(axis=1, initial=0)
    return np.where(best | ~best.any(axis=1, keepdims=True), np.nan, largest)


def corrected_pairs(p: Array, families: Sequence[str], correct: Correction) -> Array:
    """The p of pairs, (rows, systems, systems), corrected; one family per row.

    Two systems are one comparison. The one that does not come out ahead of the other has 1.
    """
    if correct == "none":
        return p
    names = [str(at) for at in range(len(p))] if correct == "row" else families
    method: Correction = "holm" if correct == "row" else correct
    other = p.transpose(0, 2, 1)
    smaller = np.minimum(p, other)
    one, two = np.triu_indices(p.shape[1], 1)
    new = corrected(smaller[:, one, two], names, method)
    result = smaller.copy()
    result[:, one, two] = result[:, two, one] = new
    return np.where(p > other, np.maximum(result, 1), result)


def corrected(p: Array, families: Sequence[str], correct: Correction) -> Array:
    """Each p, corrected by "holm" or "bh" for all of its family; one family per row of `p`."""
    if correct not in ("holm", "bh"):
        return p
    method = holm if correct == "holm" else benjamini_hochberg
    result = np.empty_like(p)
    for family in set(families):
        rows = np.array([name == family for name in families])
        result[rows] = method(p[rows].ravel()).reshape(p[rows].shape)
    return result


def _macro_tail(counts: Tally, better: np.intp, other: np.intp, test: Test) -> float:
    if test == "z":
        k, n = counts.passed, counts.items
        return float(stratified_z_test(k[:, better], n[:, better], k[:, other], n[:, other]))
    return sign_flips(
        counts.won[:, better, other],
        counts.won[:, other, better],
        counts.shared[:, better, other],
        method=_EXACTNESS[test],
    )


def _two_tailed(p: Array) -> Array:
    return np.minimum(1, 2 * p)


def _known(p: Array, some: NDArray[np.bool_]) -> Array:
    """The p of two different systems that both have items, `nan` elsewhere."""
    both = some[:, :, None] & some[:, None, :] & ~np.eye(p.shape[1], dtype=bool)
    return np.where(both, p, np.nan)


class Figures(NamedTuple):
    """One row per row of the table, one column per system; shares, not percentages.

    `pairs` has one column per system and, once more, per system that it is better than: p.
    """

    items: Array
    passed: Array
    accuracy: Array
    low: Array
    high: Array
    pairs: Array


def plain_figures(counts: Tally, *, test: Test, level: float) -> Figures:
    """One row per group."""
    limits = wilson(counts.passed, counts.items, level=level)
    return Figures(counts.items, counts.passed, counts.accuracy, *limits, pairs(counts, test))


def macro_figures(counts: Tally, *, test: Test, level: float) -> Figures:
    """One row: the average over groups, which must be `comparable`."""
    items, passed = counts.items.sum(axis=0), counts.passed.sum(axis=0)
    accuracy = np.array([ACCURACY.of(shares).corpus() for shares in counts.accuracy.T])
    limits = mean_interval(counts.passed.T, counts.items.T, level=level)
    row = (values[None, :] for values in (items, passed, accuracy, *limits))
    return Figures._make((*row, macro_pairs(counts, test)))
