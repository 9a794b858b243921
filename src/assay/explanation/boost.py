"""`boost`: a metric made better by explanations of itself, segment by segment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from assay.data import Array, Dataset
from assay.explanation.boosted import PUBLISHED, Boosted, Boosting, Regular
from assay.explanation.explainers import EXPLAINERS, Explainer
from assay.explanation.importances import Sides
from assay.metrics.base import Metric, select_metrics
from assay.plots import scatter
from assay.progress import Engine, Track, spread, untracked
from assay.registry import SEED
from assay.results import (
    CellValue,
    Charts,
    Column,
    Columns,
    Direction,
    Record,
    Result,
    Table,
    known,
)

__all__ = ["BoostResult", "boost"]


@spread
def boost(
    data: Dataset,
    metric: str | Metric = "chrf",
    explainer: str | Explainer = "lime",
    *,
    w: float | None = None,
    p: float | str | None = None,
    regular: Regular = "paper",
    iterations: int = 1,
    sides: Sides = "both",
    by_segment: bool = False,
    seed: int = SEED,
    cluster: Engine = None,
    track: Track = untracked,
) -> BoostResult:
    """Boost a metric by explanations of itself (BMX, Leiter et al., 2022).

    A boosted score is `w` times the metric's own and `1 - w` times the power mean, with power `p`,
    of how important each word is to that score; both are the paper's values for the explainer
    unless given (`p` may be `"inf"` or `"-inf"`). `regular` says how importances are made
    positive: `"paper"`, or `"shift"`, with which no explanation collapses. With more `iterations`
    the boosted metric is boosted again. `sides="hypothesis"` explains the output alone. Tables
    list all segments with `by_segment`; the records always do.

    The same metric can be used everywhere as `"boost:metric=chrf,explainer=lime,w=0.4,p=-1.4"`.

    >>> from assay.demo import read_demo
    >>> result = boost(read_demo(), "chrf", "erasure", w=0.5, p=1)
    >>> [round(record["boosted"], 2) for record in result.records()[:3]]
    [41.77, 38.72, 40.73]
    """
    explainer = EXPLAINERS.parse(explainer)
    selection = select_metrics([metric], data)
    usual = PUBLISHED.get(explainer.name, PUBLISHED["lime"])
    boosted = Boosted(
        metric=selection.metrics[0],
        explainer=explainer,
        w=usual.w if w is None else w,
        p=usual.p if p is None else p,
        regular=regular,
        iterations=iterations,
        sides=sides,
        random_seed=seed,
    ).for_dataset(data)
    systems = {name: boosted.boosting(data.segments(name), track=track) for name in data.systems}
    return BoostResult(boosted, systems, by_segment, tuple(selection.notes))


POINTS = 2000
"""More segments than this make no picture."""


@dataclass(frozen=True, eq=False)
class BoostResult(Result):
    """The parts of every system's boosted scores; `by_segment` lists them in a table, too."""

    metric: Boosted
    systems: Mapping[str, Boosting]
    by_segment: bool = False
    notes: tuple[str, ...] = ()
    """What to know about the metric: languages, tokenizers, signatures that do not fit."""

    def records(self) -> list[Record]:
        """One record per system and segment; None is unknown."""
        return [
            {
                "system": system,
                "segment": number,
                "base": known(base),
                "explanation": known(explanation),
                "boosted": known(boosted),
            }
            for system, parts in self.systems.items()
            for number, (base, explanation, boosted) in enumerate(
                zip(*(_finite(part) for part in parts[:3]), strict=True), 1
            )
        ]

    def tables(self) -> list[Table]:
        """The means of every system, and the segments where they are asked for."""
        return [self._systems(), self._segments()] if self.by_segment else [self._systems()]

    def charts(self) -> Charts:
        """Boosted against base scores of segments."""
        records = self.records()
        if len(records) > POINTS:
            return Charts()
        title = "What boosting changes"
        return Charts([scatter(title, records, "base", "boosted", "segment", series="system")])

    def _systems(self) -> Table:
        rows: list[list[CellValue]] = [
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
        columns: Columns = (
            "system",
            *self._columns(direction="high"),
            Column("collapsed", digits=0, unit="%"),
            Column("unknown"),
        )
        return Table(f"{self.metric.title}: means over segments", columns, rows, self._note())

    def _segments(self) -> Table:
        rows: list[list[CellValue]] = [list(record.values()) for record in self.records()]
        return Table("Segments", ("system", "segment", *self._columns()), rows, keys=2)

    def _columns(self, *, direction: Direction | None = None) -> tuple[Column, Column, Column]:
        """The base score, the explanation and the boosted score."""
        base, boosted = (
            Column(name, finer=self.metric.is_small, direction=direction)
            for name in ("base", "boosted")
        )
        return base, Column("explanation", digits=4), boosted

    def _note(self) -> str:
        metric = self.metric
        turned = "" if metric.base.higher_is_better else " Lower is better: signs are turned."
        return (
            f"{metric.title}|{metric.signature()}\nboosted = {metric.w:g} · base + "
            f"{1 - metric.w:g} · explanation; the explanation is the power mean (p = {metric.p}) "
            f"of the words' importances.{turned}\ncollapsed: segments whose explanation is next "
            "to nothing, so that only the base counts; regular=shift prevents it."
        )


def _mean(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else math.nan


def _finite(values: Array) -> list[float]:
    """The values, `nan` in place of infinities."""
    finite: list[float] = np.where(np.isfinite(values), values, np.nan).tolist()
    return finite
