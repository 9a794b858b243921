"""One page that holds everything: tables, charts, style and script, and needs no network.

A notebook shows the same tables and charts as a fragment, whose style stays within it.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from assay.rendering.charts import chart_data, charts_hint, drawing, drawing_module
from assay.rendering.exports import dump
from assay.rendering.formats import OutputFormat
from assay.rendering.text import (
    PrintedCell,
    PrintedColumn,
    joined,
    printed_columns,
    visible,
    visible_lines,
)
from assay.results import Chart, Result, Table
from assay.version import __version__

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["HTMLFormat", "charts_fragment", "html", "sections_html", "tables_fragment"]

CONTENTS = 3
"""A page with more tables than this opens with a list of them."""

DATA_ROWS = 200
"""At most so many of a chart's records are repeated below it."""

WIDE = 12
"""A table of more columns than this is set closer."""

LONG = 40
"""A column with a text longer than this is kept wide enough to read."""

TALL = 900
"""A drawing of more pixels than this scrolls in a box of its own."""

NOTEBOOK_ROWS = 200
"""A notebook shows at most so many rows of a table."""


class HTMLFormat(OutputFormat):
    """One page with tables and charts."""

    name: ClassVar[str] = "html"
    endings: ClassVar[tuple[str, ...]] = (".html", ".htm")

    def render(self, result: Result, *, digits: int = 2) -> str:
        """One page with tables and charts, or the page that the result has of its own."""
        return result.page() or html(result, digits=digits)


@dataclass(frozen=True)
class Section:
    """A table or a chart on the page; `looks` holds one CSS class per column, `shaded` the rows.

    `group` is the title that it shares with others of which one is shown at a time, and `choice`
    what tells it from these, pairs of a name and a value.
    """

    id: str
    title: str
    note: str
    columns: list[PrintedColumn]
    looks: list[str]
    rows: list[tuple[PrintedCell, ...]]
    shaded: frozenset[int] = frozenset()
    wide: bool = False
    kind: str = "table"
    drawing: str = ""
    more: int = 0
    group: str = ""
    choice: tuple[tuple[str, str], ...] = ()

    @property
    def long(self) -> bool:
        """Whether a column has long texts, which stand on lines of their own on a phone."""
        return "long" in self.looks

    @property
    def tall(self) -> bool:
        """Whether the drawing is taller than a screen."""
        height = re.match(r'<svg[^>]* height="([\d.]+)', self.drawing)
        return height is not None and float(height[1]) > TALL

    @property
    def values(self) -> list[str]:
        """What it is chosen by."""
        return [value for _, value in self.choice]


@dataclass(frozen=True)
class Group:
    """Tables of which the page shows one at a time, chosen by a list for each name."""

    id: str
    title: str
    parts: list[Section]
    kind: str = "group"

    @property
    def names(self) -> list[str]:
        """What each list chooses."""
        return [name for name, _ in self.parts[0].choice]

    @property
    def symmetric(self) -> bool:
        """Whether the tables are of pairs, which can be chosen from either end."""
        values = [part.values for part in self.parts if len(part.choice) == 2]
        return bool({first for first, _ in values} & {second for _, second in values})


def html(result: Result, *, digits: int = 2) -> str:
    """A self-contained page, with command, seed and inputs of the result's header at its foot.

    Charts stand below the table that they illustrate, by default the first.
    """
    header = result.header
    tables = [_table(f"table-{at}", each, digits) for at, each in enumerate(result.tables(), 1)]
    vl_convert, charts = drawing_module(), result.charts()
    drawn = _charts(charts, vl_convert)
    style, script = _resource("page.css"), _resource("page.js")
    return _template("page.html.j2").render(
        title=visible(header.title),
        summary=[visible(sentence) for sentence in result.summary()],
        sections=_arranged(tables, list(zip(charts, drawn, strict=False))),
        contents=len(_grouped(tables)) > CONTENTS,
        hint=charts_hint() if charts else "",
        command=visible(header.command or ""),
        seed=header.seed,
        inputs=[_input(each) for each in header.inputs],
        version=__version__,
        policy=_policy(style, script),
        style=style,
        script=script,
    )


