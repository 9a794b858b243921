"""Tables as papers print them: scores with their intervals and stars, the best in bold.

The first line is a comment that names the packages they need.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

from assay.rendering.formats import OutputFormat
from assay.rendering.text import (
    ALPHA,
    PrintedCell,
    PrintedColumn,
    joined,
    printed_columns,
    visible,
    visible_lines,
)
from assay.results import STEPS, Result, Span, Table

__all__ = ["LaTeXFormat", "latex"]

LONG = 40
"""A column with a text longer than this is set as a paragraph."""

MANY = 10
"""Over more columns than this, headings are set upright where they are wider than the figures."""

LINE = 72
"""About so many letters fit beside each other; a wider table is made as wide as the text."""

PARAGRAPHS = 0.7
"""The share of a line that columns of paragraphs take together."""

INTERVALS = 4
"""Intervals of more columns than this would not fit beside each other, and are left out."""

TALL = 55
"""A table of more rows than this is cut into several, of about a page each."""

COMMANDS = {"": "", "good": "\\textbf", "bad": "\\textit", "note": "\\textsl"}
COMMANDS |= {f"good-{step}": f"\\colorbox{{green!{15 * step}}}" for step in range(1, STEPS + 1)}
COMMANDS |= {f"bad-{step}": f"\\colorbox{{red!{15 * step}}}" for step in range(1, STEPS + 1)}

# A bracket or star at the start of a row would be an argument of the \\ before it.
_SPECIAL = str.maketrans(
    {
        **{character: f"\\{character}" for character in "{}$&#_%"},
        "\\": "\\textbackslash{}",
        "^": "\\textasciicircum{}",
        "~": "\\textasciitilde{}",
        "<": "\\textless{}",
        ">": "\\textgreater{}",
        "|": "\\textbar{}",
        '"': "{\\char34}",
        "`": "{\\char96}",
        "[": "{[}",
        "]": "{]}",
        "*": "{*}",
        "–": "\\textendash{}",
        "−": "\\ensuremath{-}",
        "±": "\\ensuremath{\\pm}",
        "×": "\\ensuremath{\\times}",
        "≤": "\\ensuremath{\\leq}",
        "≥": "\\ensuremath{\\geq}",
        "→": "\\ensuremath{\\rightarrow}",
        "↑": "\\ensuremath{\\uparrow}",
        "↓": "\\ensuremath{\\downarrow}",
        "∞": "\\ensuremath{\\infty}",
        "Δ": "\\ensuremath{\\Delta}",
        "κ": "\\ensuremath{\\kappa}",
        "ρ": "\\ensuremath{\\rho}",
        "τ": "\\ensuremath{\\tau}",
    }
)


class LaTeXFormat(OutputFormat):
    """The tables as papers print them."""

    name: ClassVar[str] = "latex"
    endings: ClassVar[tuple[str, ...]] = (".tex",)

    def render(self, result: Result, *, digits: int = 2) -> str:
        """The tables as papers print them."""
        return latex(result, digits=digits)


def latex(result: Result, *, digits: int = 2) -> str:
    """The tables that a paper prints. Scripts that pdfTeX cannot set want XeLaTeX or LuaLaTeX."""
    tables = [_laid(table, digits) for table in result.paper_tables()]
    return "\n".join([_packages(tables), *map(_table, tables)])


def escape(text: str) -> str:
    r"""The text as LaTeX prints it, hyphens kept from growing together into dashes.

    >>> print(escape("50 % of $x_1$"))
    50 \% of \$x\_1\$
    """
    return re.sub("-(?=-)", "-{}", visible(text).translate(_SPECIAL))


def _laid(table: Table, digits: int) -> _Laid:
    laid = [column for column in printed_columns(table, digits) if column.paper]
    if sum(any(cell.interval for cell in column.cells) for column in laid) > INTERVALS:
        laid = [_changed(column, interval="") for column in laid]
    if not table.details:
        # Nobody could tell what the stars are about.
        laid = [_changed(column, significant=False) for column in laid]
    return _Laid(table, laid)


def _changed(column: PrintedColumn, **values: Any) -> PrintedColumn:
    return replace(column, cells=tuple(cell._replace(**values) for cell in column.cells))


class _Laid(NamedTuple):
    """A table, and those of its columns that are printed."""

    table: Table
    columns: list[PrintedColumn]

    @property
    def cells(self) -> list[PrintedCell]:
        return [cell for column in self.columns for cell in column.cells]

    @property
    def upright(self) -> bool:
        return len(self.columns) > MANY

    @property
    def colored(self) -> bool:
        """Whether words are marked by degrees, in boxes of colour."""
        return any("-" in span.mark for cell in self.cells for span in cell.spans)

    @property
    def note(self) -> str:
        """The table's note, and what its intervals and stars are."""
        starred = any(map(_star, self.cells))
        legend = f"* p < {ALPHA}." if starred else ""
        shown = starred or any(cell.interval for cell in self.cells)
        told = self.table.details if shown and self.table.details not in self.table.note else ""
        return "\n".join(filter(None, (legend, told, self.table.note)))

    @property
    def wide(self) -> bool:
        """Whether it is wider than a line, by a rough count of letters."""
        long = [_longest(column) > LONG for column in self.columns]
        widths = [
            (0 if self.upright and column.numeric else len(column.name), _longest(column))
            for column, is_long in zip(self.columns, long, strict=True)
            if not is_long
        ]
        room = LINE * (1 - PARAGRAPHS) if any(long) else LINE
        return sum(max(width) + 2 for width in widths) > room


