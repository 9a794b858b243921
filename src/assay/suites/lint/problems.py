"""What a linter may find in a suite: the checks by name, problems, and how they are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from assay.results import Column, Columns, Record, Result, Table
from assay.suites.model import Suite

__all__ = ["CHECKS", "SEVERITIES", "LintResult", "Problem", "Severity", "quoted"]

Severity = Literal["error", "warning", "info"]
"""Verdicts are wrong or missing; probably a slip; worth knowing, often meant so."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")

CHECKS: Mapping[str, str] = {
    "broken": "regular expressions that cannot be read",
    "explosive": "regular expressions that can search for ever",
    "everything": "regular expressions that match any output",
    "no-rule": "items without a rule: every output is a warning",
    "contradiction": "fixed strings that the rules of their own item judge otherwise",
    "both-sides": "the same text as a positive and as a negative rule",
    "empty": "fixed strings that are empty and match nothing",
    "no-source": "items with nothing to translate",
    "no-name": "items without a category or a phenomenon",
    "languages": "more than one language pair in the suite",
    "similar-names": "names that look like two spellings of one",
    "two-categories": "phenomena that stand in two categories",
    "same-source": "sentences that stand in the suite twice",
    "few-items": "phenomena with fewer than 20 items, too few to compare systems",
    "blank": "blanks in regular expressions that may keep them from matching",
    "dialect": "regular expressions that Python's re does not read alike",
    "one-sided": "items that no output can fail, or none can pass, without a person",
    "duplicate": "rules that stand in their item twice",
    "shadowed": "rules, or parts of rules, that others make superfluous",
}
"""The checks, and what each of them finds, the gravest first."""

LONGEST = 90
"""Characters of a quotation."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong or odd; `item` and `rule` are None where it concerns the suite."""

    severity: Severity
    check: str
    message: str
    item: str | None = None
    rule: str | None = None


def quoted(text: str, *, longest: int = LONGEST) -> str:
    """The text in quotation marks, with the middle of a long one left out.

    >>> quoted("Hold the line, please.", longest=11)
    '"Hold ... ease."'
    """
    if len(text) > longest:
        head, tail = (longest - 1) // 2, longest // 2
        text = f"{text[:head].rstrip()} ... {text[-tail:].lstrip()}"
    return f'"{text}"'


MOST = 10
"""Problems of one check that a table shows."""


@dataclass(frozen=True)
class LintResult(Result):
    """The problems of a suite, the gravest first; tables show `most` of a kind, None all."""

    suite: Suite
    problems: tuple[Problem, ...]
    most: int | None = MOST

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that make verdicts wrong or keep them away."""
        return tuple(problem for problem in self.problems if problem.severity == "error")

    def all(self) -> LintResult:
        """The same result with tables that leave nothing out."""
        return replace(self, most=None)

    def tables(self) -> list[Table]:
        """How many problems there are, then the problems themselves, a table for each check."""
        return [self._summary(), *self._details()]

    def records(self) -> list[Record]:
        """One per problem: severity, check, item, rule (None where there is none), message."""
        return [
            {
                "severity": problem.severity,
                "check": problem.check,
                "item": problem.item,
                "rule": problem.rule,
                "message": problem.message,
            }
            for problem in self.problems
        ]

    def _summary(self) -> Table:
        counts = Counter((problem.severity, problem.check) for problem in self.problems)
        rows = [(*key, number, CHECKS[key[1]]) for key, number in counts.items()]
        columns: Columns = ("severity", "check", Column("count"), "what it finds")
        return Table("Problems", columns, rows, note=self._note())

    def _note(self) -> str:
        items = self.suite.items
        rules = sum(len(item.rules) for item in items)
        phenomena = len({(item.category, item.phenomenon) for item in items})
        categories = len({item.category for item in items})
        told = (
            f"in {len(items)} items with {rules} rules, for {phenomena} phenomena "
            f"in {categories} categories"
        )
        return told if self.problems else f"no problems {told}"

    def _details(self) -> Iterator[Table]:
        for (severity, check), problems in groupby(self.problems, _kind):
            yield self._table(severity, check, list(problems))

    def _table(self, severity: Severity, check: str, problems: Sequence[Problem]) -> Table:
        shown = problems[: self.most]
        cells: dict[str, list[str | None]] = {
            "item": [problem.item for problem in shown],
            "rule": [problem.rule for problem in shown],
            "problem": [problem.message for problem in shown],
        }
        columns = {name: column for name, column in cells.items() if any(column)}
        left = len(problems) - len(shown)
        return Table(
            f"{check} ({severity}): {CHECKS[check]}",
            tuple(columns),
            list(zip(*columns.values(), strict=True)),
            note=f"and {left} more: --all shows them here, --format json or tsv always"
            * (left > 0),
        )


def _kind(problem: Problem) -> tuple[Severity, str]:
    return problem.severity, problem.check
