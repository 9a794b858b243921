"""A linter for test suites: what is wrong or odd in their patterns, rules, items and names."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from assay.data import DataError
from assay.settings import did_you_mean
from assay.suites.check import LIMIT
from assay.suites.lint.patterns import pattern_problems
from assay.suites.lint.problems import CHECKS, SEVERITIES, LintResult, Problem
from assay.suites.lint.rules import rule_problems
from assay.suites.lint.structure import structure_problems
from assay.suites.model import Item, Suite

__all__ = ["lint", "refuse_unknown"]


def lint(
    suite: Suite,
    *,
    only: Collection[str] = (),
    limit: float = LIMIT,
    steps: Iterable[Item] | None = None,
) -> LintResult:
    """What is wrong or odd in a suite, the gravest first.

    `only` names the checks that are wanted, all without it. A pattern that searches a long text
    for more than `limit` seconds is an explosive one. `steps` is the suite's items, to watch
    progress.
    """
    refuse_unknown(only)
    wanted = set(only or CHECKS)
    problems: list[Problem] = []
    for item in suite.items if steps is None else steps:
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
