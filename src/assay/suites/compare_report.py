"""What `suite compare` shows: the best of each campaign, gains, losses and what flipped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from itertools import combinations, pairwise
from typing import Literal, NamedTuple

from assay.plots import heat_map
from assay.results import (
    Cell,
    CellValue,
    Charts,
    Column,
    Columns,
    Record,
    Result,
    Table,
    Words,
    known,
)
from assay.suites.clusters import Correction
from assay.suites.lint.items import alike
from assay.suites.report import in_turn, runs_of
from assay.suites.tables import INDENT, cluster_note, test_note, with_all_labels
from assay.suites.versions import Flip, Gain, Step, Version, Versions

__all__ = ["CompareResult", "changed_words", "flips_table", "name_hints"]

BEST = "The best system of each campaign"
STEPS = "From one to the next"
BY_CATEGORY = "Gain by category (percentage points)"
BY_PHENOMENON = "Gain by phenomenon (percentage points)"
FLIPPED = "What flipped"
MAP = "Gain by category and step (percentage points)"

_AVERAGES = ("micro", "category macro", "phenomenon macro")
_ROWS: dict[Correction, str] = {
    "row": "",
    "none": "",
    "holm": "; Holm's correction over all rows of a kind",
    "bh": "; Benjamini and Hochberg's correction over all rows of a kind",
}


class _StepColumn(NamedTuple):
    """A step, under the heading that it has in the tables."""

    head: str
    step: Step


class _GainLine(NamedTuple):
    """A row of a table: the same row of every step."""

    name: str
    gains: tuple[Gain, ...]
    shaded: bool = False


@dataclass(frozen=True, eq=False)
class CompareResult(Result):
    """Campaigns, or versions of one system, compared on their common items.

    `examples` is how many items that were lost, and how many that were gained, to show per step.
    Versions of one system have no name but that of their campaign.
    """

    versions: Versions
    examples: int = 3

    def tables(self) -> list[Table]:
        """Tables 4 and 6 of the paper, the same by phenomenon, the steps, and what flipped."""
        flips = flips_table(self._columns, self.examples)
        return [
            *([self._best()] if self._choosing else []),
            self._steps(),
            self._gains(BY_CATEGORY, "category", self._categories()),
            self._gains(BY_PHENOMENON, "phenomenon", self._phenomena()),
            *([flips] if flips.rows else []),
        ]

    def paper_tables(self) -> list[Table]:
        """The paper's Tables 4 and 6: the best of each campaign, and gains by category."""
        gains = self._gains(BY_CATEGORY, "category", self._categories())
        return [*([self._best()] if self._choosing else []), gains]

    def charts(self) -> Charts:
        """Gains by category, as a heat map around zero."""
        records: list[Record] = [
            {"category": gain.name, "step": column.head, "gain": gain.gain}
            for column in self._columns
            for gain in column.step.gains
            if gain.level == "category" and gain.items
        ]
        chart = heat_map(MAP, records, "step", "category", "gain", diverging=True, digits=1)
        return Charts([with_all_labels(replace(chart, after=BY_CATEGORY))])

    def records(self) -> list[Record]:
        """One per step and row, and one per item that flipped, of the level "item"."""
        return [record for column in self._columns for record in _records(column)]

    @property
    def _choosing(self) -> bool:
        """Whether there are other systems than one that goes through all campaigns."""
        found = self.versions
        return len(found.versions) > len(found.campaigns) or not found.steps

    @cached_property
    def _columns(self) -> list[_StepColumn]:
        """Systems that come again; then, from the best of one campaign to the best of the next."""
        several = len(self.versions.campaigns) > 2
        steps = [_StepColumn(_head(step, several), step) for step in self.versions.steps]
        if self._choosing:
            best = self.versions.best_steps
            heads = [f"best {step.after.campaign}" if several else "best" for step in best]
            steps += map(_StepColumn, heads, best)
        return steps

    def _best(self) -> Table:
        found = self.versions.best
        averages = [row for row in found.rows if row.level in _AVERAGES]
        rows: list[list[CellValue]] = [
            [_campaign(version), version.system, *(row.accuracy[at] for row in averages)]
            for at, version in enumerate(self.versions.best_versions)
        ]
        strong = frozenset(
            (at, 2 + column)
            for column, row in enumerate(averages)
            for at, first in enumerate(row.first_cluster)
            if first
        )
        names = tuple(row.name for row in averages)
        note = f"Accuracy (%) on {self._items()}.\n{cluster_note(found, 'column')}"
        columns: Columns = ("campaign", "system", *(Column(name, digits=1) for name in names))
        return Table(BEST, columns, rows, note, strong=strong)

    def _steps(self) -> Table:
        rows = [[head, *_cells(step)] for head, step in self._columns]
        columns: Columns = (
            *("system", "from", "to"),
            *(Column(name) for name in ("items", "gained", "lost")),
            *(Column(name, digits=1) for name in ("before", "after", "gain")),
            Column("p", style="p"),
            Column("macro gain", digits=1),
            Column("macro p", style="p"),
        )
        lines = [
            "gained, lost: items that pass only after, only before. before, after, gain: the "
            "micro-average (%); macro: the category macro-average.",
            f"p: {test_note(self.versions.every.test)}.",
        ]
        if self._choosing:
            lines.append(
                "best: chosen as such on these very items, so that its p is only approximate."
            )
        if not self.versions.steps:
            lines.append("No system is in two of the campaigns under the same name.")
        note = "\n".join((*lines, *name_hints(self.versions)))
        return Table(STEPS, columns, rows, note)

    def _categories(self) -> list[_GainLine]:
        kinds = ("category", "micro", "category macro")
        return [_GainLine(row[0].name, row) for row in self._rows() if row[0].level in kinds]

    def _phenomena(self) -> list[_GainLine]:
        lines: list[_GainLine] = []
        for row in self._rows():
            below = row[0].level == "phenomenon"
            # The only phenomenon of a category, of the same name, would only repeat it.
            if not (below and row[0].name == row[0].category == lines[-1].name):
                name = INDENT * below + row[0].name
                lines.append(_GainLine(name, row, shaded=row[0].level == "category"))
        return lines

    def _rows(self) -> Iterator[tuple[Gain, ...]]:
        return zip(*(column.step.gains for column in self._columns), strict=True)

    def _gains(self, title: str, head: str, lines: Sequence[_GainLine]) -> Table:
        rows = [
            [line.name, max(gain.items for gain in line.gains), *map(_gain, line.gains)]
            for line in lines
        ]
        alpha = 1 - self.versions.every.level
        strong = frozenset(
            (at, 2 + place)
            for at, line in enumerate(lines)
            for place, gain in enumerate(line.gains)
            if gain.p_corrected <= alpha
        )
        shaded = frozenset(at for at, line in enumerate(lines) if line.shaded)
        heads = (Column(column.head, digits=1, style="signed") for column in self._columns)
        columns: Columns = (head, Column("items"), *heads)
        note = self._note()
        return Table(title, columns, rows, note, strong=strong, shaded=shaded, keys=2)

    def _note(self) -> str:
        campaigns = [name or "-" for name in self.versions.campaigns]
        steps = ", ".join(f"from {one} to {other}" for one, other in pairwise(campaigns))
        every = self.versions.every
        test = test_note(every.test) + _ROWS[every.correct]
        best = " Of the best, which were chosen on these items: approximate." * self._choosing
        return (
            f"What was gained or lost {steps}, on {self._items()}; empty where nothing.\n"
            f"Bold, or * in plain text: significant ({test}; {every.level:g}).{best}"
        )

    def _items(self) -> str:
        counting = max(self.versions.every.row("micro").items, default=0)
        return f"{counting} of {len(self.versions.items)} common items"


