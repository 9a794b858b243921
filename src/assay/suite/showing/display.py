"""Accuracies as people see them: the paper's tables, how sure they are, and a heat map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from assay.plots import heat_map
from assay.results import Cell, Chart, Record, Table
from assay.suite.showing.scores import SystemScores
from assay.suite.statistics.accuracy import Accuracies, Level, Row, Test

__all__ = ["Display", "cluster_note", "test_note", "with_all_labels"]

BY_CATEGORY = "Accuracy by category (%)"
BY_PHENOMENON = "Accuracy by phenomenon (%)"
MAP = "Accuracy by phenomenon and system (%)"
INDENT = "  "
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


class _Line(NamedTuple):
    """A row of a table, under the name that it has there."""

    name: str
    row: Row | SystemScores
    shaded: bool = False


@dataclass(frozen=True, eq=False)
class Display:
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
        interval = f"{self.accuracies.level:.0%} interval"
        heads = [each for row in averages for each in (row.name, interval)]
        cells = [[self._name(at), *_with_intervals(averages, at)] for at in self._order]
        strong = {
            (place, 1 + 2 * column)
            for place, at in enumerate(self._order)
            for column, row in enumerate(averages)
            if self._several and row.first_cluster[at]
        }
        digits = dict.fromkeys(heads, 1)
        columns = ("system", *heads)
        items = f"{averages[0].size} items. {_INTERVALS}"
        note = self._note(items, self.cost, cluster_note(self.accuracies, "column"))
        return Table("Systems", columns, cells, note, digits, strong=frozenset(strong), keys=1)

    def categories(self) -> Table:
        """Table 5 of the paper: a row per category, two averages, other scores."""
        rows = [_Line(row.name, row) for row in self.accuracies.at("category")]
        averages = [self.accuracies.row(level) for level in ("micro", "category macro")]
        rows += [_Line(row.name, row) for row in averages]
        note = self._note(cluster_note(self.accuracies, "row"), self._scores_note())
        return self._grid(BY_CATEGORY, "category", rows, note)

    def phenomena(self) -> Table:
        """Table 7 of the paper: a row per phenomenon below that of its category, averages."""
        rows = [line for row in self.accuracies.at("category") for line in self._family(row)]
        rows += [_Line(row.name, row) for row in map(self.accuracies.row, _AVERAGES)]
        note = self._note(cluster_note(self.accuracies, "row"), self._scores_note())
        return self._grid(BY_PHENOMENON, "phenomenon", rows, note)

    def heat_map(self) -> Chart:
        """Phenomena by systems, coloured by accuracy."""
        rows = [row for row in self.accuracies.at("phenomenon") if row.size]
        names = [row.name for row in rows]
        records: list[Record] = [
            {
                "phenomenon": row.name if names.count(row.name) == 1 else _in_full(row),
                "system": self._name(at),
                "accuracy": row.accuracy[at],
            }
            for row in rows
            for at in self._order
        ]
        chart = heat_map(MAP, records, "system", "phenomenon", "accuracy", digits=0)
        return with_all_labels(replace(chart, after=BY_PHENOMENON), above=len(rows) > TALL)

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

    def _family(self, category: Row) -> list[_Line]:
        """A category and its phenomena; one of the same name would only repeat it."""
        rows = self.accuracies.at("phenomenon")
        family = [row for row in rows if row.category == category.name]
        if [row.name for row in family] == [category.name]:
            family = []
        below = [_Line(INDENT + row.name, row) for row in family]
        return [_Line(category.name, category, shaded=True), *below]

    def _grid(self, title: str, head: str, lines: Sequence[_Line], note: str) -> Table:
        lines = [*lines, *(_Line(each.name, each) for each in self.scores)]
        names = tuple(map(self._name, self._order))
        columns = (head, "items", *names, *(["avg"] if self._several else []))
        strong = {
            (at, 2 + place)
            for at, line in enumerate(lines)
            for place, system in enumerate(self._order)
            if self._several and isinstance(line.row, Row) and line.row.first_cluster[system]
        }
        return Table(
            title,
            columns,
            [self._cells(line) for line in lines],
            note,
            dict.fromkeys(columns[2:], 1),
            strong=frozenset(strong),
            shaded=frozenset(at for at, line in enumerate(lines) if line.shaded),
            keys=2,
        )

    def _cells(self, line: _Line) -> list[Cell]:
        row = line.row
        if isinstance(row, Row):
            values, items = row.accuracy, row.size
        else:
            values, items = tuple(map(row.of, self.accuracies.systems)), None
        average = [_average(values)] if self._several else []
        return [line.name, items, *(values[at] for at in self._order), *average]

    def _scores_note(self) -> str:
        return " ".join(dict.fromkeys(each.note for each in self.scores if each.note))

    def _note(self, *sentences: str) -> str:
        return "\n".join(filter(None, (*sentences, self.about)))


def with_all_labels(chart: Chart, *, above: bool = False) -> Chart:
    """The heat map with every column labelled, steeply, and above it where it is tall."""
    axis: Record = {"labelOverlap": False, "labelAngle": -60, "grid": False}
    axis |= {"orient": "top", "labelAlign": "left"} if above else {}
    across = {**chart.spec["encoding"]["x"], "axis": axis}
    encoding = {**chart.spec["encoding"], "x": across}
    return replace(chart, spec={**chart.spec, "encoding": encoding})


def cluster_note(accuracies: Accuracies, where: str) -> str:
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


def _with_intervals(rows: Sequence[Row], at: int) -> list[Cell]:
    return [cell for row in rows for cell in (row.accuracy[at], _interval(row, at))]


def _interval(row: Row, at: int) -> str | None:
    if math.isnan(row.low[at]):
        return None
    return f"{row.low[at]:.1f}–{row.high[at]:.1f}"


def _average(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def _in_full(row: Row) -> str:
    return f"{row.name} ({row.category})"
