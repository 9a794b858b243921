"""The sums of a part of a corpus, which add up to those of the whole.

Sums are exact: counts are whole numbers, and other figures are added without rounding
(`assay.statistics.exact`). So the order of the parts and their number make no difference. Sums by
type, as those of MacroF, are added type by type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.data import Array, DataError
from assay.extras import require
from assay.metrics.base import METRICS, Metric, MetricRequest
from assay.scoring import MetricScores, ScoreOptions, ScoreResult
from assay.statistics.exact import ExactSum, add, from_parts, parts, rounded

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["CorpusSums", "column_names", "merge_sums", "metric_scores", "score_sums"]

SEGMENTS = "segments"
REFERENCES = "references"
COUNTS = ("predicted", "wanted", "matched")
"""What is counted of every type."""

_SETTINGS = b"metric"
"""The key under which a column says what metric its sums are of."""

_FEW = 100_000
"""So many new rows of types are added at once, or as many as there are types."""


def merge_sums(sums: pa.Table | Iterable[pa.Table]) -> pa.Table:
    """One row of sums from many rows: those of `score_batch`, added up.

    Whole numbers and exact parts are added, so that rows may come in any order, in any grouping.
    """
    pyarrow = require("scale", "pyarrow")
    merged = CorpusSums()
    for table in [sums] if isinstance(sums, pyarrow.Table) else sums:
        merged.add_table(table)
    return merged.table()


def score_sums(
    sums: pa.Table, metrics: Sequence[Metric] | None = None, *, system: str = "hypothesis"
) -> ScoreResult:
    """The corpus scores of sums: what `score` says of all the segments that they are of.

    The sums say which metrics they are of; `metrics` are needed only where one of them is not
    registered here.
    """
    merged = CorpusSums()
    merged.add_table(sums)
    chosen = merged.metrics() if metrics is None else metrics
    return ScoreResult((system,), metric_scores(merged, chosen), ScoreOptions())


def metric_scores(sums: CorpusSums, metrics: Sequence[Metric]) -> tuple[MetricScores, ...]:
    """What each metric says of the segments that the sums are of."""
    found = []
    for metric, name in zip(metrics, column_names(metrics), strict=True):
        corpus = metric.aggregate(sums.totals(name)[None, :])
        references = sums.reference_count if metric.needs_references else None
        signature = f"{metric.title}|{metric.signature(references)}"
        found.append(MetricScores(metric, signature, sums.segments, corpus))
    return tuple(found)


def column_names(metrics: Sequence[Metric]) -> list[str]:
    """The column of each metric: as it was asked for, or its settings where that is a signature."""
    return [
        str(metric) if "|" in metric.requested else metric.requested.strip() for metric in metrics
    ]


class CorpusSums:
    """The sums of some segments by every metric; more are added as they come."""

    def __init__(self) -> None:
        self.segments = 0
        self._references: set[int] = set()
        self._dense: dict[str, list[ExactSum]] = {}
        self._types: dict[str, _TypeSums] = {}
        self._settings: dict[str, str] = {}

    def metrics(self) -> list[Metric]:
        """The metrics that the sums are of."""
        found = {name: METRICS.parse(settings) for name, settings in self._settings.items()}
        return [
            replace(metric, request=MetricRequest(name, frozenset()))
            for name, metric in found.items()
        ]

    @property
    def reference_count(self) -> int | str:
        """The number of references of every segment, or "var" where it varies."""
        return next(iter(self._references)) if len(self._references) == 1 else "var"

    def count(self, segments: int, references: Iterable[int]) -> None:
        """Add so many segments, with these numbers of references."""
        self.segments += segments
        self._references.update(references)

    def name(self, name: str, settings: str) -> None:
        """Say that the sums of this name are of the metric with these settings."""
        before = self._settings.setdefault(name, settings)
        if before != settings:
            raise DataError(
                f"the sums called {name} are of {before} and of {settings}. Score all parts with "
                "the same settings."
            )

    def add_sums(self, name: str, sums: Sequence[ExactSum]) -> None:
        """Add one sum per column of a metric's rows."""
        before = self._dense.setdefault(name, [0] * len(sums))
        if len(before) != len(sums):
            raise DataError(
                f"the sums of {name} have {len(before)} and {len(sums)} columns: they are of "
                "different metrics. Score all parts with the same settings."
            )
        self._dense[name] = [add(one, other) for one, other in zip(before, sums, strict=True)]

    def add_types(self, name: str, types: pa.Table) -> None:
        """Add the counts of types: a table with `type` and the three counts."""
        self._types.setdefault(name, _TypeSums()).add(types)

    def add_table(self, table: pa.Table) -> None:
        """Add all rows of a table that `table` has made."""
        pa = require("scale", "pyarrow")
        if not {SEGMENTS, REFERENCES} <= set(table.column_names):
            raise DataError(f"these are no sums: there is no column {SEGMENTS!r}.")
        self._check_metrics(table.column_names[2:])
        self.segments += sum(table[SEGMENTS].to_pylist())
        self._references.update(*table[REFERENCES].to_pylist())
        for name in table.column_names[2:]:
            column = table[name]
            told = (table.schema.field(name).metadata or {}).get(_SETTINGS)
            if told:
                self.name(name, told.decode())
            if pa.types.is_struct(column.type.value_type):
                values = pa.concat_arrays([chunk.flatten() for chunk in column.chunks])
                self.add_types(name, pa.Table.from_struct_array(values))
            else:
                for row in column.to_pylist():
                    self.add_sums(name, [from_parts(sums) for sums in row])

    def _check_metrics(self, names: Sequence[str]) -> None:
        """A metric that is not there for all segments would be of a part of them alone."""
        there = {*self._dense, *self._types}
        if self.segments and (odd := sorted(there ^ set(names))):
            raise DataError(
                f"some sums are of {odd[0]} and some are not. Score all parts with the same "
                "metrics."
            )

    def table(self) -> pa.Table:
        """One row: segments, numbers of references, and the sums of each metric.

        A sum is a list of doubles that add up to it exactly, the first of which is its rounded
        value; sums by type are a list of types with their counts.
        """
        pa = require("scale", "pyarrow")
        columns = {
            SEGMENTS: pa.array([self.segments], pa.int64()),
            REFERENCES: pa.array([sorted(self._references)], pa.list_(pa.int64())),
        }
        exact = pa.list_(pa.list_(pa.float64()))
        for name in dict.fromkeys((*self._settings, *self._dense, *self._types)):
            if name in self._types:
                columns[name] = self._types[name].nested()
            else:
                columns[name] = pa.array([[parts(each) for each in self._dense[name]]], exact)
        fields = [
            pa.field(name, column.type, metadata={_SETTINGS: self._settings.get(name, "")})
            for name, column in columns.items()
        ]
        return pa.table(list(columns.values()), schema=pa.schema(fields))

    def totals(self, name: str) -> Array:
        """The sums of a metric, rounded once, as its `aggregate` takes them: (k,)."""
        if name in self._types:
            return self._types[name].totals()
        if name not in self._dense:
            there = ", ".join([*self._dense, *self._types]) or "none"
            raise DataError(f"there are no sums of {name}. Sums: {there}.")
        return np.array([rounded(total) for total in self._dense[name]])


