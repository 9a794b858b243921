"""Records for machines, at full precision: JSON, CSV, TSV, data frames and Parquet."""

from __future__ import annotations

import csv as standard_csv
import json as standard_json
import math
import re
from collections.abc import Callable, Mapping
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any, ClassVar

from assay.extras import require
from assay.rendering.formats import OutputFormat
from assay.rendering.text import visible
from assay.results import Record, Result
from assay.version import __version__

if TYPE_CHECKING:
    import pandas
    import polars

__all__ = [
    "CSVFormat",
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
