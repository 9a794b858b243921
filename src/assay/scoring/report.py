"""What can be asked about scores, and the result of `score`: its tables, charts and records."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import Array, Dataset
from assay.metrics.base import Metric, labels
from assay.plots import dot_chart, heat_map
from assay.results import (
    Cell,
    CellValue,
    Chart,
    Charts,
    Column,
    Columns,
    Direction,
    Record,
    Result,
    Table,
)
from assay.statistics.significance import (
    ENOUGH,
    BootstrapStatistic,
    Comparison,
    Correction,
    Interval,
    IntervalMethod,
    usual_method,
)

__all__ = [
    "ALPHA",
    "FEWEST",
    "Grouped",
    "MetricScores",
    "Part",
    "ScoreOptions",
    "ScoreResult",
    "ScoreTables",
    "Test",
    "parts",
]

FEWEST = 20
"""A group or document of fewer segments gets no interval and no p: see docs/significance.md."""

_SACREBLEUS = "sacreBLEU's statistic (approximate: finds too much, see docs)"

Test = Literal["none", "bootstrap", "randomisation", "jackknife"]

ALPHA = 0.05
"""A difference is marked as significant where its corrected p is below this."""

MOST = 10_000
"""There are no more resamples or trials than this, unless they are asked for."""

COMPARED = 30_000_000
"""Trials by pairs are no more than this, where that leaves 1,000 trials."""


@dataclass(frozen=True)
class ScoreOptions:
    """What to find out about the scores besides the scores themselves."""

    segments: bool = False
    documents: bool = False
    groups: bool = False
    confidence: bool = False
    method: IntervalMethod | None = None  # each metric's own: BCa, or the jackknife for types
    level: float = 0.95
    test: Test = "none"
    statistic: BootstrapStatistic = "two-sided"
    all_pairs: bool = False
    resamples: int | None = None  # as many as it takes
    trials: int | None = None
    correction: Correction = "holm"

    def method_for(self, metric: Metric, segments: int) -> IntervalMethod:
        """The kind of interval: the one that was asked for, or the usual one."""
        return self.method or usual_method(metric, segments)

    def test_for(self, metric: Metric, segments: int) -> Test:
        """The test that is done: a jackknife where the bootstrap would find too much."""
        if self.test != "bootstrap" or (self._is_sacrebleus and metric.interval_method == "bca"):
            return self.test
        return "jackknife" if usual_method(metric, segments) == "jackknife" else "bootstrap"

    def test_name(self, metric: Metric, segments: int) -> str:
        """The test in words, with its number of resamples or trials, and how far to trust it."""
        max_t = ", step-down max-T" if self.correction == "step-down" else ""
        match self.test_for(metric, segments):
            case "jackknife":
                types = metric.interval_method == "jackknife"
                why = "of types" if types else f"of fewer than {ENOUGH} segments"
                return f"jackknife t-test (a bootstrap {why} finds too much)"
            case "randomisation":
                return f"approximate randomisation, {self.trials} trials{max_t}"
            case "bootstrap":
                own = f" with {_SACREBLEUS}" if self._is_sacrebleus else ""
                return f"paired bootstrap{own}, {self.resamples} resamples{max_t}"
            case _:
                return "none"

    @property
    def _is_sacrebleus(self) -> bool:
        return self.statistic == "sacrebleu"

    def filled(self, dataset: Dataset) -> ScoreOptions:
        """The same options with enough resamples and trials for all comparisons.

        Usually 1,000 and 10,000, as in sacreBLEU; more where Holm's correction for many pairs
        and parts could not let even the smallest p, 1 / (resamples + 1), be significant. That
        grows with the square of the systems and the cost with their fourth power. So there are
        no more than 10,000: where Holm would need more, a step-down max-T test takes its place,
        which needs no more for many pairs. Trials of more than 3,000 pairs are fewer, so that
        trials by pairs are 30 million, but at least 1,000.
        """
        systems = len(dataset.systems)
        pairs = math.comb(systems, 2) if self.all_pairs else systems - 1
        labels = [dataset.groups] * self.groups + [dataset.documents] * self.documents
        parts = [sum(n >= FEWEST for n in Counter(each).values()) for each in labels]
        least = math.ceil(2 * pairs * max([1, *parts]) / ALPHA)
        resampled = self.test == "bootstrap"
        resamples = min(MOST, max(1000, least if resampled else 0))
        trials = min(MOST, max(1000, COMPARED // max(1, pairs)))
        given = self.resamples if resampled else self.trials
        drawn = given or (resamples if resampled else trials)
        # Whoever gives a number gets Holm wherever he can reach it at all.
        reachable = least <= (drawn if given is None else 2 * drawn)
        reachable &= self.correction == "holm"
        plain = self.test == "none" or (resampled and self._is_sacrebleus)
        return replace(
            self,
            resamples=resamples if self.resamples is None else self.resamples,
            trials=trials if self.trials is None else self.trials,
            correction="holm" if reachable or plain else "step-down",
        )

    def after(self, metric: Metric, segments: int) -> str:
        """In words, how p is corrected for all comparisons."""
        if self.correction == "holm" or self.test_for(metric, segments) == "jackknife":
            return "after Holm"
        return "corrected by step-down max-T, since Holm would need more resamples"


class Part(NamedTuple):
    """What a metric says of all systems on a part of the test set: a group or a document.

    `segments` is how many it has. What was not asked for, or cannot be said of so few segments,
    is None. The comparisons' `p_holm` is corrected over all parts.
    """

    name: str
    segments: int
    scores: Array
    intervals: list[Interval] | None = None
    comparisons: list[Comparison] | None = None


Grouped = tuple[Part, ...]
"""The parts of the test set, all of one kind."""


@dataclass(frozen=True, eq=False)
class MetricScores:
    """What one metric says of all systems; what was not asked for is None."""

    metric: Metric
    signature: str
    length: int
    """The number of segments."""
    corpus: Array
    intervals: list[Interval] | None = None
    segments: Array | None = None
    documents: Grouped | None = None
    groups: Grouped | None = None
    comparisons: list[Comparison] | None = None
    clusters: list[int] | None = None
    winners: NDArray[np.intp] | None = None
    """By system and segment the number of the reference that counts, from 0."""
    by_segment: SegmentMetric | None = None
    """What scored the segments, where the metric's settings leave that open."""

    @property
    def segment_metric(self) -> SegmentMetric:
        """What scored the segments."""
        return self.by_segment or SegmentMetric(self.metric, self.signature)


