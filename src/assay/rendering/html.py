"""One page that holds everything: tables, charts, style and script, and needs no network."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from types import ModuleType
from typing import TYPE_CHECKING, Any

from assay.rendering.cells import Column, Entry, columns, joined, visible, visible_lines
from assay.rendering.charts import HINT, chart_data, drawing, drawing_module
from assay.results import Chart, Result, Table
from assay.version import __version__

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["html"]

CONTENTS = 3
"""A page with more tables than this opens with a list of them."""

DATA_ROWS = 200
"""At most so many of a chart's records are repeated below it."""

WIDE = 12
"""A table of more columns than this is set closer."""

LONG = 40
"""A column with a text longer than this is kept wide enough to read."""


@dataclass(frozen=True)
class Section:
    """A table or a chart on the page; `looks` holds one CSS class per column, `shaded` the rows."""

    id: str
    title: str
    note: str
    columns: list[Column]
    looks: list[str]
    rows: list[tuple[Entry, ...]]
    shaded: frozenset[int] = frozenset()
    wide: bool = False
    kind: str = "table"
    drawing: str = ""
    more: int = 0


def html(result: Result, *, digits: int = 2, header: Mapping[str, Any]) -> str:
    """A self-contained page; `header` gives its title and, for the foot, command, seed and inputs.

    Charts stand below the table that they illustrate, by default the first.
    """
    tables = [_table(f"table-{at}", each, digits) for at, each in enumerate(result.tables(), 1)]
    vl_convert, charts = drawing_module(), result.charts()
    drawn = _charts(charts, vl_convert)
    style, script = _resource("page.css"), _resource("page.js")
    return _template().render(
        title=visible(str(header.get("title") or "assay report")),
        sections=_arranged(tables, list(zip(charts, drawn, strict=False))),
        contents=len(tables) > CONTENTS,
        hint=HINT if charts and vl_convert is None else "",
        command=visible(str(header.get("command") or "")),
        seed=header.get("seed"),
        inputs=[_input(each) for each in header.get("inputs") or ()],
        version=__version__,
        policy=_policy(style, script),
        style=style,
        script=script,
    )


def _arranged(tables: list[Section], drawn: list[tuple[Chart, Section]]) -> list[Section]:
    """The tables, each followed by its charts."""
    below: dict[int, list[Section]] = {}
    titles = [table.title for table in tables]
    for chart, section in drawn:
        found = visible(chart.after) in titles
        below.setdefault(titles.index(visible(chart.after)) if found else 0, []).append(section)
    pages = [[table, *below.pop(at, ())] for at, table in enumerate(tables)]
    return [section for page in (*pages, *below.values()) for section in page]


def _table(name: str, table: Table, digits: int) -> Section:
    laid = columns(table, digits)
    return Section(
        id=name,
        title=visible(table.title),
        note="\n".join(visible_lines(table.note)),
        columns=laid,
        looks=[_look(column, first=at == 0, key=at < table.keys) for at, column in enumerate(laid)],
        rows=list(zip(*(column.entries for column in laid), strict=True)),
        shaded=table.shaded,
        wide=len(laid) > WIDE,
    )


def _look(column: Column, *, first: bool, key: bool) -> str:
    if column.numeric:
        return "number"
    if first and key:
        return "name"
    if any(len(joined(entry)) > LONG for entry in column.entries):
        return "long"
    return "name" if first else "text"


def _charts(charts: Sequence[Chart], vl_convert: ModuleType | None) -> list[Section]:
    if vl_convert is None:
        return []
    return [_chart(f"chart-{at}", chart, vl_convert) for at, chart in enumerate(charts, 1)]


def _chart(name: str, chart: Chart, vl_convert: ModuleType) -> Section:
    records = chart_data(chart)
    names = tuple(dict.fromkeys(key for record in records for key in record))
    rows = [[record.get(key) for key in names] for record in records[:DATA_ROWS]]
    return replace(
        _table(name, Table(chart.title, names, rows, chart.note), digits=4),
        kind="chart",
        drawing=drawing(chart, vl_convert, prefix=f"{name}-"),
        more=len(records) - len(rows),
    )


def _input(entry: Mapping[str, Any]) -> dict[str, str]:
    return {key: visible(str(entry.get(key) or "")) for key in ("path", "sha256", "segments")}


def _policy(style: str, script: str) -> str:
    """A content security policy: this very style and script may run, and nothing else."""
    hashes = [
        b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)
    ]
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{hashes[0]}'; "
        f"script-src 'sha256-{hashes[1]}'; base-uri 'none'; form-action 'none'"
    )


@cache
def _resource(name: str) -> str:
    return resources.files("assay.rendering").joinpath(name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.from_string(_resource("page.html.j2"))
