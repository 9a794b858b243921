"""The rows of a lexicon's file, whether text or an Excel workbook."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from assay.data import DataError
from assay.io.files import FilePath, label, read_bytes
from assay.io.lines import BOM, split_lines

__all__ = ["Row", "read_sheets"]

_ZIP = b"PK\x03\x04"
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")

DELIMITERS = "\t;,"


class Row(NamedTuple):
    """The cells of a row that has any, and the line it stands on."""

    line: int
    cells: list[str]


def read_sheets(path: FilePath) -> list[list[Row]]:
    """The rows of every sheet that has any; a text file is one sheet. Blank rows are left out.

    The cells of text are separated by tabs, or where the first line has none by semicolons, or
    else by commas; they may stand in double quotes. Blank cells at the end of a row are dropped.
    """
    data = read_bytes(path)
    if data.startswith(_OLD_EXCEL):
        raise DataError(f"{label(path)} is an Excel file of the old kind: save it as .xlsx or CSV.")
    if data.startswith(_ZIP):
        found = _workbook(path, data)
    else:
        found = [list(_text_rows(path, split_lines(_decode(path, data))))]
    sheets = [rows for rows in found if rows]
    if not sheets:
        raise DataError(f"{label(path)} is empty; a lexicon has one word and its number per line.")
    return sheets


def _decode(path: FilePath, data: bytes) -> str:
    try:
        return data.decode().removeprefix(BOM)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        encoding = "utf-16" if data.startswith(_UTF_16) else "latin1"
        raise DataError(
            f"{label(path)}, line {line}: not UTF-8. "
            f"Convert the file: iconv -f {encoding} -t utf-8 OLD > NEW"
        ) from None


def _text_rows(path: FilePath, lines: Sequence[str]) -> Iterator[Row]:
    delimiter = ""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        delimiter = delimiter or next((each for each in DELIMITERS if each in line), "\t")
        cells = _cells(f"{label(path)}, line {number}", line, delimiter)
        yield from _row(number, cells)


def _cells(where: str, line: str, delimiter: str) -> list[str]:
    if delimiter == "\t":
        return [_unquoted(cell) for cell in line.split("\t")]
    try:
        (cells,) = csv.reader([line], delimiter=delimiter, strict=True)
    except (csv.Error, ValueError) as error:
        raise DataError(f"{where}: not a row of a table ({error}). Mend its quotes.") from None
    return cells


def _unquoted(cell: str) -> str:
    """A cell without its quotes; one that does not close stands for itself, as in emoticons."""
    return cell[1:-1] if len(cell) > 2 and cell[0] == cell[-1] == '"' else cell


def _workbook(path: FilePath, data: bytes) -> list[list[Row]]:
    try:
        openpyxl = import_module("openpyxl")
    except ImportError:
        raise DataError(
            f"{label(path)} is an Excel workbook, which needs a package: pip install openpyxl"
        ) from None
    try:
        # It warns of styles and extensions, which do not matter here.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            return [list(_sheet_rows(sheet)) for sheet in book.worksheets]
    # A damaged archive fails in as many ways as there are parts in it.
    except Exception as error:
        raise DataError(
            f"{label(path)} is damaged or no Excel workbook ({type(error).__name__}). "
            "Save it again, or as CSV."
        ) from None


def _sheet_rows(sheet: Any) -> Iterator[Row]:
    # Some programs write a wrong size into the file, and rows would be cut off.
    sheet.reset_dimensions()
    for number, values in enumerate(sheet.iter_rows(values_only=True), 1):
        yield from _row(number, [_text(value) for value in values])


def _row(number: int, cells: list[str]) -> Iterator[Row]:
    while cells and not cells[-1].strip():
        cells.pop()
    if cells:
        yield Row(number, cells)


def _text(value: Any) -> str:
    if value is None:
        return ""
    # Excel takes the words "true" and "false" for truth values.
    return str(value).lower() if isinstance(value, bool) else str(value).strip()
