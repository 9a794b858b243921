"""Tables: the one reader of TSV, CSV, JSON Lines, Parquet and spreadsheets."""

from __future__ import annotations

import csv
import io
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

from assay.data import DataError
from assay.extras import require
from assay.io.files import (
    SURROGATE,
    FilePath,
    decode,
    label,
    read_bytes,
    read_lines,
    read_text,
    split_lines,
    suffix,
    write_lines,
    write_whole,
)
from assay.io.packed import Expansion

__all__ = [
    "TableObject",
    "TableRow",
    "TextTable",
    "cell_id",
    "cell_text",
    "cell_texts",
    "columns_of",
    "cut_rows",
    "has_header",
    "parse_object",
    "parse_table",
    "read_any_cells",
    "read_cells",
    "read_objects",
    "read_rows",
    "read_sheets",
    "read_table",
    "whole_number",
    "write_cells",
    "write_table",
]


class TableRow(NamedTuple):
    """The cells of a table's row, and the file's line on which it begins."""

    line: int
    cells: list[str]


class TextTable(NamedTuple):
    """The columns' names and the rows; every row has one cell per column."""

    path: FilePath
    columns: tuple[str, ...]
    rows: list[TableRow]

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


class TableObject(NamedTuple):
    """The values of a table's row by column, and the line (in Parquet: the row) they stand on."""

    line: int
    values: dict[str, Any]


def read_table(path: FilePath) -> TextTable:
    """A table whose first line names the columns; the file's ending says how it is written.

    CSV has commas and quotes, JSON Lines an object per line, and Parquet needs no lines. All
    others have tabs between the cells, where quotes and backslashes stand for themselves.
    """
    return parse_table(path, read_rows(path))


def parse_table(path: FilePath, rows: Sequence[TableRow]) -> TextTable:
    """The table that these rows of a file make, the first of which is the header."""
    columns = tuple(rows[0].cells)
    repeated = next((column for column in columns if columns.count(column) > 1), None)
    if repeated is not None:
        raise DataError(f"{label(path)}, line 1: two columns are called {repeated!r}. Rename one.")
    for row in rows[1:]:
        _check_width(path, row, len(columns))
    if not rows[1:]:
        raise DataError(f"{label(path)} has a header but no rows.")
    return TextTable(path, columns, list(rows[1:]))


def read_rows(path: FilePath) -> list[TableRow]:
    """The rows of a table, with or without a header; of JSON Lines and Parquet the keys first.

    Rows may differ in length.
    """
    match suffix(path):
        case ".csv":
            rows = [row for row in _quoted_rows(path, read_text(path), ",") if row.cells]
            if not rows:
                raise DataError(f"{label(path)} has nothing but blank lines.")
            return rows
        case ".jsonl" | ".parquet":
            return _rows_of_objects(path, read_objects(path))
    return cut_rows(read_text(path))


def cut_rows(text: str) -> list[TableRow]:
    """The rows of a text with tabs between the cells."""
    return [TableRow(n, line.split("\t")) for n, line in enumerate(split_lines(text), 1)]


def has_header(rows: Sequence[TableRow], *names: str) -> bool:
    """Whether the first row names one of these columns, in any case."""
    return not {cell.strip().lower() for cell in rows[0].cells}.isdisjoint(names)


def whole_number(path: FilePath, line: int, text: str) -> int:
    """A positive whole number in plain digits."""
    if not re.fullmatch("0*[1-9][0-9]{0,15}", text):
        raise DataError(
            f"{label(path)}, line {line}: {text!r} is not a line number; lines count from 1."
        )
    return int(text)


