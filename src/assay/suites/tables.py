"""Accuracies as people see them: the paper's tables, how sure they are, and a heat map."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from assay.data import DataError
from assay.io.files import FilePath, label, read_text, suffix
from assay.io.tables import TextTable, cut_rows, parse_table
from assay.plots import heat_map
from assay.results import Cell, CellValue, Chart, Column, Columns, Record, Table
from assay.suites.accuracy import Accuracies, AccuracyRow, Level, Test

__all__ = [
    "AccuracyTables",
    "SystemScores",
    "cluster_note",
    "read_system_scores",
    "test_note",
    "with_all_labels",
]

BY_CATEGORY = "Accuracy by category (%)"
BY_PHENOMENON = "Accuracy by phenomenon (%)"
MAP = "Accuracy by phenomenon and system (%)"
INDENT = "  "
CATEGORY_MAP = "Accuracy by category and system (%)"
MANY = 30
"""Before a map of more phenomena than this there is one of their categories."""

TALL = 20
"""A map of more rows than this has its labels above."""


_AVERAGES: tuple[Level, ...] = ("micro", "category macro", "phenomenon macro")
_PAIRED = "on the shared items, two-tailed, of macro-averages by sign flips"
_TESTS = {
    "midp": f"McNemar's mid-p test {_PAIRED}",
    "mcnemar": f"McNemar's exact test {_PAIRED}; conservative",
    "z": "Z-test of two proportions, one-tailed; approximate, as if on different items",
}
_CORRECTIONS = {
    "row": "; Holm's correction over all pairs of systems, conservative with many",
    "none": "; approximate, not corrected for the number of systems",
    "holm": "; Holm's correction over all pairs of systems in all rows of a kind",
    "bh": "; Benjamini and Hochberg's correction over all pairs of systems in all rows of a kind",
}
_INTERVALS = "Intervals: Wilson's; of macro-averages Jeffreys', at their effective number of items."


class _GridLine(NamedTuple):
    """A row of a table, under the name that it has there."""

    name: str
    row: AccuracyRow | SystemScores
    shaded: bool = False


@dataclass(frozen=True, eq=False)
class AccuracyTables:
    """Tables and a chart of accuracies; systems stand in order of their category macro-average.

    `scores` are rows of other scores, such as BLEU; `about` says which runs these are, `cost`
    which systems cost items.
    """

    accuracies: Accuracies
    scores: tuple[SystemScores, ...] = ()
    about: str = ""
    cost: str = ""

    def systems(self) -> Table:
        """One row per system: its averages with their intervals."""
        averages = [self.accuracies.row(level) for level in _AVERAGES]
        interval = Column(
            f"{self.accuracies.level:.0%} interval", digits=1, style="interval", paper=False
        )
        heads = [column for row in averages for column in (Column(row.name, digits=1), interval)]
        cells = [[self._name(at), *_with_intervals(averages, at)] for at in self._order]
        strong = {
            (place, 1 + 2 * column)
            for place, at in enumerate(self._order)
            for column, row in enumerate(averages)
            if self._several and row.first_cluster[at]
        }
        columns: Columns = ("system", *heads)
        note = self.note("column")
        return Table("Systems", columns, cells, note, strong=frozenset(strong), keys=1)

    def note(self, where: Literal["row", "column"]) -> str:
        """What counts, how intervals are made, and what bold means in a row or column."""
        items = f"{self.accuracies.row('micro').size} items. {_INTERVALS}"
        return self._note(items, self.cost, cluster_note(self.accuracies, where))

    def categories(self) -> Table:
        """Table 5 of the paper: a row per category, two averages, other scores."""
        rows = [_GridLine(row.name, row) for row in self.accuracies.at("category")]
        averages = [self.accuracies.row(level) for level in ("micro", "category macro")]
        rows += [_GridLine(row.name, row) for row in averages]
        note = self._note(cluster_note(self.accuracies, "row"), self._scores_note())
        return self._grid(BY_CATEGORY, "category", rows, note)

    def phenomena(self) -> Table:
        """Table 7 of the paper: a row per phenomenon below that of its category, averages."""
        rows = [line for row in self.accuracies.at("category") for line in self._family(row)]
        rows += [_GridLine(row.name, row) for row in map(self.accuracies.row, _AVERAGES)]
        note = self._note(cluster_note(self.accuracies, "row"), self._scores_note())
        return self._grid(BY_PHENOMENON, "phenomenon", rows, note)

    def heat_maps(self) -> list[Chart]:
        """Phenomena by systems, coloured by accuracy; before many of them their categories."""
        phenomena = self._map("phenomenon", MAP, BY_PHENOMENON)
        many = sum(row.size > 0 for row in self.accuracies.at("phenomenon")) > MANY
        return [*([self._map("category", CATEGORY_MAP, BY_CATEGORY)] if many else []), phenomena]

    def _map(self, level: Literal["phenomenon", "category"], title: str, after: str) -> Chart:
        rows = [row for row in self.accuracies.at(level) if row.size]
        names = [row.name for row in rows]
        records: list[Record] = [
            {
                level: row.name if names.count(row.name) == 1 else _in_full(row),
                "system": self._name(at),
                "accuracy": row.accuracy[at],
            }
            for row in rows
            for at in self._order
        ]
        chart = heat_map(title, records, "system", level, "accuracy", digits=0)
        return with_all_labels(replace(chart, after=after), above=len(rows) > TALL)

    @cached_property
    def _order(self) -> list[int]:
        """The systems, the best first; unknown ones last."""
        known = self.accuracies.row("category macro").accuracy
        places = range(len(self.accuracies.systems))
        return sorted(places, key=lambda at: (math.isnan(known[at]), -known[at]))

    @property
    def _several(self) -> bool:
        return len(self.accuracies.systems) > 1

    def _name(self, at: int) -> str:
        return self.accuracies.systems[at]

    def _family(self, category: AccuracyRow) -> list[_GridLine]:
        """A category and its phenomena; one of the same name would only repeat it."""
        rows = self.accuracies.at("phenomenon")
        family = [row for row in rows if row.category == category.name]
        if [row.name for row in family] == [category.name]:
            family = []
        below = [_GridLine(INDENT + row.name, row) for row in family]
        return [_GridLine(category.name, category, shaded=True), *below]

    def _grid(self, title: str, head: str, lines: Sequence[_GridLine], note: str) -> Table:
        lines = [*lines, *(_GridLine(scores.name, scores) for scores in self.scores)]
        names = tuple(map(self._name, self._order))
        scores = [*names, *(["avg"] if self._several else [])]
        columns: Columns = (head, Column("items"), *(Column(name, digits=1) for name in scores))
        strong = {
            (at, 2 + place)
            for at, line in enumerate(lines)
            for place, system in enumerate(self._order)
            if self._several
            and isinstance(line.row, AccuracyRow)
            and line.row.first_cluster[system]
        }
        return Table(
            title,
            columns,
            [self._cells(line) for line in lines],
            note,
            strong=frozenset(strong),
            shaded=frozenset(at for at, line in enumerate(lines) if line.shaded),
            keys=2,
        )

    def _cells(self, line: _GridLine) -> list[CellValue]:
        row = line.row
        if isinstance(row, AccuracyRow):
            cells = [Cell(row.accuracy[at], n=row.items[at]) for at in self._order]
            items = row.size
            values: Sequence[float] = row.accuracy
        else:
            values, items = tuple(map(row.of, self.accuracies.systems)), None
            cells = [Cell(values[at]) for at in self._order]
        average = [_average(values)] if self._several else []
        return [line.name, items, *cells, *average]

    def _scores_note(self) -> str:
        return " ".join(dict.fromkeys(scores.note for scores in self.scores if scores.note))

    def _note(self, *sentences: str) -> str:
        return "\n".join(filter(None, (*sentences, self.about)))


def with_all_labels(chart: Chart, *, above: bool = False) -> Chart:
    """The heat map with every column labelled, steeply, and above it where it is tall."""
    axis: Record = {"labelOverlap": False, "labelAngle": -60, "grid": False}
    axis |= {"orient": "top", "labelAlign": "left"} if above else {}
    across = {**chart.spec["encoding"]["x"], "axis": axis}
    encoding = {**chart.spec["encoding"], "x": across}
    return replace(chart, spec={**chart.spec, "encoding": encoding})


def cluster_note(accuracies: Accuracies, where: Literal["row", "column"]) -> str:
    """What bold means in a row or column; nothing where there is but one system."""
    if len(accuracies.systems) < 2:
        return ""
    test = test_note(accuracies.test)
    if len(accuracies.systems) > 2 or accuracies.correct in ("holm", "bh"):
        test += _CORRECTIONS[accuracies.correct]
    return (
        f"Bold, or * in plain text: the best of the {where} and those not significantly worse "
        f"({test}; {accuracies.level:g})."
    )


def test_note(test: Test) -> str:
    """The name of a test, and how far to trust it."""
    return _TESTS[test]


def _with_intervals(rows: Sequence[AccuracyRow], at: int) -> list[CellValue]:
    accuracies = [_accuracy(row, at) for row in rows]
    return [
        cell
        for accuracy in accuracies
        for cell in (accuracy, None if math.isnan(accuracy.low) else accuracy)
    ]


def _accuracy(row: AccuracyRow, at: int) -> Cell:
    """The accuracy of a system, with its interval."""
    return Cell(row.accuracy[at], row.low[at], row.high[at], n=row.items[at])


def _average(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def _in_full(row: AccuracyRow) -> str:
    return f"{row.name} ({row.category})"


_PARTS = ("document", "group", "segment", "line", "other")
"""What makes a record of `assay score` one of less than a whole system."""

_HOW = (
    "Give the json or tsv of `assay score`, or a table with a column `system` and one per metric."
)


@dataclass(frozen=True)
class SystemScores:
    """One metric's score of each system, by name; `note` tells its settings."""

    name: str
    values: Mapping[str, float]
    note: str = ""

    def of(self, system: str) -> float:
        """The score of a system, `nan` where there is none."""
        return self.values.get(system, math.nan)


