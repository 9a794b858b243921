"""Word types one by one: how often each is wanted, predicted and right, system by system."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from assay.data import Array, DataError, Dataset, divide
from assay.metrics.base import Metric, select_metrics
from assay.metrics.typef import TypeF
from assay.plots import line_chart
from assay.results import CellValue, Charts, Column, Columns, Record, Result, Table

__all__ = ["TypesResult", "types"]

BY_FREQUENCY = "Types by frequency"
DIFFERENCES = "Types that differ most"

MANY_SYSTEMS = 4
"""More systems than this stand below each other, not side by side."""

FIGURE_1 = 500
"""The paper's Figure 1 shows the most frequent 500 types."""

POINTS = 120
"""A line is drawn through at most so many points."""

BUCKETS = (0, 1, 2, 3, 5, 10, 100, 1000)
"""Frequencies in the reference at which a bucket of types begins."""


def types(data: Dataset, metric: str | Metric = "macrof", *, count: int = 20) -> TypesResult:
    """How often each word type is in the reference, in the outputs, and right, by system.

    `metric` says what a type is and how its F-score is made: `macrof` or `microf`, with settings
    as in `"macrof:max_order=2"`. Tables show the `count` most frequent types, and as many in which
    two systems differ most; the records have all types.

    >>> from assay.demo import read_demo
    >>> record = types(read_demo()).records()[0]
    >>> record["type"], record["refs"], record["match"]
    (',', 150, 67)
    """
    selection = select_metrics([metric], data)
    [chosen] = selection.metrics
    if not isinstance(chosen, TypeF):
        raise DataError(f"types looks at one of macrof and microf, not at {chosen}.")
    if not len(data) or not data.systems:
        raise DataError("there is nothing to count: give at least one system and one segment.")
    if not all(data.references):
        raise DataError("types are counted against references, and some segment has none.")
    if count < 1:
        raise DataError(f"{count} types are nothing to show: ask for at least 1.")
    names, counts = _counts(data, chosen)
    return TypesResult(chosen, tuple(data.systems), names, counts, count, tuple(selection.notes))


class _Counts(NamedTuple):
    names: tuple[str, ...]
    counts: Array


def _counts(data: Dataset, metric: TypeF) -> _Counts:
    """Every type with its counts, (systems, types, 3), from one scoring; frequent types first."""
    rows, names = metric.count(data.all_segments())
    length = len(data)
    sums = [rows[at * length : (at + 1) * length].sum(axis=0) for at in range(len(data.systems))]
    counts = np.array(sums, float).reshape(len(sums), len(names), 3)
    order = np.lexsort((np.arange(len(names)), -counts[0, :, 1]))
    return _Counts(tuple(names[at] for at in order), counts[:, order])


