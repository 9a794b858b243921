"""Records as data frames and as Parquet, by the optional pandas and polars."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any, ClassVar

from assay.extras import require
from assay.rendering.formats import OutputFormat
from assay.rendering.plain import dump, plain
from assay.results import Record, Result

if TYPE_CHECKING:
    import pandas
    import polars

__all__ = ["ParquetFormat", "pandas_frame", "parquet", "polars_frame"]

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
