"""Titles of tables, and a value with its interval in one cell."""

from __future__ import annotations

from math import isnan

from assay.meta.sensitivity.stages import Estimate
from assay.meta.sensitivity.study import Study
from assay.results import Cell

__all__ = [
    "BEST",
    "SENSITIVITY",
    "SIZES",
    "SLOPE",
    "STAGES",
    "about",
    "one_cell",
    "titled",
    "with_interval",
]

STAGES = "Does sensitivity depend on quality?"
SENSITIVITY = "Sensitivity of each system"
BEST = "Agreement among the best systems"
SIZES = "Agreement by size of text"
SLOPE = "Difficulty slope"


def titled(title: str, study: Study) -> str:
    """The title with the kind of human score."""
    return f"{title} ({study.people.name})"


def with_interval(each: Estimate) -> str | None:
    """`0.31 [0.12, 0.47]`; None where there is no value."""
    return one_cell(each.value, each.low, each.high)


def one_cell(value: float, low: float, high: float) -> str | None:
    """A value with its interval, where there is one."""
    if isnan(value):
        return None
    return f"{value:.2f}" if isnan(low) else f"{value:.2f} [{low:.2f}, {high:.2f}]"


def about(low: float, high: float) -> list[Cell]:
    """Both ends of an interval that is only approximate, and marked so."""
    return [None if isnan(end) else f"~{end:.3f}" for end in (low, high)]