def name_hints(versions: Versions) -> list[str]:
    """Names of two campaigns that look like one system, though they count as two."""
    names = {
        name: [version.system for version in versions.versions if version.campaign == name]
        for name in versions.campaigns
    }
    return [
        f"{one!r} ({before}) and {other!r} ({after}) are taken for two systems, for their names "
        f"differ{' in case only' if one.casefold() == other.casefold() else ''}. If they are one, "
        "store it under one name (assay suite run --names)."
        for before, after in combinations(names, 2)
        for one in names[before]
        for other in names[after]
        if one not in names[after] and other not in names[before] and alike(one, other)
    ]


def _head(step: Step, several: bool) -> str:
    system = step.after.system
    return f"{system} {step.after.campaign}".strip() if several or not system else system


def _campaign(version: Version) -> str:
    return version.campaign or "-"


def _cells(step: Step) -> list[CellValue]:
    by_level = {gain.level: gain for gain in step.gains}
    micro, macro = by_level["micro"], by_level["category macro"]
    counts: list[CellValue] = [micro.items, micro.gained, micro.lost]
    values: list[CellValue] = [micro.before, micro.after, micro.gain, micro.p]
    values += [macro.gain, macro.p]
    return [_campaign(step.before), _campaign(step.after), *counts, *values]


