"""MuLER by one metric: the standard report, systems side by side, and the paper's figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from assay.decomposition.decompose import ENOUGH, FEW, MANY, FeatureScore, Preset
from assay.features.annotation import Feature
from assay.metrics.base import Metric
from assay.plots import bar_chart, dot_chart, heat_map, scatter
from assay.results import (
    Cell,
    CellValue,
    Chart,
    Charts,
    Column,
    Columns,
    Record,
    Result,
    Table,
    known,
)

__all__ = ["MulerScores", "feature_label"]

BESIDE = 3
"""Up to so many systems stand side by side as dots; more make a heat map."""

MANY_SYSTEMS = 4
"""More systems than this, and than features, stand below each other, not side by side."""

CORRELATED = 3
"""A correlation over systems takes at least so many."""

_ALPHA = 0.05


@dataclass(frozen=True, eq=False)
class MulerScores(Result):
    """MuLER of systems by features, by one metric; `tested` where there are intervals and p."""

    metric: Metric
    preset: Preset
    systems: tuple[str, ...]
    features: tuple[Feature, ...]
    scores: tuple[FeatureScore, ...]
    tested: bool

    def tables(self) -> list[Table]:
        """Systems side by side where there are several, and the standard report of each."""
        together = [self._overview()] if len(self.systems) > 1 else []
        reports = [self._report(system) for system in self.systems]
        related = [self._correlations()] if len(self.systems) >= CORRELATED else []
        return [*together, *reports, *related, self._usage()]

    def records(self) -> list[Record]:
        """One record per system and feature."""
        return [self._record(score) for score in self.scores]

    def charts(self) -> Charts:
        """MuLER by feature; against the other scores over systems; frequency and uniqueness."""
        charts = [self._dots() if len(self.systems) <= BESIDE else self._map()]
        if len(self.systems) >= CORRELATED:
            against = self._against("oracle - anti-oracle", lambda s: s.oracle - s.anti)
            charts += [against, self._against("plain score", lambda s: s.plain)]
            charts = [charts[0], *(replace(chart, after=_CORRELATIONS) for chart in charts[1:])]
        return Charts([*charts, *self._usage_charts()])

    def _record(self, score: FeatureScore) -> Record:
        values = {field.name: getattr(score, field.name) for field in fields(score)}
        feature = values.pop("feature")
        record = {
            "system": values.pop("system"),
            "metric": self.metric.requested,
            "resolved": str(self.metric),
            "feature": feature.name,
            "kind": feature.kind,
            **values,
            "few": score.is_thin,
            "approximate": score.is_approximate,
        }
        return {key: known(value) for key, value in record.items()}

    def _of(self, system: str) -> list[FeatureScore]:
        return [score for score in self.scores if score.system == system]

    def _overview(self) -> Table:
        first, *others = self.systems
        columns: list[str | Column] = ["feature", Column(first, digits=3)]
        for system in others:
            columns.append(Column(system, digits=3))
            if self.tested:
                columns.append(Column(f"p {system}", style="p", paper=False))
        if self._many:
            return self._overview_by_system()
        rows: list[list[CellValue]] = []
        for feature in self.features:
            baseline, *own = [score for score in self.scores if score.feature == feature]
            row: list[CellValue] = [feature_label(feature, self.features), _muler_cell(baseline)]
            for score in own:
                row += [_muler_cell(score), *([_p_cell(score.p_bh)] if self.tested else [])]
            thin = [score.system for score in (baseline, *own) if score.is_thin]
            rows.append([*row, _few(thin, self.systems)])
        details = self._interval_note().strip()
        return Table(_MULER, (*columns, ""), rows, self._overview_note(), details=details)

    def _overview_by_system(self) -> Table:
        """Many systems one below the other, with a column for each of the few features."""
        columns: list[str | Column] = ["system"]
        thin = []
        for feature in self.features:
            name = feature_label(feature, self.features)
            columns.append(Column(name, digits=3))
            columns += [Column(f"p {name}", style="p", paper=False)] * self.tested
            own = [s.system for s in self.scores if s.feature == feature and s.is_thin]
            thin += [f"{name} ({_few(own, self.systems)})"] * bool(own)
        rows: list[list[CellValue]] = []
        for system in self.systems:
            row: list[CellValue] = [system]
            for score in self._of(system):
                row += [_muler_cell(score), *([_p_cell(score.p_bh)] if self.tested else [])]
            rows.append(row)
        note = self._overview_note() + f" Of few sentences: {', '.join(thin)}." * bool(thin)
        details = self._interval_note().strip()
        return Table(_MULER, columns, rows, note, keys=1, details=details)

    @property
    def _many(self) -> bool:
        """Whether systems make better rows than features."""
        return len(self.systems) > MANY_SYSTEMS and len(self.systems) > len(self.features)

    def _overview_note(self) -> str:
        return (
            "MuLER: the share of what the feature could gain or lose that is lost; lower is "
            f"better.{self._test() if self.tested else ''}{self._few_note()}"
        )

    def _test(self) -> str:
        return (
            f" p: against {self.systems[0]}, by a paired t-test with jackknife errors (no "
            "resamples), corrected over the features (Benjamini-Hochberg); * is below "
            f"{_ALPHA}."
        )

    def _few_note(self) -> str:
        if not any(score.is_thin for score in self.scores):
            return ""
        return f" few: found in fewer than {FEW} sentences; no p, do not rely on it."

    def _interval_note(self) -> str:
        if not self.tested:
            return ""
        approximate = (
            f"; approx.: of fewer than {MANY}, it covers 88 to 97%"
            if any(score.is_approximate for score in self.scores)
            else ""
        )
        return (
            f" low, high: its 95% interval by jackknife, of at least {ENOUGH} sentences"
            f"{approximate}."
        )

    def _report(self, system: str) -> Table:
        digits = None if self.preset.scale == 1 else 3
        columns: Columns = (
            "feature",
            Column("n"),
            *(Column(name, digits=3) for name in ("MuLER", "low", "high")),
            *(Column(name, digits=digits) for name in ("plain", "oracle", "anti", "abl")),
            *(Column(name, unit="%") for name in ("under", "over", "equal")),
            Column("negative"),
            "",
        )
        rows = [
            (
                feature_label(score.feature, self.features),
                score.n,
                score.muler,
                score.low,
                score.high,
                score.plain,
                score.oracle,
                score.anti,
                score.abl,
                100 * score.under,
                100 * score.over,
                100 * score.equal,
                score.negative,
                "few" if score.is_thin else "approx." if score.is_approximate else "",
            )
            for score in sorted(self._of(system), key=lambda s: _last(-s.muler))
        ]
        group = f"{self.metric.title} by feature"
        return Table(
            f"{system}: {group}",
            columns,
            rows,
            self._note(),
            group=group,
            choice=(("system", system),),
        )

    def _note(self) -> str:
        return (
            "n: sentences with the feature on both sides (I). plain, oracle, anti: "
            f"{self.preset.meaning}, of the texts as they are, masked for the best and for the "
            "worst. MuLER = (oracle - plain) / (oracle - anti), hardest first."
            f"{self._interval_note()} abl: its numerator. under, over, equal: the output has the "
            "feature less "
            "often, more often, as often as the reference. negative: sentences that lose by the "
            f"oracle, mostly where the two sides' tags differ.{self._few_note()}"
            f"\n{self.metric.title}|{self.metric.signature()}|preset:{self.preset.name}"
        )

    def _correlations(self) -> Table:
        rows: list[tuple[CellValue, ...]] = []
        for feature in self.features:
            own = [score for score in self.scores if score.feature == feature]
            values = [score.muler for score in own]
            rows.append(
                (
                    feature_label(feature, self.features),
                    _pearson(values, [score.oracle - score.anti for score in own]),
                    _pearson(values, [score.plain for score in own]),
                    _few([score.system for score in own if score.is_thin], self.systems),
                )
            )
        columns: Columns = (
            "feature",
            Column("with oracle - anti-oracle"),
            Column("with plain score"),
            "",
        )
        note = (
            f"Pearson's r of MuLER over {len(self.systems)} systems. Clearly negative: better "
            "systems also get the feature right more often. Near zero: they do not."
            f"{self._few_note()}"
        )
        return Table(_CORRELATIONS, columns, rows, note)

    def _usage(self) -> Table:
        rows: list[tuple[CellValue, ...]] = []
        for feature in self.features:
            own = [score for score in self.scores if score.feature == feature]
            cells: list[Any] = [feature_label(feature, self.features), 100 * own[0].frequency_ref]
            cells += [100 * own[0].uniqueness_ref]
            for score in own:
                cells += [100 * score.frequency_sys, 100 * score.uniqueness_sys]
            rows.append(tuple(cells))
        note = (
            "frequency: words with the feature among all words. "
            "uniqueness: distinct words among those with the feature."
        )
        texts, kinds = ("reference", *self.systems), ("frequency", "uniqueness")
        if self._many:
            heads = [Column(f"{kind} % {row[0]}", digits=2) for row in rows for kind in kinds]
            turned = [
                (text, *(cell for row in rows for cell in row[1 + 2 * at : 3 + 2 * at]))
                for at, text in enumerate(texts)
            ]
            return Table(_USAGE, ("text", *heads), turned, note, keys=1)
        heads = [Column(f"{kind} % {name}", digits=2) for name in texts for kind in kinds]
        return Table(_USAGE, ("feature", *heads), rows, note)

    def _records(self, **values: Callable[[FeatureScore], float]) -> list[Record]:
        return [
            {"feature": self._chart_label(score.feature), "system": score.system}
            | {name: value(score) for name, value in values.items()}
            for score in self.scores
        ]

    def _chart_label(self, feature: Feature) -> str:
        """The feature, marked where a system has it in few sentences."""
        thin = any(score.is_thin for score in self.scores if score.feature == feature)
        return f"{feature_label(feature, self.features)}{' (few)' * thin}"

    def _dots(self) -> Chart:
        records = self._records(MuLER=lambda s: s.muler, low=lambda s: s.low, high=lambda s: s.high)
        series = "system" if len(self.systems) > 1 else None
        low, high = ("low", "high") if any(s.low == s.low for s in self.scores) else (None, None)
        return dot_chart(
            f"MuLER of {self.metric.title} by feature",
            records,
            "feature",
            "MuLER",
            series=series,
            low=low,
            high=high,
            domain=self._domain(),
            captions={"MuLER": "← lower is better: MuLER"},
            note=f"{self._few_note()}{self._outside_note()}".strip(),
        )

    def _domain(self) -> tuple[float, float] | None:
        """The range of values to rely on, from 0 at least to 1: a few sentences can be far off."""
        reliable = [score for score in self.scores if not score.is_thin] or self.scores
        values = [value for s in reliable for value in (s.muler, s.low, s.high) if value == value]
        return (min([0.0, *values]) - 0.02, max([*values, 0.0]) + 0.02) if values else None

    def _outside_note(self) -> str:
        domain = self._domain()
        values = [score.muler for score in self.scores if not math.isnan(score.muler)]
        if domain is None or all(domain[0] <= value <= domain[1] for value in values):
            return ""
        return " Triangles at the edge: values beyond it, of few sentences; see the table."

    def _map(self) -> Chart:
        records = self._records(MuLER=lambda s: s.muler)
        title = f"MuLER of {self.metric.title}: systems by features"
        beyond = " Values of few sentences beyond the others have the colour of the end."
        note = self._few_note() + beyond * bool(self._outside_note())
        reliable = [s.muler for s in self.scores if not s.is_thin and s.muler == s.muler]
        domain = (min(reliable), max(reliable)) if reliable else None
        return heat_map(title, records, "feature", "system", "MuLER", domain=domain, note=note)

    def _against(self, what: str, value: Callable[[FeatureScore], float]) -> Chart:
        records = self._records(MuLER=lambda s: s.muler)
        for record, score in zip(records, self.scores, strict=True):
            record[what] = value(score)
        thin = {score.feature for score in self.scores if score.is_thin}
        kept = [
            record
            for record, score in zip(records, self.scores, strict=True)
            if score.feature not in thin
        ]
        title = f"MuLER against {what} over the systems"
        note = "Features in few sentences are left out." if kept and thin else ""
        return scatter(title, kept or records, what, "MuLER", "system", series="feature", note=note)

    def _usage_charts(self) -> list[Chart]:
        charts = []
        for what in ("frequency", "uniqueness"):
            records = [
                {
                    "feature": feature_label(score.feature, self.features),
                    "text": text,
                    what: 100 * value,
                }
                for score in self._of(self.systems[0])
                for text, value in (
                    ("reference", getattr(score, f"{what}_ref")),
                    (self.systems[0], getattr(score, f"{what}_sys")),
                )
            ]
            title = f"{what.capitalize()} of the features in percent"
            charts.append(bar_chart(title, records, "feature", what, "text"))
        return [replace(chart, after=_USAGE) for chart in charts]


_MULER = "MuLER by system and feature"
_CORRELATIONS = "Does MuLER follow the quality of the systems?"
_USAGE = "How often the features occur"


def feature_label(feature: Feature, features: Sequence[Feature]) -> str:
    """The feature's name, with its kind where the name alone is not enough."""
    names = [other.name for other in features]
    return str(feature) if names.count(feature.name) > 1 else feature.name


def _muler_cell(score: FeatureScore) -> Cell:
    return Cell(score.muler, score.low, score.high, score.p_bh, score.n)


def _p_cell(p: float) -> Cell | None:
    return None if math.isnan(p) else Cell(p, mark="*" * (p < _ALPHA))


def _few(thin: Sequence[str], systems: Sequence[str]) -> str:
    """Which of the systems have few sentences: all, or those named."""
    if not thin:
        return ""
    return "few" if len(thin) == len(systems) else f"few: {', '.join(thin)}"


def _last(value: float) -> float:
    """For sorting: the unknown comes last."""
    return math.inf if math.isnan(value) else value


def _pearson(x: Sequence[float], y: Sequence[float]) -> float:
    both = ~(np.isnan(x) | np.isnan(y))
    first, second = np.asarray(x)[both], np.asarray(y)[both]
    if len(first) < CORRELATED or np.ptp(first) == 0 or np.ptp(second) == 0:
        return math.nan
    return float(np.corrcoef(first, second)[0, 1])
