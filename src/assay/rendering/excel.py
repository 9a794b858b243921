"""Tables as an Excel workbook, a sheet for each, by the optional openpyxl."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from io import BytesIO
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

from assay.extras import require
from assay.rendering.formats import OutputFormat
from assay.rendering.text import PrintedCell, decimals, joined, printed_columns, visible
from assay.results import Cell, CellValue, Result, Table

__all__ = ["ExcelFormat", "xlsx"]

NAME = 31
"""The most letters that Excel allows in the name of a sheet."""

LETTERS = 32_767
"""The most that it allows in a cell."""

P_DECIMALS = 4

_FORBIDDEN = re.compile(r"[\[\]:*?/\\]")


class ExcelFormat(OutputFormat):
    """A workbook with the tables; numbers are numbers, and no text of the data is a formula."""

    name: ClassVar[str] = "xlsx"
    endings: ClassVar[tuple[str, ...]] = (".xlsx",)
    binary: ClassVar[bool] = True

    def render(self, result: Result, *, digits: int = 2) -> bytes:
        """The workbook."""
        return xlsx(result, digits=digits)


def xlsx(result: Result, *, digits: int = 2) -> bytes:
    """A workbook with a sheet per table, its headings in bold and always in sight.

    Numbers are stored in full and shown with their decimals. Where numbers have intervals, their
    ends have columns of their own. The notes stand below each table.
    """
    openpyxl = require("excel", "openpyxl", reason="Excel files need openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for table in result.tables():
        sheet = book.create_sheet(_sheet_name(table.title, book.sheetnames))
        _fill(sheet, table, digits)
    if not book.sheetnames:
        book.create_sheet("empty")
    file = BytesIO()
    book.save(file)
    return file.getvalue()


def _sheet_name(title: str, taken: Sequence[str]) -> str:
    """The title as Excel allows it, unlike those of the other sheets."""
    name = _FORBIDDEN.sub(" ", visible(title)).strip(" '")[:NAME] or "table"
    lower, number = {each.lower() for each in taken}, 2
    unique = name
    while unique.lower() in lower:
        ending = f" ({number})"
        unique, number = name[: NAME - len(ending)] + ending, number + 1
    return unique


def _fill(sheet: Any, table: Table, digits: int) -> None:
    bold = require("excel", "openpyxl.styles").Font(bold=True)
    for at, column in enumerate(_sheet_columns(table, digits), 1):
        _write(sheet.cell(1, at), column.heading).font = bold
        for row, value in enumerate(column.values):
            cell = _write(sheet.cell(row + 2, at), value)
            if isinstance(value, float):
                cell.number_format = column.number_format
            if row in column.bold:
                cell.font = bold
    sheet.freeze_panes = "A2"
    for line, note in enumerate(table.note.split("\n") if table.note else (), len(table.rows) + 3):
        _write(sheet.cell(line, 1), note)


class _SheetColumn(NamedTuple):
    """A column as Excel stores it; `bold` are rows."""

    heading: str
    values: list[str | int | float | None]
    number_format: str
    bold: frozenset[int] = frozenset()


def _sheet_columns(table: Table, digits: int) -> list[_SheetColumn]:
    """The columns; where numbers have intervals, the ends have columns of their own."""
    found = []
    for at, (column, printed) in enumerate(
        zip(table.typed_columns, printed_columns(table, digits), strict=True)
    ):
        cells = [row[at] for row in table.rows]
        ends = [cell if isinstance(cell, Cell) else Cell(math.nan) for cell in cells]
        places = P_DECIMALS if column.style == "p" else decimals(column, digits)
        form = f"0.{'0' * places}" if places else "0"
        if column.style != "interval":
            values = [_value(*pair) for pair in zip(cells, printed.cells, strict=True)]
            bold = {row for row, cell in enumerate(printed.cells) if cell.best or cell.strong}
            found.append(_SheetColumn(column.heading, values, form, frozenset(bold)))
        if not all(math.isnan(cell.low) for cell in ends):
            for end in ("low", "high"):
                values = [_number(getattr(cell, end)) for cell in ends]
                found.append(_SheetColumn(f"{column.heading} {end}", values, form))
    return found


def _value(cell: CellValue, printed: PrintedCell) -> str | int | float | None:
    """A number as it is, anything else as it is printed."""
    value = cell.value if isinstance(cell, Cell) else cell
    if value is None or (isinstance(value, Real) and not isinstance(value, bool)):
        return _number(value)
    return joined(printed)


def _number(value: Any) -> int | float | None:
    """The number as Excel can store it: it knows neither `nan` nor infinities."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if isinstance(value, Integral) else float(value)


def _write(cell: Any, value: str | int | float | None) -> Any:
    """Write a value to a cell, texts as texts even where they look like formulas."""
    if isinstance(value, str):
        cell.value = visible(value)[:LETTERS]
        cell.data_type = "s"
        cell.quotePrefix = value.startswith(("=", "+", "-", "@"))
    else:
        cell.value = value
    return cell
