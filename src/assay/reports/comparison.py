"""What `compare` gives back: the verdict, the scoreboard and the findings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.comparison.slices import Slice
from assay.data import Dataset
from assay.reports.findings import FEWEST_CARRIERS, Finding
from assay.reports.scoreboard import Scoreboard
from assay.reports.wording import subject, verdict
from assay.results import (
    Cell,
    CellValue,
    Column,
    Direction,
    Record,
    Result,
    Table,
    Words,
)

if TYPE_CHECKING:
    from assay.suites.report import RunResult

__all__ = ["ComparisonResult"]

SHOWN = 10
"""So many findings are shown; records have all of them."""

LONGEST = 90
"""Characters of an example that a table shows."""


@dataclass(frozen=True, eq=False)
class ComparisonResult(Result):
    """The verdict, the scoreboard and the findings, the strongest first.

    `pairs` are the systems that were compared, by position; `slices` those of segments that were
    looked at, `faults` which segments of each system have a fault, (systems, segments) by kind.
    `tagged` are the kinds of features that words were tagged with.
    """

    data: Dataset
    board: Scoreboard
    findings: tuple[Finding, ...]
    pairs: tuple[tuple[int, int], ...]
    level: float
    slices: tuple[Slice, ...] = ()
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    faults: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    tagged: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    suite: RunResult | None = None
    shown: int = SHOWN

    def summary(self) -> list[str]:
        """The verdict, in sentences."""
        return verdict(self.board, self.findings, self.pairs, level=self.level)

    def page(self) -> str:
        """The page of the report, without the analyses behind it."""
        from assay.reports.page import report_page
        from assay.reports.report import page_payload

        return report_page(page_payload(self, (), self.header.title))

    def records(self) -> list[Record]:
        """One per finding, those that are established first."""
        return [finding.record() for finding in self.findings]

    def tables(self) -> list[Table]:
        """The scoreboard, and the first findings with an example each."""
        return [self._scoreboard(), self._findings()]

    @property
    def leading(self) -> list[Finding]:
        """The findings that stand for themselves."""
        return [finding for finding in self.findings if finding.leads]

    def also_seen_as(self, finding: Finding) -> list[Finding]:
        """The findings that say the same once more."""
        return [other for other in self.findings if other.under == finding.rank]

    def tests_note(self) -> str:
        """How many tests were done and how p was adjusted."""
        tested = sum(not math.isnan(finding.p) for finding in self.findings)
        small = len(self.findings) - tested
        return (
            f"{tested} tests: p by sign flips, adjusted over all of them (Benjamini-Hochberg); "
            f"{small} slices in which fewer than {FEWEST_CARRIERS} segments differ were not tested."
        )

    def _scoreboard(self) -> Table:
        order = self.board.order
        columns: list[str | Column] = ["system"]
        for standing in self.board.standings:
            arrow = "↑" if standing.metric.higher_is_better else "↓"
            direction: Direction = "high" if standing.metric.higher_is_better else "low"
            name = f"{standing.label} {arrow}"
            columns += [
                Column(name, finer=standing.metric.is_small, direction=direction, style="estimate"),
                Column("rank"),
            ]
        rows = [[self.board.systems[at], *self._cells(at)] for at in order]
        note = (
            f"[ ]: {self.level:.0%} interval. rank: the ranks that a system may have, by pairwise "
            "sign-flip tests after Holm."
        )
        return Table("Scoreboard", columns, rows, note)

    def _cells(self, at: int) -> list[CellValue]:
        cells: list[CellValue] = []
        for standing in self.board.standings:
            low, high = standing.intervals[at]
            best, worst = standing.ranks[at]
            n = standing.segments.shape[1]
            cells.append(Cell(float(standing.scores[at]), low, high, n=n))
            cells.append(str(best) if best == worst else f"{best}–{worst}")
        return cells

    def _findings(self) -> Table:
        many = len(self.board.systems) > 2
        columns: list[str | Column] = [
            Column("rank"),
            "finding",
            *(["system", "other"] if many else []),
            Column("n"),
            "metric",
            Column(self._names[0] if not many else "value", digits=1),
            Column(self._names[1] if not many else "value of other", digits=1),
            Column("difference", digits=1, style="estimate"),
            Column("p adjusted", style="p"),
            Column("share", digits=0, unit="%"),
        ]
        rows: list[list[CellValue]] = []
        for finding in self.leading[: self.shown]:
            rows += self._rows(finding, many)
        title = "Where they differ"
        return Table(title, columns, rows, f"{self.tests_note()} {_SHARE}")

    @property
    def _names(self) -> tuple[str, str]:
        first, second = self.pairs[0]
        return self.board.systems[first], self.board.systems[second]

    def _rows(self, finding: Finding, many: bool) -> list[list[CellValue]]:
        mark = "*" if finding.established else ""
        row: list[CellValue] = [
            finding.rank,
            subject(finding),
            *([finding.system, finding.other] if many else []),
            finding.n,
            f"{finding.metric} {finding.unit}".strip(),
            finding.value,
            finding.value_other,
            Cell(finding.difference, finding.low, finding.high, mark=mark),
            finding.p_adjusted,
            100 * finding.share,
        ]
        blank: list[CellValue] = [None] * (len(row) - 2)
        rows = [row]
        if also := self.also_seen_as(finding):
            names = ", ".join(dict.fromkeys(map(subject, also[:6])))
            more = f" and {len(also) - 6} more" if len(also) > 6 else ""
            rows.append([None, f"also seen as: {_cut(names)}{more}", *blank])
        rows += [[None, text, *blank] for text in self.example(finding)]
        return rows

    def example(self, finding: Finding) -> list[str | Words]:
        """The segment that carries the finding most, in the words of both systems."""
        if finding.domain != "segments" or not finding.segments:
            return []
        number = finding.segments[0]
        texts = (finding.system, finding.other)
        outputs = [(name, self.data.systems[name][number - 1]) for name in texts]
        reference = self.data.references[number - 1][:1]
        lines = [("reference", text) for text in reference] + outputs
        return [f"  {number} {name}: {_cut(text)}" for name, text in lines]


_SHARE = "share: of the overall difference by the first metric."


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."
