"""The items of each phenomenon and category, and how systems did on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.metrics.base import Array
from assay.suite.model import Item

__all__ = ["Group", "Level", "Tally", "averaged", "comparable", "grouped", "tally"]

Level = Literal["phenomenon", "category", "micro", "category macro", "phenomenon macro"]
"""What a row is about: one phenomenon, one category, or an average of all."""


class Group(NamedTuple):
    """Items that belong together, by their positions."""

    level: Level
    name: str
    category: str
    where: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts by group and system, (groups, systems), and by two systems.

    `items` count and `passed` of them pass. `won[g, i, j]` are the items of group g that system
    i passes and j fails, `shared[g, i, j]` those that count for both.
    """

    items: Array
    passed: Array
    won: Array
    shared: Array

    def of(self, groups: Sequence[int] | NDArray[np.intp]) -> Tally:
        """The counts of some of the groups, by their positions."""
        at = np.asarray(groups, np.intp)
        return Tally(self.items[at], self.passed[at], self.won[at], self.shared[at])


def grouped(items: Sequence[Item]) -> list[Group]:
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


def tally(groups: Sequence[Group], values: Array) -> Tally:
    """How often systems pass: `values` has a row per system, 1, 0 or `nan` for each item."""
    known, passed, failed = ~np.isnan(values) * 1.0, (values == 1) * 1.0, (values == 0) * 1.0
    cut = [group.where for group in groups]
    return Tally(
        items=np.array([known[:, at].sum(axis=1) for at in cut]),
        passed=np.array([passed[:, at].sum(axis=1) for at in cut]),
        won=np.array([passed[:, at] @ failed[:, at].T for at in cut]),
        shared=np.array([known[:, at] @ known[:, at].T for at in cut]),
    )


def averaged(groups: Sequence[Group], counts: Tally) -> dict[Level, Tally]:
    """The counts of the groups that each macro-average is over."""
    return {
        "category macro": comparable(counts.of(_at("category", groups))),
        "phenomenon macro": comparable(counts.of(_at("phenomenon", groups))),
    }


def comparable(counts: Tally) -> Tally:
    """The groups that have items for every system, but for systems that have none at all."""
    some = counts.items > 0
    return counts.of(np.flatnonzero(some.any(axis=1) & some[:, some.any(axis=0)].all(axis=1)))


def _at(level: Level, groups: Sequence[Group]) -> list[int]:
    return [at for at, group in enumerate(groups) if group.level == level]


def _group(level: Level, name: str, category: str, where: Sequence[int]) -> Group:
    return Group(level, name, category, np.array(where, np.intp))
