"""A linter for test suites: what is wrong or odd in their patterns, rules, items and names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from assay.data import DataError
from assay.progress import Track, untracked
from assay.registry import did_you_mean
from assay.results import Column, Columns, Record, Result, Table
from assay.suites.check import LIMIT
from assay.suites.lint.items import rule_problems, structure_problems
from assay.suites.lint.patterns import Problem, Severity, pattern_problems
from assay.suites.model import Suite

__all__ = ["CHECKS", "SEVERITIES", "LintResult", "Problem", "lint_suite", "refuse_unknown"]

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

MOST = 10
"""Problems of one check that a table shows."""


def lint_suite(
    suite: Suite,
    *,
    only: Collection[str] = (),
    limit: float = LIMIT,
    track: Track = untracked,
) -> LintResult:
    """Find what is wrong or odd in a suite before it costs annotations, the gravest first.

    - `suite`: the items and their rules, as from `read_suite`.
    - `only`: the checks that are wanted (`assay.suites.lint.CHECKS`; default: all).
    - `limit`: seconds after which a pattern that searches a long text counts as explosive.
    - `track`: shows progress over the items.

    >>> from assay.demo import read_demo_suite
    >>> result = lint_suite(read_demo_suite().suite, only=["contradiction", "few-items"])
    >>> len(result.problems), result.problems[0].message
    (8, "'Lexical ambiguity' (Ambiguity) has 6 items, fewer than 20")
    """
    refuse_unknown(only)
    wanted = set(only or CHECKS)
    problems: list[Problem] = []
    for item in track(suite.items, total=len(suite)):
        problems += pattern_problems(item, limit=limit)
        problems += rule_problems(item, limit=limit)
    problems += structure_problems(suite)
    kept = [problem for problem in problems if problem.check in wanted]
    return LintResult(suite, tuple(sorted(kept, key=_gravity)))


def refuse_unknown(only: Collection[str]) -> None:
    """Raise a `DataError` where one of the names is no check."""
    for name in only:
        if name not in CHECKS:
            raise DataError(
                f"there is no check {name!r}{did_you_mean(name, CHECKS)}. "
                f"The checks are: {', '.join(CHECKS)}."
            )


def _gravity(problem: Problem) -> tuple[int, int]:
    return SEVERITIES.index(problem.severity), list(CHECKS).index(problem.check)


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
