"""A linter for test suites: what is wrong or odd in their patterns, rules, items and names."""

from assay.suite.lint.display import LintResult
from assay.suite.lint.linting import lint
from assay.suite.lint.problems import CHECKS, Problem, Severity

__all__ = ["CHECKS", "LintResult", "Problem", "Severity", "lint"]