class _TypeSums:
    """Counts by type; memory grows with the number of types, not with that of segments."""

    def __init__(self) -> None:
        self._merged: Any = None
        self._new: list[Any] = []
        self._waiting = 0

    def add(self, types: Any) -> None:
        self._new.append(_as_types(types))
        self._waiting += len(types)
        if self._waiting > max(_FEW, 0 if self._merged is None else len(self._merged)):
            self._merge()

    def sorted(self) -> Any:
        """The table of all types, by name: the order of a metric's columns."""
        self._merge()
        return self._merged.sort_by("type")

    def totals(self) -> Array:
        table = self.sorted()
        counts = [table[name].to_numpy() for name in COUNTS]
        return np.column_stack(counts).astype(float).reshape(-1)

    def nested(self) -> Any:
        pa = require("scale", "pyarrow")
        table = self.sorted().combine_chunks()
        struct = pa.StructArray.from_arrays(
            [_only_chunk(table[name]) for name in table.column_names], table.column_names
        )
        return pa.ListArray.from_arrays(pa.array([0, len(struct)], pa.int32()), struct)

    def _merge(self) -> None:
        pa = require("scale", "pyarrow")
        if not self._new:
            return
        tables = [*([] if self._merged is None else [self._merged]), *self._new]
        together = pa.concat_tables(tables)
        # Threads would each have a table of all types.
        grouped = together.group_by("type", use_threads=False)
        summed = grouped.aggregate([(name, "sum") for name in COUNTS])
        self._merged = summed.rename_columns({f"{name}_sum": name for name in COUNTS})
        self._new, self._waiting = [], 0


def _as_types(table: Any) -> Any:
    pa = require("scale", "pyarrow")
    fields = [("type", pa.string()), *((name, pa.int64()) for name in COUNTS)]
    return table.select([name for name, _ in fields]).cast(pa.schema(fields))


def _only_chunk(column: Any) -> Any:
    pa = require("scale", "pyarrow")
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def types_table(names: Sequence[str], counts: Any) -> pa.Table:
    """A table of types from their names and their counts, (types, 3)."""
    pa = require("scale", "pyarrow")
    columns: Mapping[str, Any] = {"type": pa.array(names, pa.string())}
    numbers = {name: pa.array(counts[:, at]) for at, name in enumerate(COUNTS)}
    return pa.table({**columns, **numbers})