def write_table(path: FilePath, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table; a tab or line break inside a cell is an error, for nothing is escaped."""
    lines = [_join(path, number, cells) for number, cells in enumerate((columns, *rows), 1)]
    write_lines(lines, path)


def _join(path: FilePath, number: int, cells: Sequence[str]) -> str:
    for cell in cells:
        if any(mark in cell for mark in "\t\n\r"):
            raise DataError(
                f"{path}, line {number}: {cell[:40]!r} has a tab or a line break inside, which a "
                "table cannot hold. Write JSON Lines (.jsonl) instead."
            )
    return "\t".join(cells)


def _check_width(path: FilePath, row: TableRow, width: int) -> None:
    if len(row.cells) != width:
        separator = "commas" if suffix(path) == ".csv" else "single tabs"
        raise DataError(
            f"{label(path)}, line {row.line}: {len(row.cells)} cells, but the header names "
            f"{width} columns. Cells are separated by {separator}."
        )


def read_cells(path: FilePath) -> list[TableRow]:
    """The rows of a table as spreadsheets write it, the header first.

    A cell that starts with a quote ends at the next one; two quotes inside are one. Any other
    cell stands for itself. Rows with nothing in them are left out.
    """
    separator = "," if suffix(path) == ".csv" else "\t"
    rows = [row for row in _quoted_rows(path, read_text(path), separator) if any(row.cells)]
    if not rows:
        raise DataError(f"{label(path)} is empty; its first line must name the columns.")
    for row in rows:
        _check_width(path, row, len(rows[0].cells))
    return rows


def write_cells(path: FilePath, rows: Iterable[Sequence[str]]) -> None:
    """Write rows, the header first; `read_cells` gives the same cells back."""
    write_whole(path, "".join("\t".join(map(_quoted, row)) + "\n" for row in rows))


def _quoted_rows(path: FilePath, text: str, separator: str) -> Iterator[TableRow]:
    # A cell in quotes may hold line breaks of its own, all of which the reader must see.
    lines = (f"{line}\n" for line in text.removesuffix("\n").split("\n"))
    reader = csv.reader(lines, delimiter=separator, strict=True)
    line = 1
    try:
        for cells in reader:
            yield TableRow(line, cells)
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


def read_objects(path: FilePath) -> list[TableObject]:
    """The rows of a table as objects: values by column, which only JSON and Parquet have types for.

    Blank lines of JSON Lines are left out.
    """
    match suffix(path):
        case ".jsonl":
            lines = enumerate(read_lines(path), 1)
            return [
                TableObject(n, parse_object(path, n, line)) for n, line in lines if line.strip()
            ]
        case ".parquet":
            return [TableObject(n, values) for n, values in enumerate(_parquet(path), 1)]
    table = read_table(path)
    return [
        TableObject(row.line, dict(zip(table.columns, row.cells, strict=True)))
        for row in table.rows
    ]


def parse_object(path: FilePath, number: int, line: str) -> dict[str, Any]:
    """The record on a line of JSON Lines."""
    where = f"{label(path)}, line {number}"
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise DataError(f"{where}: not JSON, at character {error.colno} ({error.msg}).") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not a record ({error}).") from None
    if not isinstance(value, dict):
        raise DataError(
            f'{where}: not a record; each line holds one object: {{"src": ..., "mt": ...}}'
        )
    return value


_BATCH = 4096
"""Rows of Parquet that are read at a time."""

_ROW = 64
"""Bytes that a row takes, even one with nothing in it."""


def _parquet(path: FilePath) -> list[dict[str, Any]]:
    parquet = require("frames", "pyarrow.parquet", reason=f"{label(path)} is a Parquet file")
    arrow = require("frames", "pyarrow")
    data, limit = read_bytes(path), Expansion(label(path))
    rows: list[dict[str, Any]] = []
    unpacked = 0
    try:
        schema = parquet.read_schema(io.BytesIO(data))
        texts = [field.name for field in schema if field.type in (arrow.string(), arrow.binary())]
        # A few bytes can stand for very many texts. So they are read as a dictionary and places in
        # it, and what they would come to is counted first.
        file = parquet.ParquetFile(io.BytesIO(data), read_dictionary=texts)
        for batch in file.iter_batches(_BATCH, use_threads=False):
            unpacked += sum(map(_unpacked_size, batch.columns)) + _ROW * batch.num_rows
            limit.check(packed=len(data), unpacked=unpacked)
            rows += batch.to_pylist()
    except (OSError, ValueError, arrow.ArrowException) as error:
        if isinstance(error, DataError | MemoryError):
            raise
        reason = str(error).split("\n", 1)[0]
        raise DataError(f"{label(path)} is damaged or not Parquet ({reason}).") from None
    return rows


def _unpacked_size(column: Any) -> int:
    """The bytes of a column of Arrow's, with every text as often as it stands there."""
    if not hasattr(column, "dictionary"):
        return int(column.nbytes)
    compute = require("frames", "pyarrow.compute")
    try:
        lengths = compute.binary_length(column.dictionary)
    except NotImplementedError:  # numbers, which are short
        return int(column.nbytes)
    return int(compute.sum(lengths.take(column.indices)).as_py() or 0)


def _rows_of_objects(path: FilePath, objects: Sequence[TableObject]) -> list[TableRow]:
    columns = list(dict.fromkeys(column for row in objects for column in row.values))
    if not columns:
        raise DataError(f"{label(path)} has no records.")
    rows = [TableRow(line, [_text(values.get(c)) for c in columns]) for line, values in objects]
    return [TableRow(1, columns), *rows]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


_ZIP = b"PK\x03\x04"
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_SEPARATORS = "\t;,"


def read_sheets(path: FilePath) -> list[list[TableRow]]:
    """The rows of every sheet of a workbook (.xlsx) that has any; a text file is one sheet.

    For files that others made: cells are separated by tabs, or where the first line has none by
    semicolons, or else by commas; they may stand in double quotes. Blank rows are left out.
    """
    data = read_bytes(path)
    if data.startswith(_OLD_EXCEL):
        raise DataError(f"{label(path)} is an Excel file of the old kind: save it as .xlsx or CSV.")
    if data.startswith(_ZIP):
        sheets = _workbook(path, data)
    else:
        sheets = [list(_loose_rows(path, split_lines(decode(path, data))))]
    return [rows for rows in sheets if rows]


def _loose_rows(path: FilePath, lines: Sequence[str]) -> Iterator[TableRow]:
    separator = ""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        separator = separator or next((mark for mark in _SEPARATORS if mark in line), "\t")
        row = TableRow(number, _cut(f"{label(path)}, line {number}", line, separator))
        if any(cell.strip() for cell in row.cells):
            yield row


def _cut(where: str, line: str, separator: str) -> list[str]:
    if separator == "\t":
        return [_unquoted(cell) for cell in line.split("\t")]
    try:
        (cells,) = csv.reader([line], delimiter=separator, strict=True)
    except (csv.Error, ValueError) as error:
        raise DataError(f"{where}: not a row of a table ({error}). Mend its quotes.") from None
    return cells


def _unquoted(cell: str) -> str:
    """A cell without its quotes; one that does not close stands for itself, as in emoticons."""
    return cell[1:-1] if len(cell) > 2 and cell[0] == cell[-1] == '"' else cell


def read_any_cells(path: FilePath) -> list[TableRow]:
    """The rows of a table that others made, the header first: cells may have line breaks inside.

    A workbook (.xlsx) is read as `read_sheets` does it, its first sheet that has rows. Other files
    have tabs, semicolons or commas between the cells, whichever the first line has, in this order;
    cells may stand in double quotes. Where quotes between tabs do not close, they stand for
    themselves. Blank rows are left out. Rows are numbered as a spreadsheet numbers them: one with
    line breaks inside is one row.
    """
    data = read_bytes(path)
    if data.startswith((_ZIP, _OLD_EXCEL)):
        return next(iter(read_sheets(path)), [])
    text = decode(path, data)
    first = next((line for line in text.split("\n") if line.strip()), "")
    separator = next((mark for mark in _SEPARATORS if mark in first), "\t")
    try:
        rows = list(_quoted_rows(path, text, separator))
    except DataError:
        if separator != "\t":
            raise
        rows = cut_rows(text)
    numbered = [TableRow(number, row.cells) for number, row in enumerate(rows, 1)]
    return [row for row in numbered if any(cell.strip() for cell in row.cells)]


def _workbook(path: FilePath, data: bytes) -> list[list[TableRow]]:
    import zipfile

    reason = f"{label(path)} is an Excel workbook, which needs a package"
    openpyxl = require("excel", "openpyxl", reason=reason)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            sizes = [part.file_size for part in archive.infolist()]
        # No more of a part is read than the archive says that it has.
        Expansion(label(path)).check(packed=len(data), unpacked=sum(sizes))
        # It warns of styles and extensions, which do not matter here.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            return [list(_sheet_rows(sheet)) for sheet in book.worksheets]
    except (DataError, MemoryError):
        raise
    # A damaged archive fails in as many ways as there are parts in it.
    except Exception as error:
        raise DataError(
            f"{label(path)} is damaged or no Excel workbook ({type(error).__name__}). "
            "Save it again, or as CSV."
        ) from None


def _sheet_rows(sheet: Any) -> Iterator[TableRow]:
    # Some programs write a wrong size into the file, and rows would be cut off.
    sheet.reset_dimensions()
    for number, values in enumerate(sheet.iter_rows(values_only=True), 1):
        row = TableRow(number, [_sheet_text(value) for value in values])
        if any(row.cells):
            yield row


def _sheet_text(value: Any) -> str:
    if value is None:
        return ""
    # Excel takes the words "true" and "false" for truth values.
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def columns_of(records: Any) -> dict[str, list[Any]]:
    """The values of a table by column, whatever library the table is of."""
    names = getattr(records, "column_names", None)
    if names is None:
        names = getattr(records, "columns", None)
    if isinstance(names, Mapping) or (names is None and isinstance(records, Mapping)):
        return _columns_of_mapping(records)
    if names is not None:
        return {str(name): _listed(records[name]) for name in names}
    rows = list(records)
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise DataError(
                f"row {number} is a {type(row).__name__}, not a dictionary: pass a list of "
                "dictionaries, a pandas or polars frame, or a Hugging Face dataset."
            )
    columns = dict.fromkeys(column for row in rows for column in row)
    return {str(column): [row.get(column) for row in rows] for column in columns}


def _columns_of_mapping(records: Mapping[str, Any]) -> dict[str, list[Any]]:
    for name, values in records.items():
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise DataError(f"column {name!r} is a {type(values).__name__}: pass lists.")
        if hasattr(values, "column_names"):
            raise DataError(
                f"these are several tables ({', '.join(records)}); pass one: records[{name!r}]."
            )
    columns = {str(name): list(values) for name, values in records.items()}
    if len({len(values) for values in columns.values()}) > 1:
        sizes = ", ".join(f"{name} {len(values)}" for name, values in columns.items())
        raise DataError(f"the columns differ in length ({sizes}).")
    return columns


def _listed(column: Any) -> list[Any]:
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _is_missing(value: Any) -> bool:
    """None, and what pandas has for it."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def cell_text(values: Mapping[str, Any], column: str) -> str | None:
    """The text in a column, None where it is missing."""
    value = values.get(column) if column else None
    if _is_missing(value):
        return None
    if not isinstance(value, str):
        raise DataError(f"{column!r} is {_shown(value)}, but must be a text.")
    return _checked_text(column, value)


def cell_texts(values: Mapping[str, Any], column: str) -> tuple[str, ...]:
    """The texts in a column, which holds one or a list of them."""
    value: Any = values.get(column)
    if _is_missing(value):
        return ()
    if not isinstance(value, str) and not isinstance(value, Mapping) and hasattr(value, "__iter__"):
        texts = list(value)
    else:
        texts = [value]
    if not all(isinstance(text, str) for text in texts):
        raise DataError(f"{column!r} must be a text or a list of texts, not {_shown(value)}.")
    return tuple(_checked_text(column, text) for text in texts)


def cell_id(values: Mapping[str, Any], column: str) -> str | None:
    """The name or number of something, as text."""
    value = values.get(column) if column else None
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(value)
    return cell_text(values, column)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _checked_text(column: str, text: str) -> str:
    if SURROGATE.search(text):
        raise DataError(f"{column!r} has half a character (a lone surrogate escape). Repair it.")
    return text
