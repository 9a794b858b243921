"""Results for people and machines: text, Markdown, LaTeX, HTML, CSV, TSV and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, assert_never

from assay.rendering.charts import missing_charts, write_charts
from assay.rendering.html import html
from assay.rendering.latex import latex
from assay.rendering.markdown import markdown
from assay.rendering.plain import csv, json, jsonl, tsv
from assay.rendering.text import text
from assay.results import Result

__all__ = [
    "Format",
    "csv",
    "html",
    "json",
    "jsonl",
    "latex",
    "markdown",
    "missing_charts",
    "render",
    "text",
    "tsv",
    "write_charts",
]

Format = Literal["text", "markdown", "csv", "tsv", "json", "jsonl", "latex", "html"]


def render(
    result: Result,
    format: Format,
    *,
    digits: int = 2,
    width: int | None = None,
    color: bool = False,
    header: Mapping[str, Any],
) -> str:
    """The result in one of the formats.

    `width` and `color` are the terminal's, for text. `header` says how the result came about:
    `command`, `seed`, `inputs` (each with `path`, `sha256`, `segments`) and a page's `title`.
    """
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
            return json(result, header=header)
        case "jsonl":
            return jsonl(result)
        case "latex":
            return latex(result, digits=digits)
        case "html":
            return html(result, digits=digits, header=header)
    assert_never(format)