@dataclass(frozen=True, eq=False)
class TypesResult(Result):
    """Counts of every type, (systems, types, 3): predicted, wanted, matched.

    Types stand in order of their frequency in the reference, then of the alphabet.
    """

    metric: TypeF
    systems: tuple[str, ...]
    types: tuple[str, ...]
    counts: Array
    count: int
    notes: tuple[str, ...] = ()
    """What to know about the metric: languages, tokenizers, signatures that do not fit."""

    def records(self) -> list[Record]:
        """One record per system and type that the system or the reference has."""
        shares = self._shares()
        return [
            {
                "system": system,
                "type": self.types[at],
                "rank": int(at) + 1,
                "refs": int(self.counts[number, at, 1]),
                "preds": int(self.counts[number, at, 0]),
                "match": int(self.counts[number, at, 2]),
                "precision": float(shares[number, at, 0]),
                "recall": float(shares[number, at, 1]),
                "f": float(shares[number, at, 2]),
            }
            for number, system in enumerate(self.systems)
            for at in np.flatnonzero(self.counts[number].any(axis=1))
        ]

    def tables(self) -> list[Table]:
        """The most frequent types, scores by frequency, and what differs most in each pair."""
        pairs = list(combinations(range(len(self.systems)), 2))
        return [self._frequent(), self._buckets(), *(self._differences(*pair) for pair in pairs)]

    def charts(self) -> Charts:
        """The running score over the most frequent types (the paper's Figure 1)."""
        most = min(FIGURE_1, int(np.count_nonzero(self.counts[0, :, 1])))
        records = []
        for number, system in enumerate(self.systems):
            terms = self.metric.terms(self.counts[number, :most])
            running = 100 * divide(np.cumsum(terms.numerator), np.cumsum(terms.denominator))
            records += [
                {"types": int(rank), "score": float(running[rank - 1]), "system": system}
                for rank in _ranks(most)
            ]
        chart = line_chart(
            f"{self.metric.title} of the most frequent types, from 1 to {most}",
            records,
            "types",
            "score",
            "system",
            log_x=True,
            x_title="number of types, most frequent first",
            y_title=self.metric.title,
        )
        return Charts([replace(chart, after=BY_FREQUENCY)] if records else [])

    def _shares(self) -> Array:
        """Precision, recall and F in percent, (systems, types, 3).

        Nothing predicted is perfect precision and nothing wanted perfect recall, as in the
        published tables.
        """
        predicted, wanted, matched = np.moveaxis(self.counts, -1, 0)
        precision = np.where(predicted > 0, divide(matched, predicted), 1.0)
        recall = np.where(wanted > 0, divide(matched, wanted), 1.0)
        return 100 * np.stack([precision, recall, self.metric.f_scores(self.counts)], axis=-1)

    def _frequent(self) -> Table:
        if self._many:
            return self._frequent_by_system()
        shares = self._shares()
        rows: list[tuple[CellValue, ...]] = []
        for at, name in enumerate(self.types[: self.count]):
            for number, system in enumerate(self.systems):
                predicted, wanted, matched = map(int, self.counts[number, at])
                rows.append(
                    (
                        at + 1,
                        name,
                        system,
                        wanted,
                        predicted,
                        matched,
                        *map(float, shares[number, at]),
                    )
                )
        names = ("refs", "preds", "match", "precision", "recall", "F")
        columns: Columns = ("rank", "type", "system", *map(Column, names))
        note = "refs: occurrences in the reference. preds: in the output. match: of these, right."
        return Table(self._frequent_title, columns, rows, note)

    def _frequent_by_system(self) -> Table:
        """The most frequent types with the F of many systems, a column each."""
        f = self._shares()[:, :, 2]
        rows: list[tuple[CellValue, ...]] = [
            (name, at + 1, int(self.counts[0, at, 1]), *map(float, f[:, at]))
            for at, name in enumerate(self.types[: self.count])
        ]
        columns: Columns = ("type", Column("rank"), Column("refs"), *map(Column, self.systems))
        note = (
            "refs: occurrences in the reference. Below each system its F; precision, recall and "
            "counts are in the records (json, tsv)."
        )
        return Table(f"{self._frequent_title}: F by system", columns, rows, note, keys=1)

    @property
    def _frequent_title(self) -> str:
        return f"The {min(self.count, len(self.types))} most frequent types"

    @property
    def _many(self) -> bool:
        return len(self.systems) > MANY_SYSTEMS

    def _buckets(self) -> Table:
        """The metric over types of similar frequency; hallucinated types stand at 0."""
        frequency = self.counts[0, :, 1]
        bucket = np.searchsorted(BUCKETS, frequency, side="right") - 1
        rows: list[tuple[CellValue, ...]] = []
        for number, name in enumerate(_bucket_names()):
            chosen = bucket == number
            if not chosen.any():
                continue
            terms = [self.metric.terms(counts[chosen]) for counts in self.counts]
            scores = [
                float(100 * divide(term.numerator.sum(), term.denominator.sum())) for term in terms
            ]
            there = [int(np.count_nonzero(counts[chosen].any(axis=1))) for counts in self.counts]
            rows.append(
                (name, *(cell for pair in zip(there, scores, strict=True) for cell in pair))
            )
        return self._bucket_table(rows)

    def _bucket_table(self, rows: list[tuple[CellValue, ...]]) -> Table:
        """Systems side by side or, where there are many, one below the other."""
        note = "Frequencies are the reference's; of several references, the largest per segment."
        kinds = ("types", self.metric.title)
        if not self._many:
            heads = [Column(f"{kind} {name}") for name in self.systems for kind in kinds]
            return Table(BY_FREQUENCY, ("frequency", *heads), rows, note)
        heads = [Column(f"{kind} {row[0]}") for row in rows for kind in kinds]
        turned = [
            (system, *(cell for row in rows for cell in row[1 + 2 * at : 3 + 2 * at]))
            for at, system in enumerate(self.systems)
        ]
        note = f"types 3-4: types that occur 3 to 4 times in the reference. {note}"
        return Table(BY_FREQUENCY, ("system", *heads), turned, note, keys=1)

    def _differences(self, first: int, second: int) -> Table:
        f = self._shares()[:, :, 2]
        gain = (f[first] - f[second]) * self.counts[0, :, 1] / 100
        half = (self.count + 1) // 2
        up = [at for at in np.argsort(-gain, kind="stable")[:half] if gain[at] > 0]
        down = [at for at in np.argsort(gain, kind="stable")[:half] if gain[at] < 0]
        one, other = self.systems[first], self.systems[second]
        rows = [
            (
                one if gain[at] > 0 else other,
                self.types[at],
                int(self.counts[0, at, 1]),
                float(f[first, at]),
                float(f[second, at]),
                float(gain[at]),
            )
            for at in (*up, *down)
        ]
        names = ("refs", f"F {one}", f"F {other}", "gain")
        columns: Columns = ("better", "type", *map(Column, names))
        note = (
            f"gain: difference in F times the occurrences in the reference; positive is for {one}."
        )
        return Table(
            f"{DIFFERENCES}: {one} and {other}",
            columns,
            rows,
            note,
            group=DIFFERENCES,
            choice=(("system", one), ("other", other)),
        )


def _ranks(most: int) -> Array:
    """The ranks to draw: all of the first, then so many that a logarithmic axis shows no less."""
    return np.unique(np.geomspace(1, most, POINTS).round().astype(int)) if most else np.zeros(0)


def _bucket_names() -> list[str]:
    ends = [*(start - 1 for start in BUCKETS[1:]), None]
    return [
        f"{start}+" if end is None else str(start) if start == end else f"{start}-{end}"
        for start, end in zip(BUCKETS, ends, strict=True)
    ]