def sections_html(result: Result, *, name: str, digits: int = 2) -> str:
    """The tables and charts of a result for a page that has style and script already."""
    tables = [_table(f"{name}-{at}", each, digits) for at, each in enumerate(result.tables(), 1)]
    charts = result.charts()
    drawn = _charts(charts, drawing_module(), name=f"{name}-chart")
    sections = _arranged(tables, list(zip(charts, drawn, strict=False)))
    summary = [visible(sentence) for sentence in result.summary()]
    return _template("sections.html.j2").render(sections=sections, summary=summary)


def tables_fragment(result: Result, *, digits: int = 2) -> str:
    """The tables for a notebook: no script, and a style that touches nothing else on its page."""
    tables = result.tables()
    name = _unique_name(table.title for table in tables)
    sections = [
        _table(f"{name}-{at}", table, digits, most=NOTEBOOK_ROWS)
        for at, table in enumerate(tables, 1)
    ]
    return _fragment(_grouped(sections), summary=result.summary())


def charts_fragment(charts: Sequence[Chart]) -> str:
    """The charts for a notebook, one below the other."""
    vl_convert = drawing_module()
    name = _unique_name(dump(chart.spec) for chart in charts)
    return _fragment(_charts(charts, vl_convert, name=name), charts_hint() if charts else "")


def _fragment(
    sections: Sequence[Section | Group], hint: str = "", summary: Sequence[str] = ()
) -> str:
    template, sentences = _template("fragment.html.j2"), [visible(each) for each in summary]
    style = _resource("fragment.css")
    return template.render(sections=sections, style=style, hint=hint, summary=sentences)


def _unique_name(contents: Iterable[str]) -> str:
    """A name for ids: the outputs of a notebook are all on one page, and must not share any."""
    content = "\n".join(contents).encode(errors="backslashreplace")
    return f"assay-{hashlib.sha256(content).hexdigest()[:8]}"


def _arranged(tables: list[Section], drawn: list[tuple[Chart, Section]]) -> list[Section | Group]:
    """The tables, each followed by its charts; groups stand where their first table does."""
    below: dict[int, list[Section]] = {}
    titles = [table.title for table in tables]
    for chart, section in drawn:
        found = visible(chart.after) in titles
        below.setdefault(titles.index(visible(chart.after)) if found else 0, []).append(section)
    pages = [[table, *below.pop(at, ())] for at, table in enumerate(tables)]
    return _grouped([section for page in (*pages, *below.values()) for section in page])


def _grouped(sections: Sequence[Section]) -> list[Section | Group]:
    """The sections, with those of one group put together."""
    groups: dict[str, list[Section]] = {}
    for section in sections:
        groups.setdefault(section.group or section.id, []).append(section)
    return [
        Group(f"{first.id}-group", first.group, [first, *others]) if others else first
        for first, *others in groups.values()
    ]


def _table(name: str, table: Table, digits: int, *, most: int | None = None) -> Section:
    laid = printed_columns(table, digits)
    rows = list(zip(*(column.cells for column in laid), strict=True))
    return Section(
        id=name,
        title=visible(table.title),
        note="\n".join(visible_lines(table.note)),
        columns=laid,
        looks=[_look(column, first=at == 0, key=at < table.keys) for at, column in enumerate(laid)],
        rows=rows[:most],
        more=len(rows) - len(rows[:most]),
        shaded=table.shaded,
        wide=len(laid) > WIDE,
        group=visible(table.group),
        choice=tuple((visible(name), visible(value)) for name, value in table.choice),
    )


def _look(column: PrintedColumn, *, first: bool, key: bool) -> str:
    if column.numeric:
        return "number"
    if first and key:
        return "name"
    if any(len(joined(entry)) > LONG for entry in column.cells):
        return "long"
    return "name" if first else "text"


def _charts(
    charts: Sequence[Chart], vl_convert: ModuleType | None, *, name: str = "chart"
) -> list[Section]:
    if vl_convert is None:
        return []
    return [_chart(f"{name}-{at}", chart, vl_convert) for at, chart in enumerate(charts, 1)]


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
def _template(name: str) -> Template:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_resource),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name)
