r"""Tables for papers: they need `\usepackage{booktabs}`, and a comment tells if they need more."""

from __future__ import annotations

import re
from typing import NamedTuple

from assay.rendering.cells import Column, Entry, columns, joined, visible, visible_lines
from assay.results import STEPS, Result, Span, Table

__all__ = ["latex"]

LONG = 40
"""A column with a text longer than this is set as a paragraph."""

MANY = 10
"""Over more columns than this, headings are set upright where they are wider than the figures."""

LINE = 72
"""About so many letters fit beside each other; a wider table is made as wide as the text."""

PARAGRAPHS = 0.7
"""The share of a line that columns of paragraphs take together."""

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


def latex(result: Result, *, digits: int = 2) -> str:
    """One `table` per table. Scripts that pdfTeX cannot set want XeLaTeX or LuaLaTeX."""
    tables = result.tables()
    return "\n".join(_table(_Laid(table, columns(table, digits))) for table in tables)


def escape(text: str) -> str:
    r"""The text as LaTeX prints it, hyphens kept from growing together into dashes.

    >>> print(escape("50 % of $x_1$"))
    50 \% of \$x\_1\$
    """
    return re.sub("-(?=-)", "-{}", visible(text).translate(_SPECIAL))


class _Laid(NamedTuple):
    """A table and its columns ready to print."""

    table: Table
    columns: list[Column]

    @property
    def upright(self) -> bool:
        return len(self.columns) > MANY

    @property
    def colored(self) -> bool:
        """Whether words are marked by degrees, in boxes of colour."""
        entries = (entry for column in self.columns for entry in column.entries)
        return any("-" in span.mark for entry in entries for span in entry.spans)

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


def _packages(laid: _Laid) -> list[str]:
    """A comment that tells what the table needs beside booktabs, if anything."""
    needed = "\\usepackage[table]{xcolor}" if laid.table.shaded or laid.colored else ""
    needed += "\\usepackage{graphicx}" if laid.wide or laid.upright else ""
    return [f"% Needs \\usepackage{{booktabs}}{needed}"] if needed else []


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
        *_packages(laid),
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
        *(_note(laid.table.note) if last else []),
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _heading(column: Column, *, upright: bool) -> str:
    """The column's name; upright over figures that are narrower than it."""
    name = escape(column.name)
    turned = upright and column.numeric and len(column.name) > _longest(column)
    return f"\\rotatebox{{90}}{{{name}}}" if turned else name


def _longest(column: Column) -> int:
    return max((len(joined(entry)) for entry in column.entries), default=0)


def _shaded(shaded: bool) -> str:
    return "\\rowcolor{gray!20} " if shaded else ""


def _layout(laid: list[Column]) -> str:
    long = [_longest(column) > LONG for column in laid]
    share = PARAGRAPHS / max(1, sum(long))
    paragraph = f"p{{{share:.2f}\\linewidth}}"
    sides = ["r" if column.numeric else "l" for column in laid]
    return "".join(
        paragraph if is_long else side for side, is_long in zip(sides, long, strict=True)
    )


def _rows(laid: list[Column]) -> list[tuple[Entry, ...]]:
    return list(zip(*(column.entries for column in laid), strict=True))


def _row(entries: tuple[Entry, ...]) -> str:
    return _line([_entry(entry) for entry in entries])


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + " \\\\"


def _entry(entry: Entry) -> str:
    if entry.value is None:
        shown = " ".join(map(_span, entry.spans))
    else:
        shown = re.sub("^-", "$-$", joined(entry))
    bold = entry.strong or (entry.best and entry.value is not None)
    return f"\\textbf{{{shown}}}" if bold else shown


def _span(span: Span) -> str:
    command = COMMANDS[span.mark]
    return f"{command}{{{escape(span.text)}}}" if command else escape(span.text)


def _note(note: str) -> list[str]:
    lines = " ".join(visible_lines(note))
    return [f"\\par\\smallskip{{\\footnotesize {escape(lines)}\\par}}"] if lines else []
