"""A result made of whatever a test wants to see rendered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.rendering.text import joined, printed_columns
from assay.results import Cell, CellValue, Chart, Charts, Record, Result, Table


@dataclass(frozen=True)
class Given(Result):
    """A result that gives back what it was given."""

    some_tables: Sequence[Table] = ()
    some_charts: Sequence[Chart] = ()
    some_records: Sequence[Record] = ()

    def tables(self) -> list[Table]:
        return list(self.some_tables)

    def paper_tables(self) -> list[Table]:
        return self.tables()

    def charts(self) -> Charts:
        return Charts(self.some_charts)

    def records(self) -> list[Record]:
        return list(self.some_records)


def texts(table: Table, digits: int = 2) -> list[list[str]]:
    """The cells as they are printed, row by row."""
    columns = [[joined(cell) for cell in each.cells] for each in printed_columns(table, digits)]
    return [list(row) for row in zip(*columns, strict=True)]


def plain(cells: Sequence[CellValue]) -> list[CellValue]:
    """The cells with their numbers alone."""
    return [cell.value if isinstance(cell, Cell) else cell for cell in cells]
