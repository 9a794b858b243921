"""What every analysis gives back: tables, charts and flat records, free of any rendering."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, get_args

__all__ = [
    "FINER",
    "STEPS",
    "Cell",
    "Chart",
    "Grade",
    "Headed",
    "Mark",
    "PValue",
    "Record",
    "Result",
    "Span",
    "Table",
    "Together",
    "Words",
    "graded",
    "known",
]

Record = dict[str, Any]
"""One observation: flat, full precision, `None` for unknown."""

Value = TypeVar("Value")


def known(value: Value) -> Value | None:
    """The value as a record has it: None for `nan`, which is unknown; anything else as it is.

    >>> [known(value) for value in (0.5, math.nan, 3, "a")]
    [0.5, None, 3, 'a']
    """
    return None if isinstance(value, float) and math.isnan(value) else value


Grade: TypeAlias = Literal[
    "bad-4", "bad-3", "bad-2", "bad-1", "", "good-1", "good-2", "good-3", "good-4"
]
"""How good or bad something is, by degrees."""

STEPS = 4
"""So many degrees of good, and so many of bad."""

Mark: TypeAlias = Literal["good", "bad", "note"] | Grade


class Span(NamedTuple):
    """A run of text, how to mark it, and what to tell those who point at it."""

    text: str
    mark: Mark = ""
    remark: str = ""


Words = tuple[Span, ...]
"""Text with marked runs; spans are joined by a blank."""


def graded(degree: float) -> Grade:
    """The mark of a degree from -1, as bad as can be, to 1; none for 1/8 or less.

    >>> [graded(degree) for degree in (-1, -0.4, 0.1, 0.2)]
    ['bad-4', 'bad-2', '', 'good-1']
    """
    step = round(STEPS * max(-1.0, min(1.0, degree)))
    grades: tuple[Grade, ...] = get_args(Grade)
    return grades[STEPS + step]


class PValue(float):
    """A p-value, which is shown with four decimals and never as 0.

    >>> print(PValue(0.04), PValue(0.00002), f"{PValue(0.0013)}*")
    0.0400 <0.0001 0.0013*
    """

    def __str__(self) -> str:
        return "<0.0001" if 0 <= self < 0.00005 else f"{float(self):.4f}"


FINER = 2
"""Decimals that figures of the size of 1 have beyond those in per cent."""

Cell = str | int | float | None | Words


@dataclass(frozen=True)
class Table:
    """Rows for people. Floats are printed with `digits` decimals, None as an empty cell.

    A row whose first cell is None belongs to the row above, and stays with it where a page sorts.

    `digits` overrides the caller's default per column name; columns that are `finer`, of figures
    of the size of 1, have `FINER` more than the default. `best` names, per column, the
    direction that is better, so that renderers can set the best value off. `strong` cells, each a
    (row, column), are set in bold, `shaded` rows in grey. Of a table with `keys`, so many first
    columns stand again before each part where a terminal is too narrow for all columns.
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    digits: Mapping[str, int] | None = None
    best: Mapping[str, Literal["high", "low"]] | None = None
    strong: frozenset[tuple[int, int]] = frozenset()
    shaded: frozenset[int] = frozenset()
    keys: int = 0
    finer: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite picture: `spec` is the specification with its data inside.

    `after` is the title of the table that it illustrates; without one it follows the first.
    """

    title: str
    spec: Mapping[str, Any]
    note: str = ""
    after: str = ""


class Result(Protocol):
    """What a renderer needs to know about a result."""

    def tables(self) -> list[Table]:
        """Tables for people to read."""

    def charts(self) -> list[Chart]:
        """Pictures for people to look at."""

    def records(self) -> list[Record]:
        """Tidy data for machines."""


@dataclass(frozen=True)
class Headed:
    """A result under titles that begin with its label, which tells it from others beside it."""

    label: str
    result: Result

    def tables(self) -> list[Table]:
        """The tables, with the label."""
        return [replace(table, title=self._title(table.title)) for table in self.result.tables()]

    def charts(self) -> list[Chart]:
        """The charts, with the label, each below its own table."""
        first = next((table.title for table in self.result.tables()), "")
        return [
            replace(chart, title=self._title(chart.title), after=self._title(chart.after or first))
            for chart in self.result.charts()
        ]

    def records(self) -> list[Record]:
        """The records as they are."""
        return self.result.records()

    def _title(self, title: str) -> str:
        return f"{self.label}: {title}"


class Together:
    """Several results as one, one after the other."""

    def __init__(self, *results: Result) -> None:
        self._results = results

    def tables(self) -> list[Table]:
        """The tables of all."""
        return [table for result in self._results for table in result.tables()]

    def charts(self) -> list[Chart]:
        """The charts of all."""
        return [chart for result in self._results for chart in result.charts()]

    def records(self) -> list[Record]:
        """The records of all."""
        return [record for result in self._results for record in result.records()]