class SegmentMetric(NamedTuple):
    """A metric as it scores single segments, with its signature."""

    metric: Metric
    signature: str


def parts(entry: MetricScores) -> Iterator[tuple[str, Grouped]]:
    """The parts of the test set that were asked for, by the name of their kind."""
    if entry.documents is not None:
        yield "document", entry.documents
    if entry.groups is not None:
        yield "group", entry.groups


MANY_SYSTEMS = 4
"""From so many systems on, a map of all pairs is easier to read than the table."""

SHORT = 10
"""Tables of more rows are shown one metric at a time."""

_CLUSTERS = "cluster: every system of one cluster differs from every one of the next (p below)."
_COLUMNS = (
    "effect: mean by standard deviation of the difference over segments. "
    "wins %: segments on which the system is better."
)
_METHODS = {"bca": "BCa", "percentile": "percentile", "basic": "basic"}
_FEW = f", approximate with fewer than {ENOUGH} segments"
_LOSES = ": only approximate, since resamples lose rare types"
_KEYS = ("system", "metric", "resolved", "signature", "score")


@dataclass(frozen=True, eq=False)
class ScoreResult(Result):
    """Scores of systems by metrics."""

    systems: tuple[str, ...]
    by_metric: tuple[MetricScores, ...]
    options: ScoreOptions
    notes: tuple[str, ...] = ()
    """What the user should know: odd texts, signatures that do not fit, short segments."""

    def records(self) -> list[Record]:
        """One record per system and metric; then per pair, document and segment where asked."""
        return [self._complete(each) for entry in self.by_metric for each in self._records(entry)]

    def tables(self) -> list[Table]:
        """An overview, and for each metric what was asked about it."""
        return ScoreTables(self.systems, self.by_metric, self.options).tables()

    def charts(self) -> Charts:
        """Dots with intervals, and for all pairs of many systems a map of the differences."""
        return Charts(ScoreTables(self.systems, self.by_metric, self.options).charts())

    def _complete(self, record: Record) -> Record:
        """All records have the same keys in the same order, and None for the unknown (nan)."""
        asked = self.options
        extra = {
            "low": asked.confidence,
            "high": asked.confidence,
            "baseline": asked.test != "none",
            "difference": asked.test != "none",
            "difference_low": asked.test != "none",
            "difference_high": asked.test != "none",
            "p": asked.test != "none",
            "p_holm": asked.test != "none",
            "test": asked.test != "none",
            "effect": asked.test != "none",
            "cluster": asked.test != "none" and asked.all_pairs,
            "document": asked.documents,
            "group": asked.groups,
            "n": asked.documents or asked.groups,
            "segment": asked.segments,
            "reference": any(entry.winners is not None for entry in self.by_metric),
        }
        keys = [*_KEYS, *(key for key, wanted in extra.items() if wanted)]
        values = {key: record.get(key) for key in keys}
        return {key: None if _is_nan(value) else value for key, value in values.items()}

    def _records(self, entry: MetricScores) -> Iterator[Record]:
        whole = Part("", entry.length, entry.corpus, entry.intervals, entry.comparisons)
        for at, record in enumerate(self._part_records(entry, whole)):
            ranked = entry.clusters and at < len(self.systems)
            yield record | ({"cluster": entry.clusters[at]} if ranked and entry.clusters else {})
        for kind, grouped in parts(entry):
            for part in grouped:
                for record in self._part_records(entry, part):
                    yield record | {kind: part.name}
        if entry.segments is not None:
            yield from self._segment_records(entry, entry.segments)

    def _part_records(self, entry: MetricScores, part: Part) -> Iterator[Record]:
        """A record per system, and where all pairs were asked for, one per pair."""
        pairs, every = part.comparisons or [], self.options.all_pairs
        against_first = {} if every else {each.first: each for each in pairs}
        for at, score in enumerate(part.scores):
            record = self._record(entry, at, score) | {"n": part.segments}
            if part.intervals:
                record |= {"low": part.intervals[at].low, "high": part.intervals[at].high}
            yield record | self._compared(entry, part, against_first.get(at))
        for each in pairs if every else []:
            record = self._record(entry, each.first, part.scores[each.first])
            yield record | {"n": part.segments} | self._compared(entry, part, each)

    def _segment_records(self, entry: MetricScores, scores: Array) -> Iterator[Record]:
        metric, signature = entry.segment_metric
        scored = {"resolved": str(metric), "signature": signature}
        for at in range(len(self.systems)):
            for number, value in enumerate(scores[at], 1):
                record = self._record(entry, at, value) | scored | {"segment": number}
                if entry.winners is not None:
                    record["reference"] = int(entry.winners[at, number - 1]) + 1
                yield record

    def _record(self, entry: MetricScores, at: int, value: float) -> Record:
        return {
            "system": self.systems[at],
            "metric": entry.metric.requested,
            "resolved": str(entry.metric),
            "signature": entry.signature,
            "score": float(value),
        }

    def _compared(self, entry: MetricScores, part: Part, each: Comparison | None) -> Record:
        if each is None:
            return {}
        return {
            "baseline": self.systems[each.second],
            "difference": each.difference,
            "difference_low": each.low,
            "difference_high": each.high,
            "p": each.p,
            "p_holm": each.p_holm,
            "test": self.options.test_name(entry.metric, part.segments),
            "effect": each.effect,
        }


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