def _packages(tables: Sequence[_Laid]) -> str:
    """A comment that names the packages that the tables need."""
    needed = ["\\usepackage{booktabs}"]
    if any(laid.table.shaded or laid.colored for laid in tables):
        needed.append("\\usepackage[table]{xcolor}")
    if any(laid.wide or laid.upright for laid in tables):
        needed.append("\\usepackage{graphicx}")
    return f"% Needs {''.join(needed)}"


def _table(laid: _Laid) -> str:
    """The table as a float, or as several where its rows take more than a page."""
    rows = [
        _shaded(at in laid.table.shaded) + _row(row) for at, row in enumerate(_rows(laid.columns))
    ]
    pages = [rows[start:end] for start, end in _pages(laid.table)]
    return "\n".join(
        _float(laid, page, first=page is pages[0], last=page is pages[-1]) for page in pages
    )


def _pages(table: Table) -> list[tuple[int, int]]:
    """From which row to which each float goes; a shaded row begins one rather than ends one."""
    starts, ends = [0], []
    while len(table.rows) - starts[-1] > TALL:
        end = starts[-1] + TALL
        heads = [row for row in table.shaded if starts[-1] + TALL // 2 < row <= end]
        ends.append(max(heads, default=end))
        starts.append(ends[-1])
    return list(zip(starts, [*ends, len(table.rows)], strict=True))


def _float(laid: _Laid, rows: list[str], *, first: bool, last: bool) -> str:
    title = escape(laid.table.title) + ("" if first else " (continued)")
    opening, closing = ("\\resizebox{\\linewidth}{!}{%\n", "}") if laid.wide else ("", "")
    closer = ["\\setlength{\\tabcolsep}{3pt}"] if laid.upright else []
    closer += ["\\setlength{\\fboxsep}{1.5pt}"] if laid.colored else []
    lines = [
        "\\begin{table}[htbp]",
        "\\centering",
        f"\\caption{{{title}}}",
        *closer,
        f"{opening}\\begin{{tabular}}{{{_layout(laid.columns) or 'l'}}}",
        "\\toprule",
        _line([_heading(column, upright=laid.upright) for column in laid.columns]),
        "\\midrule",
        *rows,
        "\\bottomrule",
        f"\\end{{tabular}}{closing}",
        *(_note(laid.note) if last else []),
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _heading(column: PrintedColumn, *, upright: bool) -> str:
    """The column's name; upright over figures that are narrower than it."""
    name = escape(column.name)
    turned = upright and column.numeric and len(column.name) > _longest(column)
    return f"\\rotatebox{{90}}{{{name}}}" if turned else name


def _longest(column: PrintedColumn) -> int:
    return max((len(joined(cell)) + len(cell.interval) for cell in column.cells), default=0)


def _shaded(shaded: bool) -> str:
    return "\\rowcolor{gray!20} " if shaded else ""


def _layout(laid: list[PrintedColumn]) -> str:
    long = [_longest(column) > LONG for column in laid]
    share = PARAGRAPHS / max(1, sum(long))
    paragraph = f"p{{{share:.2f}\\linewidth}}"
    sides = ["r" if column.numeric else "l" for column in laid]
    return "".join(
        paragraph if is_long else side for side, is_long in zip(sides, long, strict=True)
    )


def _rows(laid: list[PrintedColumn]) -> list[tuple[PrintedCell, ...]]:
    return list(zip(*(column.cells for column in laid), strict=True))


def _row(cells: tuple[PrintedCell, ...]) -> str:
    return _line([_cell(cell) for cell in cells])


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + " \\\\"


def _cell(cell: PrintedCell) -> str:
    if cell.value is None:
        shown = " ".join(map(_span, cell.spans))
        return f"\\textbf{{{shown}}}" if cell.strong else shown
    shown = re.sub("^-", "$-$", escape(joined(cell).removesuffix(cell.mark)))
    if cell.strong or cell.best:
        shown = f"\\textbf{{{shown}}}"
    if mark := cell.mark or _star(cell):
        shown += f"\\textsuperscript{{{escape(mark)}}}"
    interval = f" {{\\scriptsize {escape(cell.interval)}}}" if cell.interval else ""
    return f"{shown}{interval}"


def _star(cell: PrintedCell) -> str:
    """The star of a significant number that has no mark of its own."""
    return "*" if cell.significant and not cell.mark else ""


def _span(span: Span) -> str:
    command = COMMANDS[span.mark]
    return f"{command}{{{escape(span.text)}}}" if command else escape(span.text)


def _note(note: str) -> list[str]:
    lines = " ".join(visible_lines(note))
    return [f"\\par\\smallskip{{\\footnotesize {escape(lines)}\\par}}"] if lines else []
