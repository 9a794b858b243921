"""Results for people and machines: text, JSON, TSV, LaTeX and HTML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, assert_never

from assay.report.charts import write_charts
from assay.report.html import html
from assay.report.latex import latex
from assay.report.plain import json, tsv
from assay.report.text import text
from assay.results import Result

__all__ = ["Format", "html", "json", "latex", "render", "text", "tsv", "write_charts"]

Format = Literal["text", "json", "tsv", "latex", "html"]


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
        case "json":
            return json(result, header=header)
        case "tsv":
            return tsv(result)
        case "latex":
            return latex(result, digits=digits)
        case "html":
            return html(result, digits=digits, header=header)
    assert_never(format)