@dataclass(frozen=True, eq=False)
class ScoreTables:
    """The tables and charts of a result."""

    systems: tuple[str, ...]
    by_metric: tuple[MetricScores, ...]
    options: ScoreOptions

    def tables(self) -> list[Table]:
        """An overview, and for each metric what was asked about it."""
        found = [self._overview()]
        for entry in self.by_metric:
            if entry.intervals or entry.comparisons:
                found.append(self._details(entry))
            if entry.comparisons and self.options.all_pairs:
                found.append(self._pairs(entry))
        for entry in self.by_metric:
            for kind, grouped in parts(entry):
                found += self._part_tables(entry, kind, grouped)
            if entry.segments is not None:
                numbers = range(1, entry.segments.shape[1] + 1)
                scores = zip(numbers, entry.segments.T, strict=True)
                rows = [[number, *map(float, values)] for number, values in scores]
                metric, signature = entry.segment_metric
                note = signature if metric != entry.metric else metric.segment_remark()
                found.append(self._grid(entry, ("segment",), rows, note))
        return found

    def charts(self) -> list[Chart]:
        """Dots with intervals, and for all pairs of many systems a map of the differences."""
        maps = [self._map(each) for each in self.by_metric if each.comparisons]
        return [self._dots(), *(maps if self._many_pairs else [])]

    def _overview(self) -> Table:
        rows: list[list[CellValue]] = [
            [system, *(self._score(entry, at) for entry in self.by_metric)]
            for at, system in enumerate(self.systems)
        ]
        columns: Columns = ("system", *(self._column(entry, best=True) for entry in self.by_metric))
        note = "\n".join(entry.signature for entry in self.by_metric)
        return Table("Scores", columns, rows, note, details=self._overview_details())

    def _score(self, entry: MetricScores, at: int) -> Cell:
        """A system's score with its interval, and its p against the first system."""
        low, high = entry.intervals[at][:2] if entry.intervals else (math.nan, math.nan)
        compared = entry.comparisons or () if self._has_baseline else ()
        p = next((each.p_holm for each in compared if each.first == at), math.nan)
        return Cell(float(entry.corpus[at]), low, high, p, entry.length)

    def _overview_details(self) -> str:
        """What intervals and p inside the overview are, metric by metric where they differ."""
        told: dict[str, list[str]] = {}
        for entry in self.by_metric:
            notes = []
            if entry.intervals:
                method = self.options.method_for(entry.metric, entry.length)
                note = self._interval_note(entry.metric, method, entry.length)
                notes.append(note.replace("low, high", "[ ]"))
            if entry.comparisons and self._has_baseline:
                test = self.options.test_name(entry.metric, entry.length)
                after = self.options.after(entry.metric, entry.length)
                notes.append(f"p: {test}, baseline {self.systems[0]}, {after}.")
            told.setdefault(" ".join(notes), []).append(self._label(entry))
        if len(told) == 1:
            return next(iter(told))
        return " ".join(f"{', '.join(names)}: {note}" for note, names in told.items() if note)

    def _details(self, entry: MetricScores) -> Table:
        compared = {each.first: each for each in entry.comparisons or ()}
        columns: list[str | Column] = ["system", self._column(entry)]
        columns += self._columns(entry, "low", "high") if entry.intervals else []
        columns += [Column("cluster")] if entry.clusters else []
        columns += self._comparison_columns(entry) if self._has_baseline else []
        rows: list[list[CellValue]] = []
        for at in self._ranked(entry) if entry.clusters else range(len(self.systems)):
            row: list[CellValue] = [self.systems[at], float(entry.corpus[at])]
            row += entry.intervals[at][:2] if entry.intervals else []
            row += [entry.clusters[at]] if entry.clusters else []
            row += _comparison_cells(compared.get(at)) if self._has_baseline else []
            rows.append(row)
        title = f"{self._label(entry)}: how sure is it?"
        note = self._details_note(entry, entry.length)
        return self._grouped("How sure is it?", entry, Table(title, columns, rows, note))

    def _part_tables(self, entry: MetricScores, kind: str, grouped: Grouped) -> list[Table]:
        """The parts of the test set: scores alone, or all that was asked about each."""
        answered = [part for part in grouped if part.intervals or part.comparisons]
        few = "" if len(answered) == len(grouped) else self._few_note(kind)
        if not any(part.intervals for part in answered) and not (answered and self._has_baseline):
            rows: list[list[CellValue]] = [
                [p.name, p.segments, *map(float, p.scores)] for p in grouped
            ]
            tables = [self._grid(entry, (kind, "n"), rows, few)]
        else:
            tables = [self._part_details(entry, kind, grouped, few)]
        if answered and self.options.all_pairs:
            tables.append(self._part_pairs(entry, kind, answered))
        return tables

    def _part_details(self, entry: MetricScores, kind: str, grouped: Grouped, few: str) -> Table:
        columns: list[str | Column] = [kind, Column("n"), "system", self._column(entry)]
        columns += self._columns(entry, "low", "high") if self.options.confidence else []
        columns += self._comparison_columns(entry) if self._has_baseline else []
        rows = [row for part in grouped for row in self._part_rows(part)]
        title = f"{self._label(entry)} by {kind}: how sure is it?"
        largest = max(part.segments for part in grouped)
        notes = [
            self._details_note(entry, largest, f"all {kind}s"),
            self._small_note(entry, grouped),
        ]
        return Table(title, columns, rows, " ".join(filter(None, [*notes, few])))

    def _part_rows(self, part: Part) -> Iterator[list[CellValue]]:
        """A row per system; the part's name and size stand in the first."""
        compared = {each.first: each for each in part.comparisons or ()}
        for at, system in enumerate(self.systems):
            row: list[CellValue] = [None, None] if at else [part.name, part.segments]
            row += [system, float(part.scores[at])]
            if self.options.confidence:
                row += part.intervals[at][:2] if part.intervals else [None, None]
            if self._has_baseline:
                row += _comparison_cells(compared.get(at))
            yield row

    def _part_pairs(self, entry: MetricScores, kind: str, answered: Sequence[Part]) -> Table:
        rows: list[list[CellValue]] = [
            [*([None, None] if at else [part.name, part.segments]), *self._pair_cells(each)]
            for part in answered
            for at, each in enumerate(part.comparisons or ())
        ]
        title = f"{self._label(entry)} by {kind}: every pair"
        largest = max(part.segments for part in answered)
        notes = [self._pairs_note(entry, largest, f"all pairs and {kind}s")]
        notes.append(self._small_note(entry, answered))
        columns: Columns = (kind, Column("n"), *self._pair_columns(entry))
        return Table(title, columns, rows, " ".join(filter(None, notes)))

    def _small_note(self, entry: MetricScores, grouped: Sequence[Part]) -> str:
        """What is done otherwise where some parts are small and others not."""
        sizes = [part.segments for part in grouped if part.segments >= FEWEST]
        tests = {self.options.test_for(entry.metric, size) for size in sizes}
        methods = {self.options.method_for(entry.metric, size) for size in sizes}
        changed = ["interval"] * (len(methods) > 1)
        changed += ["test"] * (len(tests) > 1)
        if not changed:
            return ""
        return f"With fewer than {ENOUGH} segments: jackknife {' and '.join(changed)}, approximate."

    def _few_note(self, kind: str) -> str:
        if not self.options.confidence and self.options.test == "none":
            return ""
        return f"A {kind} of fewer than {FEWEST} segments has neither interval nor p."

    def _ranked(self, entry: MetricScores) -> list[int]:
        """The systems by cluster, and by score within one."""
        goodness = entry.metric.oriented(entry.corpus)
        clusters = entry.clusters or [1] * len(self.systems)
        order = range(len(self.systems))
        return sorted(order, key=lambda at: (clusters[at], -float(goodness[at])))

    def _details_note(self, entry: MetricScores, segments: int, over: str = "") -> str:
        method = self.options.method_for(entry.metric, segments)
        parts = [self._interval_note(entry.metric, method, segments)] if entry.intervals else []
        if entry.comparisons and self.options.all_pairs:
            parts.append(_CLUSTERS if not over else "")
        elif entry.comparisons:
            parts.append(self._test_note(entry.metric, segments, over))
        return " ".join(filter(None, parts))

    def _interval_note(
        self, metric: Metric, method: IntervalMethod, segments: int, of: str = ""
    ) -> str:
        level = f"low, high: {self.options.level:.0%}"
        caution = _FEW if segments < ENOUGH else ""
        if method == "jackknife":
            return f"{level} jackknife interval{of}{caution}."
        caution = _LOSES if metric.interval_method == "jackknife" else caution
        resamples = f"{self.options.resamples} resamples"
        return f"{level} {_METHODS[method]} bootstrap interval{of}, {resamples}{caution}."

    def _test_note(self, metric: Metric, segments: int, over: str = "") -> str:
        against = "every pair" if self.options.all_pairs else f"baseline {self.systems[0]}"
        after = self.options.after(metric, segments)
        corrected = f"{after} over {over}" if over else after
        test = self.options.test_name(metric, segments)
        return f"p: {test}, {against}; * is p < {ALPHA} {corrected}. {_COLUMNS}"

    def _pairs_note(self, entry: MetricScores, segments: int, over: str = "") -> str:
        method = usual_method(entry.metric, segments)
        interval = self._interval_note(entry.metric, method, segments, " of the difference")
        return f"{interval} {self._test_note(entry.metric, segments, over)}"

    def _pairs(self, entry: MetricScores) -> Table:
        rows = [self._pair_cells(each) for each in entry.comparisons or ()]
        title = f"{self._label(entry)}: every pair"
        note = self._pairs_note(entry, entry.length)
        table = Table(title, self._pair_columns(entry), rows, note)
        return self._grouped("Every pair", entry, table)

    def _grouped(self, group: str, entry: MetricScores, table: Table) -> Table:
        """The table, one of a group where there are too many rows to see those of all metrics."""
        if len(table.rows) <= SHORT:
            return table
        return replace(table, group=group, choice=(("metric", self._label(entry)),))

    def _pair_cells(self, each: Comparison) -> list[CellValue]:
        difference, *rest = _comparison_cells(each)
        names = (self.systems[each.first], self.systems[each.second])
        return [*names, difference, each.low, each.high, *rest]

    def _pair_columns(self, entry: MetricScores) -> list[str | Column]:
        difference, *others = self._comparison_columns(entry)
        return ["system", "other", difference, *self._columns(entry, "low", "high"), *others]

    def _adjusted(self, entry: MetricScores) -> str:
        return "p (Holm)" if self.options.correction == "holm" else "p (adjusted)"

    def _comparison_columns(self, entry: MetricScores) -> list[str | Column]:
        """The columns of a comparison with another system."""
        return [
            *self._columns(entry, "difference"),
            *(Column(name, style="p") for name in ("p", self._adjusted(entry))),
            "",
            Column("effect", digits=2),
            Column("wins", unit="%"),
        ]

    def _grid(
        self,
        entry: MetricScores,
        keys: tuple[str, ...],
        rows: Sequence[Sequence[CellValue]],
        note: str = "",
    ) -> Table:
        """A table of bare scores, a column per system."""
        title = f"{self._label(entry)} by {keys[0]}"
        return Table(title, (*keys, *self._columns(entry, *self.systems)), rows, note)

    def _columns(self, entry: MetricScores, *names: str) -> list[Column]:
        """Columns of figures that are as fine as the metric's scores."""
        return [Column(name, finer=entry.metric.is_small) for name in names]

    @property
    def _has_baseline(self) -> bool:
        """Whether every system is compared with the first."""
        return self.options.test != "none" and not self.options.all_pairs

    @property
    def _many_pairs(self) -> bool:
        return self.options.all_pairs and len(self.systems) >= MANY_SYSTEMS

    def _dots(self) -> Chart:
        """A panel per metric, each with an axis of its own; the best by the first stands above."""
        first = self.by_metric[0]
        goodness = -first.metric.oriented(first.corpus)
        records: list[Record] = [
            {"system": self.systems[at], "metric": self._label(entry), "score": entry.corpus[at]}
            | (entry.intervals[at]._asdict() if entry.intervals else {})
            for at in np.argsort(goodness, kind="stable")
            for entry in self.by_metric
        ]
        low, high = ("low", "high") if self.options.confidence else (None, None)
        captions = {self._label(entry): self._caption(entry) for entry in self.by_metric}
        note = f"Systems in order of {self._label(first)}."
        if low:
            note = f"{note} Lines: {self.options.level:.0%} intervals."
        return dot_chart(
            "Scores of each system", records, "system", "score", panel="metric",
            low=low, high=high, captions=captions, note=note,
        )  # fmt: skip

    def _caption(self, entry: MetricScores) -> str:
        """The metric and which side of its axis is better."""
        label = self._label(entry)
        higher = entry.metric.higher_is_better
        return f"{label}: higher is better →" if higher else f"← lower is better: {label}"

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

    def _column(self, entry: MetricScores, *, best: bool = False) -> Column:
        """The metric's scores; `best` sets off the best of them."""
        direction: Direction = "high" if entry.metric.higher_is_better else "low"
        return Column(
            self._heading(entry),
            finer=entry.metric.is_small,
            direction=direction if best else None,
        )

    def _heading(self, entry: MetricScores) -> str:
        """The metric and which way is better."""
        return f"{self._label(entry)} {'↑' if entry.metric.higher_is_better else '↓'}"


def _comparison_cells(each: Comparison | None) -> list[CellValue]:
    if each is None:
        return [None] * 6
    star = "*" if each.p_holm < ALPHA else ""
    return [each.difference, each.p, each.p_holm, star, each.effect, 100 * each.wins]
