"""What `suite run` and `suite report` show: verdicts, accuracies, and failing examples."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from assay.results import (
    Cell,
    CellValue,
    Charts,
    Column,
    Columns,
    Record,
    Result,
    Span,
    Table,
    Words,
    known,
)
from assay.suites.accuracy import Accuracies, AccuracyRow, Costs, Counted, Policy, costs, counted
from assay.suites.check import (
    FAIL,
    NOT_TESTED,
    PASS,
    WARNING,
    OutOfTime,
    Verdicts,
    pattern_of,
    verdict_named,
)
from assay.suites.clusters import grouped
from assay.suites.model import Item
from assay.suites.tables import AccuracyTables, SystemScores

__all__ = [
    "FailingExample",
    "ReportResult",
    "RunResult",
    "examples",
    "examples_table",
    "in_turn",
    "marked",
    "runs_of",
]

_POLICIES = {
    "fair": "only items that are decided, pass or fail, for every system",
    "each": "for each system the items that are decided for it",
    "fail": "a warning as a fail",
    "pass": "a warning as a pass",
}


COSTLY = 3
"""So many of the systems that cost most items are named below a table."""

FAILING = "Failing examples"
NAMED = 3
"""Up to so many systems are named; of more, the number is told."""


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
        display = self._display
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

    def note(self, where: Literal["row", "column"]) -> str:
        """What counts, how intervals are made, and what bold means in a row or column."""
        return self._display.note(where)

    def paper_tables(self) -> list[Table]:
        """Tables 5 and 7 of the paper: accuracies by category and by phenomenon."""
        tables = AccuracyTables(self.accuracies, self.scores, self.about)
        return [tables.categories(), tables.phenomena()]

    def charts(self) -> Charts:
        """Phenomena by systems, and categories where these are many, as heat maps."""
        return Charts(AccuracyTables(self.accuracies).heat_maps())

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
    def _display(self) -> AccuracyTables:
        return AccuracyTables(self.accuracies, self.scores, self.about, self._cost())

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
        do = "does" if dropped == 1 else "do"
        return (
            f"{dropped} of {len(self.verdicts.items)} items {do} not count, for at least one "
            f"system has a warning or no output there; most by {', '.join(names)}."
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


class FailingExample(NamedTuple):
    """An item, the most common output that fails it, who fails, and one that passes, if any."""

    item: Item
    failed: tuple[str, ...]
    failing: Words
    passing: Words
    systems: int


def examples(verdicts: Verdicts, count: int) -> list[FailingExample]:
    """Per category up to `count` items that most systems fail, best those that some pass.

    Every phenomenon of a category has its turn before one comes again.
    """
    fails = (verdicts.codes == FAIL).sum(axis=0)
    passes = (verdicts.codes == PASS).sum(axis=0)
    places = [int(at) for at in np.flatnonzero(fails)]
    places.sort(key=lambda at: (not passes[at], -fails[at], at))
    chosen = []
    for category in dict.fromkeys(item.category for item in verdicts.items):
        within = [at for at in places if verdicts.items[at].category == category]
        chosen += in_turn(verdicts.items, within)[:count]
    return [_example(verdicts, at) for at in chosen]


def examples_table(found: Sequence[FailingExample]) -> Table:
    """The examples as a table; the column of passing outputs only where there are any."""
    passing = any(example.passing for example in found)
    columns = ("phenomenon", "item", "source", "failed by", "failing output")
    rows: list[list[CellValue]] = [
        [
            example.item.phenomenon,
            example.item.id,
            example.item.source,
            _who(example),
            example.failing,
            *([example.passing] if passing else []),
        ]
        for example in found
    ]
    note = "Per category the items that most systems fail; marked is what a rule has found."
    return Table(FAILING, (*columns, *(["passing output"] if passing else [])), rows, note)


def marked(item: Item, output: str, rule: str | None, mark: Literal["good", "bad"]) -> Words:
    """The output, with the words marked in which the rule of this id matches first."""
    found = None
    for own in item.rules:
        if own.id == rule:
            try:
                found = pattern_of(own).search(output)
            except OutOfTime:
                found = None
    start, end = found or (0, 0)
    words = [
        (word[0], mark if word.start() < end and start < word.end() else "")
        for word in re.finditer(r"\S+", output)
    ]
    return tuple(runs_of(words))


def runs_of(words: Iterable[tuple[str, str]]) -> list[Span]:
    """Neighbouring words with the same mark as one."""
    spans: list[Span] = []
    for text, mark in words:
        if spans and spans[-1].mark == mark:
            spans[-1] = spans[-1]._replace(text=f"{spans[-1].text} {text}")
        else:
            spans.append(Span(text, mark))  # type: ignore[arg-type]
    return spans


def in_turn(items: Sequence[Item], places: Sequence[int]) -> list[int]:
    """The first of each phenomenon, then the second of each, and so on."""
    seen: Counter[str] = Counter()
    turns = []
    for at in places:
        turns.append(seen[items[at].phenomenon])
        seen[items[at].phenomenon] += 1
    return [at for _, at in sorted(zip(turns, places, strict=True), key=lambda each: each[0])]


def _example(verdicts: Verdicts, at: int) -> FailingExample:
    codes = verdicts.codes[:, at]
    return FailingExample(
        item=verdicts.items[at],
        failed=tuple(verdicts.systems[system] for system in np.flatnonzero(codes == FAIL)),
        failing=_most_common(verdicts, at, FAIL, "bad"),
        passing=_most_common(verdicts, at, PASS, "good"),
        systems=len(codes),
    )


def _most_common(verdicts: Verdicts, at: int, code: int, mark: Literal["good", "bad"]) -> Words:
    systems = [int(system) for system in np.flatnonzero(verdicts.codes[:, at] == code)]
    if not systems:
        return ()
    outputs = [verdicts.outputs[system][at] for system in systems]
    output = Counter(outputs).most_common(1)[0][0]
    rule = verdicts.by[systems[outputs.index(output)]][at]
    return marked(verdicts.items[at], output, rule, mark)


def _who(example: FailingExample) -> str:
    if len(example.failed) <= NAMED:
        return ", ".join(example.failed)
    return f"{len(example.failed)} of {example.systems}"
