"""What every analysis gives back: tables, charts and flat records, free of any rendering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

__all__ = ["Cell", "Chart", "Record", "Result", "Span", "Table", "Together", "Words"]

Record = dict[str, Any]
"""One observation: flat, full precision, `None` for unknown."""


class Span(NamedTuple):
    """A run of text and how to mark it."""

    text: str
    mark: Literal["", "good", "bad", "note"] = ""


Words = tuple[Span, ...]
"""Text with marked runs; spans are joined by a blank."""

Cell = str | int | float | None | Words


@dataclass(frozen=True)
class Table:
    """Rows for people. Floats are printed with `digits` decimals, None as an empty cell.

    `digits` overrides the caller's default per column name. `best` names, per column, the
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
