"""Tab-separated cells as spreadsheets write them: a cell in quotes may hold tabs and lines."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence

from assay.data import DataError
from assay.io.files import FilePath, label, write_whole
from assay.io.lines import read_text
from assay.io.tables import Row

__all__ = ["read_cells", "write_cells"]


def read_cells(path: FilePath) -> list[Row]:
    """The rows of a table, the header first, each with the line on which it begins.

    A cell that starts with a quote ends at the next one; two quotes inside are one. Any other
    cell stands for itself. Rows with nothing in them are left out.
    """
    rows = [row for row in _rows(path, read_text(path)) if any(row.cells)]
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


def _rows(path: FilePath, text: str) -> Iterator[Row]:
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
