"""Many settings of a boosted metric together: medians, where it helps, and where it does not."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from assay.explanation import tuning_report as tuning_charts
from assay.explanation import tuning_report as tuning_display
from assay.explanation.boosted import WeightAndPower
from assay.explanation.tuning import POWERS, SLACK, WEIGHTS, Evidence, HeldOut, Test, Tuned, tried
from assay.results import Charts, Record, Result, Table, known
from assay.statistics.arrays import Array

__all__ = ["Effect", "Median", "TuneResult", "ridge_effects", "try_medians"]


class Effect(NamedTuple):
    """How much more is gained in settings with this value of this factor."""

    factor: str
    value: str
    coefficient: float


def ridge_effects(
    settings: Sequence[Mapping[str, str]], gains: Sequence[float] | Array, *, penalty: float = 1.0
) -> list[Effect]:
    """A coefficient for every value of every factor that varies, the greatest first.

    Each setting names the value of each factor. Every value is a regressor of its own, 1 where
    the setting has it and else 0; the intercept is not penalised (as in scikit-learn's Ridge).
    Factors are not independent of each other, so this is an impression, not a proof.
    """
    columns = [
        (factor, value)
        for factor in (settings[0] if settings else ())
        for value in dict.fromkeys(each[factor] for each in settings)
        if any(each[factor] != value for each in settings)
    ]
    if not columns:
        return []
    design = np.array([[each[f] == value for f, value in columns] for each in settings], float)
    target = np.asarray(gains, float)
    centred = design - design.mean(axis=0)
    normal = centred.T @ centred + penalty * np.eye(len(columns))
    solved = np.linalg.solve(normal, centred.T @ (target - target.mean()))
    effects = [Effect(*each, float(c)) for each, c in zip(columns, solved, strict=True)]
    return sorted(effects, key=lambda each: -each.coefficient)


class Median(NamedTuple):
    """The medians of an explainer's best weights and powers, and what they do everywhere.

    `improved` and `settings` count the settings that gain at the medians, and all.
    """

    explainer: str
    at: WeightAndPower
    improved: int
    settings: int
    gain: float


@dataclass(frozen=True)
class TuneResult(Result):
    """What tuning found in every setting, and what held elsewhere.

    With `grid`, the records are all points of the grid; otherwise the best of each setting.
    `trials` is how many swaps the tests of what held are made of.
    """

    tuned: tuple[Tuned, ...]
    tested: tuple[HeldOut, ...] = ()
    grid: bool = False
    trials: int = 1000

    @cached_property
    def medians(self) -> dict[str, Median]:
        """By explainer, the weight and power to take where there are no human scores."""
        names = dict.fromkeys(each.setting.explainer for each in self.tuned)
        return {name: self._median(name) for name in names}

    @cached_property
    def gains(self) -> list[float]:
        """The gain of every setting at the medians of its explainer."""
        return [each.at(self.medians[each.setting.explainer].at) - each.base for each in self.tuned]

    def effects(self) -> list[Effect]:
        """How pair, dataset, metric and explainer go with the gain at the medians."""
        known = [at for at, gain in enumerate(self.gains) if not math.isnan(gain)]
        settings = [self.tuned[at].setting._asdict() for at in known]
        return ridge_effects(settings, [self.gains[at] for at in known])

    def records(self) -> list[Record]:
        """One record per setting, or per setting and point of the grid."""
        if self.grid:
            return [record for each in self.tuned for record in _grid_records(each)]
        return [
            *map(self._record, self.tuned),
            *(_record_of(each, "test") for each in self.tested),
        ]

    def tables(self) -> list[Table]:
        """The best of every setting, what held elsewhere, the medians and the regression."""
        return tuning_display.tables(self)

    def charts(self) -> Charts:
        """The pictures of the paper."""
        return Charts(tuning_charts.charts(self))

    def _median(self, explainer: str) -> Median:
        own = [each for each in self.tuned if each.setting.explainer == explainer]
        # Where the weight is 1 the explanation does not count, whatever its power.
        boosted = [each.best.p for each in own if each.best.w < 1] or [1.0]
        at = WeightAndPower(
            float(np.median([each.best.w for each in own])), float(np.median(boosted))
        )
        gains = [each.at(at) - each.base for each in own]
        improved = sum(gain > SLACK for gain in gains)
        return Median(explainer, at, improved, len(own), float(np.mean(gains)))

    def _record(self, tuned: Tuned) -> Record:
        held = tuned.held_out
        found = held._asdict() if held else dict.fromkeys(HeldOut._fields)
        del found["setting"]
        median = self.medians[tuned.setting.explainer].at
        return _figures(
            {
                "explainer": tuned.setting.explainer,
                "metric": tuned.setting.metric,
                "w": tuned.best.w,
                "p": tuned.best.p,
                "pearson": tuned.best.pearson,
                "base": tuned.base,
                "what": "best",
                "dataset": tuned.setting.dataset,
                "pair": tuned.setting.pair,
                "n": len(tuned.evidence),
                "unknown": tuned.evidence.unknown,
                "regular": tuned.regular,
                "collapsed": tuned.collapsed,
                "median_w": median.w,
                "median_p": median.p,
                "median_pearson": tuned.at(median),
                **{f"held_out_{key}": value for key, value in found.items()},
            }
        )


def try_medians(result: TuneResult, evidence: Evidence, *, test: Test) -> HeldOut:
    """The medians of a result on segments that had no part in finding them."""
    at = result.medians[evidence.setting.explainer].at
    return tried(evidence, at, regular=result.tuned[0].regular, test=test)


def _grid_records(tuned: Tuned) -> list[Record]:
    setting = tuned.setting
    return [
        _figures(
            {
                "explainer": setting.explainer,
                "metric": setting.metric,
                "w": w,
                "p": float(p),
                "pearson": float(tuned.grid[row, column]),
                "base": tuned.base,
                "what": "grid",
                "dataset": setting.dataset,
                "pair": setting.pair,
            }
        )
        for row, w in enumerate(WEIGHTS)
        for column, p in enumerate(POWERS)
    ]


def _record_of(held: HeldOut, what: str) -> Record:
    setting = held.setting
    return _figures(
        {
            "explainer": setting.explainer,
            "metric": setting.metric,
            "w": held.w,
            "p": held.p,
            "pearson": held.pearson,
            "base": held.base,
            "what": what,
            "dataset": setting.dataset,
            "pair": setting.pair,
            "n": held.n,
            "significance": held.significance,
        }
    )


def _figures(record: Record) -> Record:
    return {key: known(value) for key, value in record.items()}
