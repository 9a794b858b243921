"""What `check` gives back: the outcome of every limit, as a table, as records and as JUnit XML."""

from __future__ import annotations

import math
from dataclasses import dataclass
from xml.etree import ElementTree

from assay.rendering.text import visible
from assay.reports.limits import SIGNIFICANTLY, Limit
from assay.results import CellValue, Column, Record, Result, Table, known
from assay.statistics.power import POWER

__all__ = ["ALPHA", "CheckResult", "Outcome"]

ALPHA = 0.05
"""What is significant for `worse = "never significantly"`, over all limits of that kind."""


@dataclass(frozen=True)
class Outcome:
    """One limit: whether it holds, what was seen, and what it could have noticed.

    `value` is the candidate's, `value_other` the baseline's. `low` and `high` are the interval of
    what is limited: of the difference, or of the value for `min` and `max`. `noticeable` is the
    smallest regression that the limit notices with a probability of 80 %, in the same units:
    a loss, or for absolute limits the true value that must be reached. It is infinite where
    nothing would be noticed, and `nan` where that is unknown, since the systems do not differ.
    """

    limit: Limit
    passed: bool
    metric: str
    n: int
    value: float
    value_other: float
    low: float
    high: float
    p: float
    p_adjusted: float
    noticeable: float
    seen: str
    notices: str

    @property
    def verdict(self) -> str:
        """`ok` or `BROKEN`."""
        return "ok" if self.passed else "BROKEN"

    @property
    def can_fail(self) -> bool:
        """Whether there is a regression that the limit would notice on this test set."""
        return not math.isinf(self.noticeable)

    def sentence(self) -> str:
        """The outcome in one line."""
        limit = self.limit
        return f"{limit.name}: {self.verdict}. Wanted: {limit.wanted}; seen: {self.seen}."


@dataclass(frozen=True, eq=False)
class CheckResult(Result):
    """The outcome of every limit; `passed` if all of them hold."""

    baseline: str
    candidate: str
    outcomes: tuple[Outcome, ...]
    level: float = 0.95
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether all limits hold."""
        return all(outcome.passed for outcome in self.outcomes)

    @property
    def broken(self) -> list[Outcome]:
        """The outcomes of limits that do not hold."""
        return [outcome for outcome in self.outcomes if not outcome.passed]

    def summary(self) -> list[str]:
        """The verdict, and which limits are none on this test set."""
        count, names = len(self.outcomes), f"{self.candidate} against {self.baseline}"
        if self.passed:
            sentences = [f"PASSED: {names} keeps {_all(count)}."]
        else:
            broken = ", ".join(dict.fromkeys(outcome.limit.name for outcome in self.broken))
            sentences = [f"FAILED: {names} breaks {len(self.broken)} of {count} limits: {broken}."]
        idle = [outcome.limit for outcome in self.outcomes if not outcome.can_fail]
        if idle:
            told = ", ".join(f"{limit.name} ({limit.wanted})" for limit in idle)
            sentences.append(f"This test set is too small for any regression to break {told}.")
        return sentences

    def records(self) -> list[Record]:
        """One per rule of a limit, in the order in which they were written."""
        return [self._record(outcome) for outcome in self.outcomes]

    def tables(self) -> list[Table]:
        """One row per rule of a limit."""
        columns: list[str | Column] = [
            "limit", "verdict", "wanted", f"seen ({self.baseline} → {self.candidate})",
            f"noticed with {POWER:.0%}",
        ]  # fmt: skip
        rows: list[list[CellValue]] = [
            [each.limit.name, each.verdict, each.limit.wanted, each.seen, each.notices]
            for each in self.outcomes
        ]
        strong = frozenset((at, 1) for at, each in enumerate(self.outcomes) if not each.passed)
        return [Table("Limits", columns, rows, self._note(), strong=strong)]

    def junit(self) -> str:
        """JUnit's XML, which CI systems show: a test case for each rule of a limit."""
        count = str(len(self.outcomes))
        about = {"tests": count, "failures": str(len(self.broken)), "errors": "0", "time": "0"}
        root = ElementTree.Element("testsuites", {"name": "assay check", **about})
        name = visible(f"{self.candidate} against {self.baseline}")
        suite = ElementTree.SubElement(root, "testsuite", {"name": name, "skipped": "0", **about})
        for outcome in self.outcomes:
            limit = outcome.limit
            name = visible(f"{limit.name}: {limit.wanted}")
            case = ElementTree.SubElement(
                suite, "testcase", {"classname": "assay.check", "name": name, "time": "0"}
            )
            told = f"{outcome.sentence()}\nNoticed with {POWER:.0%}: {outcome.notices}."
            text = "\n".join(map(visible, told.split("\n")))
            if outcome.passed:
                ElementTree.SubElement(case, "system-out").text = text
            else:
                failure = {"message": visible(outcome.seen), "type": limit.rule}
                ElementTree.SubElement(case, "failure", failure).text = text
        ElementTree.indent(root)
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, "unicode")}\n'

    def _note(self) -> str:
        count = sum(outcome.limit.value == SIGNIFICANTLY for outcome in self.outcomes)
        told = f"[ ]: {self.level:.0%} interval. "
        if count:
            over = f", adjusted over {count} limits (Holm)" if count > 1 else ""
            told += f"Significant: p below {ALPHA:g} by sign flips{over}. "
        return (
            f"{told}The last column is the smallest regression that the limit notices on such a "
            f"test set with a probability of {POWER:.0%}."
        )

    def _record(self, outcome: Outcome) -> Record:
        difference = outcome.value - outcome.value_other
        noticeable = None if math.isinf(outcome.noticeable) else known(outcome.noticeable)
        return {
            "limit": outcome.limit.name,
            "kind": outcome.limit.kind,
            "rule": outcome.limit.rule,
            "wanted": outcome.limit.value,
            "passed": outcome.passed,
            "metric": outcome.metric,
            "n": outcome.n,
            "system": self.candidate,
            "other": self.baseline,
            "value": known(outcome.value),
            "value_other": known(outcome.value_other),
            "difference": known(difference),
            "low": known(outcome.low),
            "high": known(outcome.high),
            "p": known(outcome.p),
            "p_adjusted": known(outcome.p_adjusted),
            "power": POWER,
            "noticeable": noticeable,
            "can_fail": outcome.can_fail,
            "seen": outcome.seen,
            "notices": outcome.notices,
        }


def _all(count: int) -> str:
    return f"all {count} limits" if count > 1 else "the limit"
