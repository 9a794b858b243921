"""Scores as people see them: tables with notes that say what stands in them, and charts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from assay.metrics.base import Array
from assay.plots import bar_chart, heat_map
from assay.results import Cell, Chart, PValue, Record, Table
from assay.scoring.entries import MetricScores, labels, parts
from assay.scoring.questions import ALPHA, Questions
from assay.significance import Comparison

__all__ = ["Display"]

MANY_SYSTEMS = 4
"""From so many systems on, a map of all pairs is easier to read than the table."""


@dataclass(frozen=True, eq=False)
class Display:
    """The tables and charts of a result."""

    systems: tuple[str, ...]
    by_metric: tuple[MetricScores, ...]
    questions: Questions

    def tables(self) -> list[Table]:
        """An overview, and for each metric what was asked about it."""
        found = [self._overview()]
        for entry in self.by_metric:
            if entry.intervals or entry.comparisons:
                found.append(self._details(entry))
            if entry.comparisons and self.questions.all_pairs:
                found.append(self._pairs(entry))
        for entry in self.by_metric:
            for kind, (names, scores) in parts(entry):
                found.append(self._grid(entry, kind, names, scores))
            if entry.segments is not None:
                numbers = range(1, entry.segments.shape[1] + 1)
                found.append(self._grid(entry, "segment", numbers, entry.segments))
        return found

    def charts(self) -> list[Chart]:
        """Bars with intervals, and for all pairs of many systems a map of the differences."""
        maps = [self._map(each) for each in self.by_metric if each.comparisons]
        return [self._bars(), *(maps if self._many_pairs else [])]

    def _overview(self) -> Table:
        columns = [self._column(entry) for entry in self.by_metric]
        rows: list[list[Cell]] = [
            [system, *(float(entry.corpus[at]) for entry in self.by_metric)]
            for at, system in enumerate(self.systems)
        ]
        better = {
            self._column(e): "high" if e.metric.higher_is_better else "low" for e in self.by_metric
        }
        note = "\n".join(entry.signature for entry in self.by_metric)
        best: Any = better if len(self.systems) > 1 else None
        finer = frozenset(self._column(e) for e in self.by_metric if e.metric.is_small)
        return Table("Scores", ("system", *columns), rows, note, best=best, finer=finer)

    def _details(self, entry: MetricScores) -> Table:
        asked, compared = self.questions, {each.first: each for each in entry.comparisons or ()}
        columns = ["system", self._column(entry)]
        columns += ["low", "high"] if entry.intervals else []
        columns += ["cluster"] if entry.clusters else []
        baseline = bool(entry.comparisons) and not asked.all_pairs
        columns += ["difference", "p", "p (Holm)", "", "effect", "wins %"] if baseline else []
        rows: list[list[Cell]] = []
        for at in self._ranked(entry) if entry.clusters else range(len(self.systems)):
            row: list[Cell] = [self.systems[at], float(entry.corpus[at])]
            row += entry.intervals[at][:2] if entry.intervals else []
            row += [entry.clusters[at]] if entry.clusters else []
            row += _comparison_cells(compared.get(at)) if baseline else []
            rows.append(row)
        title = f"{self._label(entry)}: how sure is it?"
        note = self._details_note(entry)
        finer = self._finer(entry, self._column(entry), "low", "high", "difference")
        return Table(title, tuple(columns), rows, note, finer=finer)

    def _ranked(self, entry: MetricScores) -> list[int]:
        """The systems by cluster, and by score within one."""
        sign = -1 if entry.metric.higher_is_better else 1
        clusters = entry.clusters or [1] * len(self.systems)
        order = range(len(self.systems))
        return sorted(order, key=lambda at: (clusters[at], sign * float(entry.corpus[at])))

    def _details_note(self, entry: MetricScores) -> str:
        method = self.questions.method or entry.metric.interval_method
        parts = [self._interval_note(method)] if entry.intervals else []
        if entry.comparisons:
            parts.append(_CLUSTERS if entry.clusters else self._test_note())
        return " ".join(parts)

    def _interval_note(self, method: str, of: str = "") -> str:
        asked = self.questions
        return (
            f"low, high: {asked.level:.0%} {_METHODS[method]} bootstrap interval{of}, "
            f"{asked.resamples} resamples."
        )

    def _test_note(self) -> str:
        asked = self.questions
        kind = "paired bootstrap" if asked.test == "bootstrap" else "approximate randomisation"
        trials = asked.resamples if asked.test == "bootstrap" else asked.trials
        against = "every pair" if asked.all_pairs else f"baseline {self.systems[0]}"
        return f"p: {kind}, {trials} trials, {against}; * is p < {ALPHA} after Holm. {_COLUMNS}"

    def _pairs(self, entry: MetricScores) -> Table:
        columns = (
            "system",
            "other",
            "difference",
            "low",
            "high",
            "p",
            "p (Holm)",
            "",
            "effect",
            "wins %",
        )
        rows = []
        for each in entry.comparisons or ():
            difference, *rest = _comparison_cells(each)
            names = (self.systems[each.first], self.systems[each.second])
            rows.append((*names, difference, each.low, each.high, *rest))
        title = f"{self._label(entry)}: every pair"
        note = self._interval_note(entry.metric.interval_method, " of the difference")
        note = f"{note} {self._test_note()}"
        finer = self._finer(entry, "low", "high", "difference")
        return Table(title, columns, rows, note, finer=finer)

    def _grid(
        self, entry: MetricScores, kind: str, names: Iterable[str | int], scores: Array
    ) -> Table:
        rows = [(name, *map(float, values)) for name, values in zip(names, scores.T, strict=True)]
        title = f"{self._label(entry)} by {kind}"
        finer = self._finer(entry, *self.systems)
        return Table(title, (kind, *self.systems), rows, finer=finer)

    def _finer(self, entry: MetricScores, *columns: str) -> frozenset[str]:
        """The columns, where the metric's scores are small."""
        return frozenset(columns if entry.metric.is_small else ())

    @property
    def _many_pairs(self) -> bool:
        return self.questions.all_pairs and len(self.systems) >= MANY_SYSTEMS

    def _bars(self) -> Chart:
        records: list[Record] = [
            {"system": self.systems[at], "metric": self._column(entry), "score": entry.corpus[at]}
            | (entry.intervals[at]._asdict() if entry.intervals else {})
            for at in range(len(self.systems))
            for entry in self.by_metric
        ]
        low, high = ("low", "high") if self.questions.confidence else (None, None)
        series = "metric" if len(self.by_metric) > 1 else None
        title = "Scores" if series else self._column(self.by_metric[0])
        return bar_chart(
            "Scores of each system", records, "system", "score", series,
            y_title=title, low=low, high=high,
        )  # fmt: skip

    def _map(self, entry: MetricScores) -> Chart:
        differences = {(at, at): 0.0 for at in range(len(self.systems))}
        for each in entry.comparisons or ():
            differences[each.first, each.second] = each.difference
            differences[each.second, each.first] = -each.difference
        records = [
            {"system": self.systems[i], "other": self.systems[j], "difference": value}
            for (i, j), value in sorted(differences.items())
        ]
        title = f"{self._label(entry)}: row minus column"
        chart = heat_map(title, records, "other", "system", "difference", diverging=True)
        return replace(chart, after=f"{self._label(entry)}: every pair")

    def _label(self, entry: MetricScores) -> str:
        """The metric's title, or its settings where two have the same title."""
        metrics = [each.metric for each in self.by_metric]
        return labels(metrics)[metrics.index(entry.metric)]

    def _column(self, entry: MetricScores) -> str:
        """The heading: the metric and which way is better."""
        return f"{self._label(entry)} {'↑' if entry.metric.higher_is_better else '↓'}"


def _comparison_cells(each: Comparison | None) -> list[Cell]:
    if each is None:
        return [None] * 6
    star = "*" if each.p_holm < ALPHA else ""
    p = PValue(each.p), PValue(each.p_holm)
    return [each.difference, *p, star, each.effect, 100 * each.wins]


_CLUSTERS = "cluster: every system of one cluster differs from every one of the next (p below)."
_COLUMNS = (
    "effect: mean by standard deviation of the difference over segments. "
    "wins %: segments on which the system is better."
)
_METHODS = {"bca": "BCa", "percentile": "percentile", "basic": "basic", "centred": "centred"}
