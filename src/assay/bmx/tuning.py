"""The weight and power with which a boosted metric agrees best with people, tried elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.bmx.boosting import Explained, WeightAndPower, combined
from assay.bmx.evidence import FEWEST, Evidence, Setting
from assay.bmx.powermean import Regular
from assay.metrics.base import Array
from assay.moments import pearson_rows

__all__ = [
    "POWERS",
    "SLACK",
    "WEIGHTS",
    "Found",
    "HeldOut",
    "Test",
    "Tuned",
    "best_of",
    "correlations",
    "halves",
    "tried",
    "tune",
]

WEIGHTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
POWERS = np.arange(-300, 301) / 10
"""The grid of Leiter et al. (2022)."""

SLACK = 1e-9
"""Correlations that differ by less are the same."""

Test: TypeAlias = Callable[[Array, Array, Array], float]
"""The two-sided p of the first and second scores agreeing otherwise with the third.

All are (outputs, items): what belongs to one source segment stands in one column.
"""


class Found(NamedTuple):
    """A weight and power, and the correlation with people there."""

    w: float
    p: float
    pearson: float


class HeldOut(NamedTuple):
    """A weight and power found elsewhere, tried on segments that had no part in finding them.

    `significance` is the two-sided p of the difference between boosted and base metric.
    """

    setting: Setting
    n: int
    w: float
    p: float
    pearson: float
    base: float
    significance: float


@dataclass(frozen=True, eq=False)
class Tuned:
    """The correlation with people over the whole grid, (weights, powers), in one setting.

    `held_out` is what the best of one half of the segments does on the other; None where there
    are too few. `collapsed` is the share of segments whose explanation is next to nothing at
    p = -1.
    """

    evidence: Evidence
    regular: Regular
    grid: Array
    best: Found
    held_out: HeldOut | None
    collapsed: float

    @property
    def setting(self) -> Setting:
        """What was boosted, by what, and where."""
        return self.evidence.setting

    @property
    def base(self) -> float:
        """The correlation of the metric as it is."""
        return float(pearson_rows(self.evidence.explained.base, self.evidence.gold))

    def at(self, at: WeightAndPower) -> float:
        """The correlation at any weight and power."""
        boosted = self.evidence.explained.boosted(at, self.regular)
        return float(pearson_rows(boosted, self.evidence.gold))


def tune(
    evidence: Evidence, *, regular: Regular = "paper", test: Test, rng: np.random.Generator
) -> Tuned:
    """Try the whole grid; and on one half of the segments what was best on the other.

    `test` compares the boosted with the base metric, as `meta.differences.permutation_p` does.
    """
    explained = evidence.explained
    grid = correlations(explained, evidence.gold, regular)
    first = halves(evidence.items, rng=rng)
    return Tuned(
        evidence=evidence,
        regular=regular,
        grid=grid,
        best=best_of(grid),
        held_out=_on_the_other_half(evidence, first, regular, test),
        collapsed=explained.collapsed(-1.0, regular),
    )


def tried(
    evidence: Evidence, at: WeightAndPower, *, regular: Regular = "paper", test: Test
) -> HeldOut:
    """A weight and power on segments that had no part in finding them."""
    base, gold = evidence.explained.base, evidence.gold
    boosted = evidence.explained.boosted(at, regular)
    after, before = (float(pearson_rows(each, gold)) for each in (boosted, base))
    significance = test(*map(evidence.by_item, (boosted, base, gold)))
    return HeldOut(evidence.setting, len(gold), at.w, at.p, after, before, significance)


def correlations(explained: Explained, gold: Array, regular: Regular = "paper") -> Array:
    """Pearson's r of people and the boosted metric over the whole grid, (weights, powers)."""
    explanations = explained.explanations(POWERS, regular)
    rows = [pearson_rows(combined(explained.base, explanations, w), gold) for w in WEIGHTS]
    return np.array(rows)


def best_of(grid: Array) -> Found:
    """The point of the grid that agrees best with people.

    Where several are equal, the one that changes the metric least: the greatest weight, then the
    power nearest to the plain mean. Where nothing helps, the weight is therefore 1.
    """
    if np.isnan(grid).all():
        return Found(1.0, 1.0, math.nan)
    weights, powers = np.nonzero(grid >= np.nanmax(grid) - SLACK)
    greatest = weights.max()
    column = min(powers[weights == greatest], key=lambda at: abs(float(POWERS[at]) - 1))
    return Found(WEIGHTS[greatest], float(POWERS[column]), float(grid[greatest, column]))


def halves(items: NDArray[np.intp], *, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which segments are in the first half; those of the same source segment stay together."""
    distinct = np.unique(items)
    chosen = rng.permutation(distinct)[: len(distinct) // 2]
    return np.asarray(np.isin(items, chosen))


def _on_the_other_half(
    evidence: Evidence, first: NDArray[np.bool_], regular: Regular, test: Test
) -> HeldOut | None:
    if min(first.sum(), (~first).sum()) < FEWEST:
        return None
    half = evidence.chosen(first)
    found = best_of(correlations(half.explained, half.gold, regular))
    at = WeightAndPower(found.w, found.p)
    return tried(evidence.chosen(~first), at, regular=regular, test=test)
