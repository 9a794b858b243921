"""Results for people and machines: text, Markdown, LaTeX, HTML, CSV, TSV, JSON and more."""

from __future__ import annotations

from typing import Literal, assert_never

from assay.data import DataError
from assay.io.files import FilePath, suffix, write_whole
from assay.rendering.charts import missing_charts, write_charts
from assay.rendering.frames import parquet
from assay.rendering.html import html
from assay.rendering.latex import latex
from assay.rendering.markdown import markdown
from assay.rendering.plain import csv, json, jsonl, tsv
from assay.rendering.text import text
from assay.results import Result
from assay.settings import did_you_mean

__all__ = [
    "ENDINGS",
    "Format",
    "csv",
    "format_of",
    "html",
    "json",
    "jsonl",
    "latex",
    "markdown",
    "missing_charts",
    "parquet",
    "render",
    "save",
    "text",
    "tsv",
    "write_charts",
]

Format = Literal["text", "markdown", "csv", "tsv", "json", "jsonl", "latex", "html", "parquet"]

ENDINGS: dict[str, Format] = {
    ".txt": "text",
    ".md": "markdown",
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".tex": "latex",
    ".html": "html",
    ".htm": "html",
    ".parquet": "parquet",
}


def render(
    result: Result,
    format: Format,
    *,
    digits: int = 2,
    width: int | None = None,
    color: bool = False,
) -> str | bytes:
    """The result in one of the formats; `width` and `color` are the terminal's, for text."""
    match format:
        case "text":
            return text(result, digits=digits, width=width, color=color)
        case "markdown":
            return markdown(result, digits=digits)
        case "csv":
            return csv(result)
        case "tsv":
            return tsv(result)
        case "json":
            return json(result)
        case "jsonl":
            return jsonl(result)
        case "latex":
            return latex(result, digits=digits)
        case "html":
            return html(result, digits=digits)
        case "parquet":
            return parquet(result)
    assert_never(format)


def save(result: Result, path: FilePath, *, digits: int = 2) -> None:
    """Write the result to a file, in the format that its ending says."""
    write_whole(path, render(result, format_of(path), digits=digits))


def format_of(path: FilePath) -> Format:
    """The format that the ending of a file says; a name without an ending is text."""
    ending = suffix(path)
    if ending and ending not in ENDINGS:
        raise DataError(
            f"{path}: no format has the ending {ending}{did_you_mean(ending, ENDINGS)}. "
            f"Known are {', '.join(ENDINGS)}."
        )
    return ENDINGS.get(ending, "text")
