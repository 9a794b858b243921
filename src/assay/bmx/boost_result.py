"""A boosted metric's scores of systems, and how they came about."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from assay.bmx.boosted import Boosted, Boosting
from assay.metrics.base import Array
from assay.plots import scatter
from assay.results import Cell, Chart, Record, Table

__all__ = ["BoostResult"]

POINTS = 2000
"""More segments than this make no picture."""


@dataclass(frozen=True, eq=False)
class BoostResult:
    """The parts of every system's boosted scores; `segments` lists them all for people, too."""

    metric: Boosted
    systems: Mapping[str, Boosting]
    segments: bool = False

    def records(self) -> list[Record]:
        """One record per system and segment; None is unknown."""
        return [
            {
                "system": system,
                "segment": number,
                "base": _known(base),
                "explanation": _known(explanation),
                "boosted": _known(boosted),
            }
            for system, parts in self.systems.items()
            for number, (base, explanation, boosted) in enumerate(
                zip(parts.base, parts.explanation, parts.boosted, strict=True), 1
            )
        ]

    def tables(self) -> list[Table]:
        """The means of every system, and the segments where they are asked for."""
        return [self._systems(), self._segments()] if self.segments else [self._systems()]

    def charts(self) -> list[Chart]:
        """Boosted against base scores of segments."""
        records = self.records()
        if len(records) > POINTS:
            return []
        title = "What boosting changes"
        return [scatter(title, records, "base", "boosted", "segment", series="system")]

    def _systems(self) -> Table:
        rows: list[list[Cell]] = [
            [
                system,
                _mean(parts.base),
                _mean(parts.explanation),
                _mean(parts.boosted),
                100 * float(np.mean(parts.collapsed)),
                int(np.isnan(parts.boosted).sum()) or None,
            ]
            for system, parts in self.systems.items()
        ]
        columns = ("system", "base", "explanation", "boosted", "collapsed %", "unknown")
        digits = {"collapsed %": 0, "explanation": 4}
        best = {"base": "high", "boosted": "high"} if len(rows) > 1 else None
        title = f"{self.metric.title}: means over segments"
        finer = self._finer()
        return Table(title, columns, rows, self._note(), digits, best, finer=finer)  # type: ignore[arg-type]

    def _segments(self) -> Table:
        rows: list[list[Cell]] = [list(record.values()) for record in self.records()]
        columns = ("system", "segment", "base", "explanation", "boosted")
        digits, finer = {"explanation": 4}, self._finer()
        return Table("Segments", columns, rows, digits=digits, keys=2, finer=finer)

    def _finer(self) -> frozenset[str]:
        return frozenset(("base", "boosted") if self.metric.is_small else ())

    def _note(self) -> str:
        metric = self.metric
        turned = "" if metric.base.higher_is_better else " Less is better: signs are turned."
        return (
            f"{metric.title}|{metric.signature()}\nboosted = {metric.w:g} · base + "
            f"{1 - metric.w:g} · explanation; the explanation is the power mean (p = {metric.p}) "
            f"of the words' importances.{turned}\ncollapsed: segments whose explanation is next "
            "to nothing, so that only the base counts; regular=shift prevents it."
        )


def _mean(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else math.nan


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
