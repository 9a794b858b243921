"""What `suite run` and `suite report` have to show."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

import numpy as np

from assay.results import Cell, CellValue, Charts, Column, Columns, Record, Result, Table, known
from assay.suites.accuracy import Accuracies, AccuracyRow, Costs, Counted, Policy, costs, counted
from assay.suites.check import FAIL, NOT_TESTED, PASS, WARNING, Verdicts, verdict_named
from assay.suites.clusters import grouped
from assay.suites.examples import examples, examples_table
from assay.suites.tables import AccuracyTables, SystemScores

__all__ = ["ReportResult", "RunResult"]

_POLICIES = {
    "fair": "only items that are decided, pass or fail, for every system",
    "each": "for each system the items that are decided for it",
    "fail": "a warning as a fail",
    "pass": "a warning as a pass",
}


COSTLY = 3
"""So many of the systems that cost most items are named below a table."""


@dataclass(frozen=True, eq=False)
class RunResult(Result):
    """The verdicts of runs; `examples` is how many failing items per category to show.

    `trouble` names the rules that could not be searched, `about` says which runs these are.
    """

    verdicts: Verdicts
    examples: int = 1
    trouble: tuple[str, ...] = ()
    about: str = ""

    def tables(self) -> list[Table]:
        """Verdicts per system, warnings per category, and failing examples."""
        found = examples(self.verdicts, self.examples)
        warnings = bool((self.verdicts.codes == WARNING).any())
        return [
            self._counts(),
            *([self._warnings()] if warnings else []),
            *([examples_table(found)] if found else []),
        ]

    def records(self) -> list[Record]:
        """One per system and item."""
        verdicts = self.verdicts
        return [
            {
                "system": system,
                "item": item.id,
                "category": item.category,
                "phenomenon": item.phenomenon,
                "verdict": verdict_named(code),
                "by": by,
            }
            for system, codes, people in zip(
                verdicts.systems, verdicts.codes.tolist(), verdicts.by, strict=True
            )
            for item, code, by in zip(verdicts.items, codes, people, strict=True)
        ]

    def _counts(self) -> Table:
        kinds = (PASS, FAIL, WARNING, NOT_TESTED)
        counts = [(self.verdicts.codes == kind).sum(axis=1).tolist() for kind in kinds]
        rows: list[list[CellValue]] = [
            [system, *numbers, _share(numbers[0], numbers[0] + numbers[1])]
            for system, *numbers in zip(self.verdicts.systems, *counts, strict=True)
        ]
        share = Column("pass", digits=1, unit="%")
        columns: Columns = ("system", *(Column(verdict_named(kind)) for kind in kinds), share)
        note = (
            f"{len(self.verdicts.items)} items. pass % is of pass and fail; which of these shares "
            "can be compared, and how far: assay suite report."
        )
        return Table("Verdicts", columns, rows, note)

    def _warnings(self) -> Table:
        warned = self.verdicts.codes == WARNING
        categories = np.array([item.category for item in self.verdicts.items], object)
        rows: list[list[CellValue]] = []
        for category in dict.fromkeys(categories):
            here = categories == category
            rows.append([category, int(here.sum()), *warned[:, here].sum(axis=1).tolist()])
        rows.append(["all", len(categories), *warned.sum(axis=1).tolist()])
        columns: Columns = ("category", Column("items"), *map(Column, self.verdicts.systems))
        return Table("Warnings by category", columns, rows, keys=2)


@dataclass(frozen=True, eq=False)
class ReportResult(Result):
    """The accuracies of systems and all that belongs to them; `about` says which runs these are."""

    verdicts: Verdicts
    accuracies: Accuracies
    scores: tuple[SystemScores, ...] = ()
    examples: int = 1
    about: str = ""

    def tables(self) -> list[Table]:
        """Systems, categories, phenomena, what the policies count, and failing examples."""
        display = AccuracyTables(self.accuracies, self.scores, self.about, self._cost())
        found = examples(self.verdicts, self.examples)
        return [
            display.systems(),
            display.categories(),
            display.phenomena(),
            self._policies(),
            self._dropped(),
            *([self._costs()] if self._fair else []),
            *([examples_table(found)] if found else []),
        ]

    def paper_tables(self) -> list[Table]:
        """Tables 5 and 7 of the paper: accuracies by category and by phenomenon."""
        tables = AccuracyTables(self.accuracies, self.scores, self.about)
        return [tables.categories(), tables.phenomena()]

    def charts(self) -> Charts:
        """Phenomena by systems, as a heat map."""
        return Charts([AccuracyTables(self.accuracies).heat_map()])

    def records(self) -> list[Record]:
        """One per system and row: phenomena, categories and averages."""
        codes, rows = self.verdicts.codes, self.accuracies.rows
        parts = [codes[:, group.where] for group in grouped(self.verdicts.items)]
        # Macro-averages, which come last, are over all items.
        parts += [codes] * (len(rows) - len(parts))
        pairs = zip(rows, parts, strict=True)
        return [record for row, part in pairs for record in self._records(row, costs(part))]

    def _records(self, row: AccuracyRow, cost: Costs) -> Iterator[Record]:
        for at, system in enumerate(self.accuracies.systems):
            yield {
                "system": system,
                "level": row.level,
                "name": row.name,
                "items": row.items[at],
                "passed": row.passed[at],
                "accuracy": known(row.accuracy[at]),
                "low": known(row.low[at]),
                "high": known(row.high[at]),
                "p": known(row.p[at]),
                "p_corrected": known(row.p_corrected[at]),
                "first_cluster": row.first_cluster[at],
                "costs": cost.items[at] if self._fair else None,
                "costs_alone": cost.alone[at] if self._fair else None,
            }

    @property
    def _fair(self) -> bool:
        return self.accuracies.counted.policy == "fair"

    def _cost(self) -> str:
        """Which systems cost most items under "fair", in a sentence; nothing where none does."""
        items, alone = costs(self.verdicts.codes)
        order = sorted(range(len(items)), key=lambda at: (-items[at], -alone[at]))
        costly = [at for at in order if items[at]][:COSTLY]
        if not self._fair or not costly:
            return ""
        names = [f"{self.verdicts.systems[at]} {items[at]} ({alone[at]} alone)" for at in costly]
        dropped = self.accuracies.counted.dropped[0]
        return (
            f"{dropped} of {len(self.verdicts.items)} items do not count, for at least one system "
            f"has a warning or no output there; most by {', '.join(names)}."
        )

    def _costs(self) -> Table:
        """What each system costs all of them, the costliest first."""
        items, alone = costs(self.verdicts.codes)
        codes = self.verdicts.codes
        warned, untested = ((codes == code).sum(axis=1) for code in (WARNING, NOT_TESTED))
        rows: list[list[CellValue]] = [
            [self.verdicts.systems[at], int(warned[at]), int(untested[at]), items[at], alone[at]]
            for at in sorted(range(len(items)), key=lambda at: (-items[at], -alone[at]))
        ]
        counts = ("warning", "not tested", "items it drops", "it alone drops")
        columns: Columns = ("system", *map(Column, counts))
        note = (
            "Under 'fair', an item counts only if no system has a warning or no output on it. "
            "it alone drops: items that would count without this system."
        )
        return Table("What each system costs", columns, rows, note)

    def _policies(self) -> Table:
        """How many items each policy counts and drops."""
        policies = get_args(Policy)
        all_counts = [counted(self.verdicts, policy) for policy in policies]
        rows: list[list[CellValue]] = [
            [policy, _POLICIES[policy], *_counts(each)]
            for policy, each in zip(policies, all_counts, strict=True)
        ]
        chosen = policies.index(self.accuracies.counted.policy)
        names = ("items", "dropped: warning", "dropped: not tested", "turned")
        counts = (Column(name, style="interval") for name in names)
        columns: Columns = ("policy", "counts", *counts)
        note = (
            "items: how many count per system, from the fewest to the most. turned: warnings that "
            f"count as a fail or as a pass. The other tables are under {policies[chosen]!r}."
        )
        strong = frozenset((chosen, at) for at in range(len(columns)))
        return Table("What counts", columns, rows, note, strong=strong)

    def _dropped(self) -> Table:
        """What is left of each category, for all systems alike."""
        left = ~np.isnan(self.accuracies.counted.values.sum(axis=0))
        categories = np.array([item.category for item in self.verdicts.items], object)
        rows: list[list[CellValue]] = []
        for category in dict.fromkeys(categories):
            here = categories == category
            items, kept = int(here.sum()), int(left[here].sum())
            rows.append([category, items, kept, items - kept, _share(items - kept, items)])
        items, kept = len(left), int(left.sum())
        rows.append(["all", items, kept, items - kept, _share(items - kept, items)])
        columns: Columns = (
            "category",
            *(Column(name) for name in ("items", "count for all", "dropped")),
            Column("dropped", digits=1, unit="%"),
        )
        note = "Warnings are resolved by people: assay suite serve."
        return Table("Items that count for every system", columns, rows, note)


def _share(part: int, whole: int) -> float:
    return 100 * part / whole if whole else math.nan


def _counts(found: Counted) -> list[CellValue]:
    return [
        _range(numbers) for numbers in (found.items, found.warned, found.untested, found.turned)
    ]


def _range(numbers: tuple[int, ...]) -> Cell:
    """From the least to the most."""
    low, high = min(numbers, default=0), max(numbers, default=0)
    return Cell(low, low, high)
