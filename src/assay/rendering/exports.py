"""Results for other programs: records as JSON, CSV, TSV, Parquet, frames; tables as a workbook."""

from __future__ import annotations

import csv as standard_csv
import json as standard_json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO, StringIO
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from assay.extras import require
from assay.rendering.formats import OutputFormat
from assay.rendering.text import PrintedCell, decimals, joined, printed_columns, visible
from assay.results import Cell, CellValue, Record, Result, Table
from assay.version import __version__

if TYPE_CHECKING:
    import pandas
    import polars

__all__ = [
    "CSVFormat",
    "ExcelFormat",
    "JSONFormat",
    "JSONLinesFormat",
    "ParquetFormat",
    "TSVFormat",
    "csv",
    "dump",
    "json",
    "jsonl",
    "pandas_frame",
    "parquet",
    "plain",
    "polars_frame",
    "tsv",
    "xlsx",
]

# Legal in JSON, but a lone surrogate cannot be written as UTF-8 and the rest upsets terminals.
_AWKWARD = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")

# What a spreadsheet takes for a formula, in ASCII or full width, and what was defused already.
_FORMULA = re.compile(r"'*\s*[=+\-@＝＋－＠]")


class CSVFormat(OutputFormat):
    """The records for spreadsheets."""

    name: ClassVar[str] = "csv"
    endings: ClassVar[tuple[str, ...]] = (".csv",)

    def render(self, result: Result, *, digits: int = 2) -> str:
        """The records for spreadsheets."""
        return csv(result)


class TSVFormat(OutputFormat):
    """The records for scripts."""

    name: ClassVar[str] = "tsv"
    endings: ClassVar[tuple[str, ...]] = (".tsv",)

    def render(self, result: Result, *, digits: int = 2) -> str:
        """The records for scripts."""
        return tsv(result)


class JSONFormat(OutputFormat):
    """The records, and how they came about."""

    name: ClassVar[str] = "json"
    endings: ClassVar[tuple[str, ...]] = (".json",)

    def render(self, result: Result, *, digits: int = 2) -> str:
        """The records, and how they came about."""
        return json(result)


class JSONLinesFormat(OutputFormat):
    """The records, a line each."""

    name: ClassVar[str] = "jsonl"
    endings: ClassVar[tuple[str, ...]] = (".jsonl",)

    def render(self, result: Result, *, digits: int = 2) -> str:
        """The records, a line each."""
        return jsonl(result)


def json(result: Result) -> str:
    """One object: version, command, seed, inputs and the records, one record per line.

    `nan` and infinities become null.
    """
    header = result.header
    head = {
        "assay": __version__,
        "command": header.command,
        "seed": header.seed,
        "inputs": list(header.inputs),
    }
    fields = [f"{dump(key)}: {dump(value)}" for key, value in head.items()]
    records = ",\n".join(f"  {dump(record)}" for record in result.records())
    fields.append(f'"records": [\n{records}\n]' if records else '"records": []')
    return "{" + ",\n".join(fields) + "}\n"


def jsonl(result: Result) -> str:
    """The records as JSON, one per line and nothing else."""
    return "".join(f"{dump(record)}\n" for record in result.records())


def tsv(result: Result) -> str:
    r"""The records as lines under a line of names; nothing at all where there are no records.

    Unknown values are empty fields. Within texts, backslash, tab and line breaks are written
    `\\`, `\t`, `\n` and so on; quotation marks have no meaning, so read it with quoting off.
    """
    lines = _grid(result, lambda text: visible(text.replace("\\", "\\\\")))
    return "".join("\t".join(line) + "\n" for line in lines)


def csv(result: Result) -> str:
    """The records as in RFC 4180, under a line of names; nothing where there are no records.

    Unknown values are empty fields. A text that a spreadsheet would take for a formula, as it
    begins with = + - or @, has an apostrophe in front (OWASP, CSV Injection); numbers never do.
    """
    file = StringIO()
    standard_csv.writer(file).writerows(_grid(result, _defused))
    return file.getvalue()


def plain(value: Any) -> Any:
    """The value in JSON's own types: NumPy's unwrapped, `nan` and infinities None.

    >>> plain({"score": float("nan"), "systems": ("A", "B")})
    {'score': None, 'systems': ['A', 'B']}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def dump(value: Any) -> str:
    """The value as JSON on one line that any terminal and any UTF-8 file can take."""
    text = standard_json.dumps(plain(value), ensure_ascii=False, allow_nan=False)
    return _AWKWARD.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _grid(result: Result, text_of: Callable[[str], str]) -> list[list[str]]:
    """The names of the records' fields, and the fields of each record."""
    records = result.records()
    names = list(dict.fromkeys(name for record in records for name in record))
    rows = [[_field(record.get(name), text_of) for name in names] for record in records]
    return [list(map(text_of, names)), *rows] if names else []


def _field(value: Any, text_of: Callable[[str], str]) -> str:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return repr(float(value))
    return text_of(value) if isinstance(value, str) else _structure(value, text_of)


def _structure(value: Any, text_of: Callable[[str], str]) -> str:
    """Whole numbers and truth values as they are; lists and the like as JSON."""
    dumped = dump(value)
    return dumped if isinstance(value, bool | int) else text_of(dumped)


def _defused(text: str) -> str:
    shown = visible(text)
    return f"'{shown}" if _FORMULA.match(shown) else shown


EXTRA = "frames"


class ParquetFormat(OutputFormat):
    """The records as a Parquet file."""

    name: ClassVar[str] = "parquet"
    endings: ClassVar[tuple[str, ...]] = (".parquet",)
    binary: ClassVar[bool] = True

    def render(self, result: Result, *, digits: int = 2) -> bytes:
        """The records as a Parquet file."""
        return parquet(result)


def pandas_frame(result: Result) -> pandas.DataFrame:
    """The records as a pandas frame: a row per record, a column per field."""
    return require(EXTRA, "pandas").DataFrame(columns_of(result))


def polars_frame(result: Result) -> polars.DataFrame:
    """The records as a polars frame: a row per record, a column per field."""
    frame: polars.DataFrame = require(EXTRA, "polars").DataFrame(columns_of(result))
    return frame


def parquet(result: Result) -> bytes:
    """The records as a Parquet file."""
    file = BytesIO()
    polars_frame(result).write_parquet(file)
    return file.getvalue()


def columns_of(result: Result) -> dict[str, list[Any]]:
    """The fields of all records by name, each column of one type; None where there is no value."""
    records: list[Record] = plain(result.records())
    names = dict.fromkeys(name for record in records for name in record)
    return {name: _alike([record.get(name) for record in records]) for name in names}


def _alike(values: list[Any]) -> list[Any]:
    """The values of one field, as JSON text where their types have nothing in common."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]
    if len(kinds) <= 1:
        return values
    return [value if isinstance(value, str | None) else dump(value) for value in values]


SHEET_NAME = 31
"""The most letters that Excel allows in the name of a sheet."""

CELL_LETTERS = 32_767
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
    name = _FORBIDDEN.sub(" ", visible(title)).strip(" '")[:SHEET_NAME] or "table"
    lower, number = {each.lower() for each in taken}, 2
    unique = name
    while unique.lower() in lower:
        ending = f" ({number})"
        unique, number = name[: SHEET_NAME - len(ending)] + ending, number + 1
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
        cell.value = visible(value)[:CELL_LETTERS]
        cell.data_type = "s"
        cell.quotePrefix = value.startswith(("=", "+", "-", "@"))
    else:
        cell.value = value
    return cell
