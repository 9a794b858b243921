"""What `compare` gives back: the verdict, the scoreboard and the findings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.data import Dataset
from assay.reports.findings import ALPHA, FEWEST_CARRIERS, Finding
from assay.reports.probes import SegmentProbe
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
)

if TYPE_CHECKING:
    from assay.store.runs import Observation
    from assay.suites.report import RunResult

__all__ = ["ComparisonResult"]

SHOWN = 10
"""So many findings are shown; records have all of them."""

LONGEST = 150
"""Characters of an example that a table shows."""


@dataclass(frozen=True, eq=False)
class ComparisonResult(Result):
    """The verdict, the scoreboard and the findings, the strongest first.

    `pairs` are the systems that were compared, by position; `slices` those of segments that were
    looked at, `faults` which segments of each system have a fault, (systems, segments) by kind.
    `tagged` are the kinds of features that words were tagged with. `observations` are what a
    store keeps of it.
    """

    data: Dataset
    board: Scoreboard
    findings: tuple[Finding, ...]
    pairs: tuple[tuple[int, int], ...]
    level: float
    slices: tuple[SegmentProbe, ...] = ()
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    faults: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    tagged: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    suite: RunResult | None = None
    shown: int = SHOWN
    observations: tuple[Observation, ...] = ()

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
        return [self._scoreboard(), self._findings(), self._examples()]

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
            f"{tested} tests: p by sign flips, adjusted over all of them (Benjamini-Hochberg). Not "
            f"tested, since fewer than {FEWEST_CARRIERS} segments differ: {small}."
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
            f"[ ]: {100 * self.level:g} % interval. rank: the ranks that a system may have, by "
            "pairwise sign-flip tests after Holm."
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
        values = ("value", "of other") if many else self._names
        columns: list[str | Column] = [
            Column("rank"),
            "finding",
            *(["system", "other"] if many else []),
            Column("n"),
            "metric",
            *(Column(name, digits=1) for name in values),
            Column("difference", digits=1, style="estimate"),
            Column("p adjusted", style="p"),
            Column("share", digits=0, unit="%"),
            Column("also"),
        ]
        rows = [self._row(finding, many) for finding in self._shown]
        return Table("Where they differ", columns, rows, f"{self.tests_note()} {_COLUMNS}")

    @property
    def _shown(self) -> list[Finding]:
        return self.leading[: self.shown]

    @property
    def _names(self) -> tuple[str, str]:
        first, second = self.pairs[0]
        return self.board.systems[first], self.board.systems[second]

    def _row(self, finding: Finding, many: bool) -> list[CellValue]:
        mark = "*" if finding.established else ""
        return [
            finding.rank,
            subject(finding),
            *([finding.system, finding.other] if many else []),
            finding.n,
            f"{finding.metric} {finding.unit}".strip(),
            finding.value,
            finding.value_other,
            Cell(finding.difference, finding.low, finding.high, mark=mark),
            finding.p_adjusted,
            100 * finding.share if self.is_told(finding) else None,
            len(self.also_seen_as(finding)),
        ]

    def is_told(self, finding: Finding) -> bool:
        """Whether the leading metric tells the two systems apart: else there is no share of it."""
        places = [self.board.systems.index(name) for name in (finding.system, finding.other)]
        return self.board.standings[0].difference(places[0], places[1]).p < ALPHA

    def _examples(self) -> Table:
        """For each finding the segment that carries it most, in the words of both systems."""
        rows: list[list[CellValue]] = []
        for finding in self._shown:
            if finding.domain != "segments" or not finding.segments:
                continue
            number = finding.segments[0]
            texts = [("reference", text) for text in self.data.references[number - 1][:1]]
            texts += [
                (name, self.data.systems[name][number - 1])
                for name in (finding.system, finding.other)
            ]
            for at, (name, text) in enumerate(texts):
                head: list[CellValue] = [None, None] if at else [finding.rank, number]
                rows.append([*head, name, _cut(text)])
        return Table(
            "An example of each", (Column("rank"), Column("segment"), "text of", "text"), rows
        )


_COLUMNS = (
    "* established. share: of the overall difference by the first metric, if established. also: "
    "findings that say the same again."
)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."
