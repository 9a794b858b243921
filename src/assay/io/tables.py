"""Tables with a header: tab-separated lines, and cells as spreadsheets write them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from assay.data import DataError
from assay.io.files import FilePath, label, read_lines, read_text, write_lines, write_whole

__all__ = [
    "Row",
    "TextTable",
    "parse_table",
    "read_cells",
    "read_table",
    "whole_number",
    "write_cells",
    "write_table",
]


class Row(NamedTuple):
    """The cells of a table's row, and the file's line they stand on."""

    line: int
    cells: list[str]


class TextTable(NamedTuple):
    """The columns' names and the rows; every row has one cell per column."""

    path: FilePath
    columns: tuple[str, ...]
    rows: list[Row]

    def find(self, *names: str) -> int | None:
        """The place of the first of these columns that is there, in any case."""
        columns = [column.strip().lower() for column in self.columns]
        return next((columns.index(name) for name in names if name in columns), None)

    def column(self, *names: str) -> list[str]:
        """The cells of the first of these columns that is there, which must be."""
        place = self.find(*names)
        if place is None:
            columns = ", ".join(self.columns)[:200]
            raise DataError(f"{label(self.path)}: no column {names[0]}. Columns: {columns}.")
        return [row.cells[place] for row in self.rows]


def read_table(path: FilePath) -> TextTable:
    """A tab-separated table; quotes and backslashes stand for themselves."""
    return parse_table(path, read_lines(path))


def parse_table(path: FilePath, lines: Sequence[str]) -> TextTable:
    """The table that these lines of a file hold, the first of which is the header."""
    columns = tuple(lines[0].split("\t"))
    repeated = next((c for c in columns if columns.count(c) > 1), None)
    if repeated is not None:
        raise DataError(f"{label(path)}, line 1: two columns are called {repeated!r}. Rename one.")
    table = TextTable(path, columns, list(_rows(path, columns, lines)))
    if not table.rows:
        raise DataError(f"{label(path)} has a header but no rows.")
    return table


def write_table(path: FilePath, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table; a tab or line break inside a cell is an error, for nothing is escaped."""
    lines = [_join(path, number, cells) for number, cells in enumerate((columns, *rows), 1)]
    write_lines(lines, path)


def whole_number(path: FilePath, line: int, text: str) -> int:
    """A positive whole number in plain digits."""
    if not re.fullmatch("0*[1-9][0-9]{0,15}", text):
        raise DataError(
            f"{label(path)}, line {line}: {text!r} is not a line number; lines count from 1."
        )
    return int(text)


def _rows(path: FilePath, columns: Sequence[str], lines: Sequence[str]) -> Iterator[Row]:
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        if len(cells) != len(columns):
            raise DataError(
                f"{label(path)}, line {number}: {len(cells)} cells, but the header names "
                f"{len(columns)} columns. Cells are separated by single tabs."
            )
        yield Row(number, cells)


def _join(path: FilePath, number: int, cells: Sequence[str]) -> str:
    for cell in cells:
        if any(mark in cell for mark in "\t\n\r"):
            raise DataError(
                f"{path}, line {number}: {cell[:40]!r} has a tab or a line break inside, which a "
                "table cannot hold. Write JSON Lines (.jsonl) instead."
            )
    return "\t".join(cells)


def read_cells(path: FilePath) -> list[Row]:
    """The rows of a table, the header first, each with the line on which it begins.

    A cell that starts with a quote ends at the next one; two quotes inside are one. Any other
    cell stands for itself. Rows with nothing in them are left out.
    """
    rows = [row for row in _cell_rows(path, read_text(path)) if any(row.cells)]
    if not rows:
        raise DataError(f"{label(path)} is empty; its first line must name the columns.")
    width = len(rows[0].cells)
    for line, cells in rows:
        if len(cells) != width:
            raise DataError(
                f"{label(path)}, line {line}: {len(cells)} cells, but the header names {width} "
                "columns. Cells are separated by single tabs."
            )
    return rows


def write_cells(path: FilePath, rows: Iterable[Sequence[str]]) -> None:
    """Write rows, the header first; `read_cells` gives the same cells back."""
    write_whole(path, "".join("\t".join(map(_quoted, row)) + "\n" for row in rows))


def _cell_rows(path: FilePath, text: str) -> Iterator[Row]:
    lines = (f"{line}\n" for line in text.split("\n"))
    reader = csv.reader(lines, dialect="excel-tab", strict=True)
    line = 1
    try:
        for cells in reader:
            yield Row(line, cells)
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"{label(path)}, line {line}: a cell in quotes does not end well ({error}). "
            'Put quotes around the whole cell and double those inside: """Ja"", sagte er."'
        ) from None


def _quoted(cell: str) -> str:
    if any(mark in cell for mark in '\t\r\n"'):
        doubled = cell.replace('"', '""')
        return f'"{doubled}"'
    return cell