def _gain(gain: Gain) -> Cell | None:
    """The gain, nothing where no item was gained or lost."""
    if not gain.items or not (gain.gained or gain.lost):
        return None
    return Cell(gain.gain, p=gain.p_corrected, n=gain.items)


def _records(column: _StepColumn) -> Iterator[Record]:
    step = column.step
    system = step.after.system
    named: Record = {"system": (system or None) if system == step.before.system else column.head}
    named |= {"from": step.before.campaign, "to": step.after.campaign}
    for gain in step.gains:
        yield named | {
            "level": gain.level,
            "name": gain.name,
            "items": gain.items,
            "before": known(gain.before),
            "after": known(gain.after),
            "gain": known(gain.gain),
            "gained": gain.gained,
            "lost": gain.lost,
            "p": known(gain.p),
            "p_corrected": known(gain.p_corrected),
        }
    for flip in step.flips:
        ends = (0.0, 100.0) if flip.gained else (100.0, 0.0)
        yield named | {
            "level": "item",
            "name": flip.item.id,
            "items": 1,
            "before": ends[0],
            "after": ends[1],
            "gain": ends[1] - ends[0],
            "gained": int(flip.gained),
            "lost": int(not flip.gained),
            "p": None,
            "p_corrected": None,
        }


def flips_table(steps: Sequence[tuple[str, Step]], count: int) -> Table:
    """Per step, each under its heading, up to `count` items that were lost, and that were gained.

    Every phenomenon has its turn before one comes again.
    """
    rows: list[list[CellValue]] = []
    for head, step in steps:
        for gained in (False, True):
            flips = [flip for flip in step.flips if flip.gained == gained]
            order = in_turn([flip.item for flip in flips], range(len(flips)))
            rows += [_flip_row(head, flips[at]) for at in order[:count]]
    columns = ("system", "change", "phenomenon", "item", "source", "before", "after")
    note = f"Per step up to {count} of the items that were lost and of those that were gained."
    return Table(FLIPPED, columns, rows, note)


def changed_words(text: str, other: str, mark: Literal["good", "bad"]) -> Words:
    """The text, with the words marked that are not in the other at that place."""
    words, others = text.split(), other.split()
    matching = SequenceMatcher(None, words, others, autojunk=False)
    blocks = matching.get_matching_blocks()
    same = {at for block in blocks for at in range(block.a, block.a + block.size)}
    return tuple(runs_of((word, "" if at in same else mark) for at, word in enumerate(words)))


def _flip_row(head: str, flip: Flip) -> list[CellValue]:
    item = flip.item
    marks: tuple[Literal["good", "bad"], Literal["good", "bad"]]
    marks = ("bad", "good") if flip.gained else ("good", "bad")
    return [
        head,
        "gained" if flip.gained else "lost",
        item.phenomenon,
        item.id,
        item.source,
        changed_words(flip.before, flip.after, marks[0]),
        changed_words(flip.after, flip.before, marks[1]),
    ]