def read_system_scores(path: FilePath, systems: Sequence[str]) -> tuple[SystemScores, ...]:
    """The scores in the output of `assay score` (json, tsv), or in a table, a metric per column.

    Other systems in the file are left aside, but one of these must be there.
    """
    text = read_text(path)
    if suffix(path) == ".json" or text.lstrip().startswith("{"):
        found = _of_records(path, _records(path, text))
    else:
        table = parse_table(path, cut_rows(text))
        long = {"metric", "score"} <= set(table.columns)
        found = _of_records(path, _rows(table)) if long else _of_columns(table)
    names = list(dict.fromkeys(name for scores in found for name in scores.values))
    if not set(names) & set(systems):
        raise DataError(
            f"{label(path)}: none of the systems {', '.join(systems)[:200]} has a score there; "
            f"it has {', '.join(names)[:200] or 'none at all'}. {_HOW}"
        )
    return tuple(found)


def _records(path: FilePath, text: str) -> list[Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{label(path)}: not JSON ({error}). {_HOW}") from None
    records = content.get("records") if isinstance(content, dict) else None
    if not isinstance(records, list):
        raise DataError(f"{label(path)}: no list of records. {_HOW}")
    return records


def _rows(table: TextTable) -> list[dict[str, str]]:
    return [dict(zip(table.columns, row.cells, strict=True)) for row in table.rows]


def _of_records(path: FilePath, records: Iterable[Any]) -> list[SystemScores]:
    by_metric: dict[str, dict[str, float]] = {}
    signatures: dict[str, str] = {}
    for record in records:
        if not isinstance(record, dict) or not {"system", "metric", "score"} <= record.keys():
            raise DataError(f"{label(path)}: a record without system, metric and score. {_HOW}")
        if any(record.get(part) not in (None, "") for part in _PARTS):
            continue
        metric = str(record["metric"])
        value = _number(path, record["score"], str(record["system"]))
        by_metric.setdefault(metric, {}).setdefault(str(record["system"]), value)
        signatures.setdefault(metric, str(record.get("signature") or ""))
    heads = {metric: text.partition("|")[0] or metric for metric, text in signatures.items()}
    same = {head for head in heads.values() if list(heads.values()).count(head) > 1}
    return [
        SystemScores(metric if heads[metric] in same else heads[metric], values, signatures[metric])
        for metric, values in by_metric.items()
    ]


def _of_columns(table: TextTable) -> list[SystemScores]:
    names = table.column("system")
    place = table.find("system")
    return [
        SystemScores(column, _column(table, at, names))
        for at, column in enumerate(table.columns)
        if at != place
    ]


def _column(table: TextTable, at: int, names: Sequence[str]) -> dict[str, float]:
    values: dict[str, float] = {}
    for name, row in zip(names, table.rows, strict=True):
        if name in values:
            where = f"{label(table.path)}, line {row.line}"
            raise DataError(f"{where}: {name!r} has its scores on an earlier line. Keep one.")
        values[name] = _number(table.path, row.cells[at], name)
    return values


def _number(path: FilePath, value: Any, system: str) -> float:
    if value is None or value == "":
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        raise DataError(
            f"{label(path)}: {value!r} for system {system!r} is not a number. {_HOW}"
        ) from None
