"""A linter for test suites: what is wrong or odd in their patterns, rules, items and names."""

from __future__ import annotations

from collections.abc import Collection

from assay.data import DataError
from assay.progress import Track, untracked
from assay.settings import did_you_mean
from assay.suites.check import LIMIT
from assay.suites.lint.patterns import pattern_problems
from assay.suites.lint.problems import CHECKS, SEVERITIES, LintResult, Problem
from assay.suites.lint.rules import rule_problems
from assay.suites.lint.structure import structure_problems
from assay.suites.model import Suite

__all__ = ["lint_suite", "refuse_unknown"]


def lint_suite(
    suite: Suite,
    *,
    only: Collection[str] = (),
    limit: float = LIMIT,
    track: Track = untracked,
) -> LintResult:
    """Find what is wrong or odd in a suite before it costs annotations, the gravest first.

    - `suite`: the items and their rules, as from `read_suite`.
    - `only`: the checks that are wanted (`assay.suites.lint.problems.CHECKS`; default: all).
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
