r"""Tables for papers: they need `\usepackage{booktabs}`, nothing else."""

from __future__ import annotations

import re

from assay.report.cells import Column, Entry, columns, joined, visible, visible_lines
from assay.results import Result, Span, Table

__all__ = ["latex"]

LONG = 40
"""A column with a text longer than this is set as a paragraph."""

COMMANDS = {"": "", "good": "\\textbf", "bad": "\\textit", "note": "\\textsl"}

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
    return "\n".join(_table(table, digits) for table in result.tables())


def escape(text: str) -> str:
    r"""The text as LaTeX prints it, hyphens kept from growing together into dashes.

    >>> print(escape("50 % of $x_1$"))
    50 \% of \$x\_1\$
    """
    return re.sub("-(?=-)", "-{}", visible(text).translate(_SPECIAL))


def _table(table: Table, digits: int) -> str:
    laid = columns(table, digits)
    lines = [
        "\\begin{table}[htbp]",
        "\\centering",
        f"\\caption{{{escape(table.title)}}}",
        f"\\begin{{tabular}}{{{_layout(laid) or 'l'}}}",
        "\\toprule",
        _row([escape(column.name) for column in laid]),
        "\\midrule",
        *(_row([_entry(entry) for entry in row]) for row in _rows(laid)),
        "\\bottomrule",
        "\\end{tabular}",
        *_note(table.note),
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _layout(laid: list[Column]) -> str:
    long = [any(len(joined(entry)) > LONG for entry in column.entries) for column in laid]
    share = 0.7 / max(1, sum(long))
    paragraph = f"p{{{share:.2f}\\linewidth}}"
    sides = ["r" if column.numeric else "l" for column in laid]
    return "".join(
        paragraph if is_long else side for side, is_long in zip(sides, long, strict=True)
    )


def _rows(laid: list[Column]) -> list[tuple[Entry, ...]]:
    return list(zip(*(column.entries for column in laid), strict=True))


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + " \\\\"


def _entry(entry: Entry) -> str:
    if entry.value is None:
        return " ".join(map(_span, entry.spans))
    figure = re.sub("^-", "$-$", joined(entry))
    return f"\\textbf{{{figure}}}" if entry.best else figure


def _span(span: Span) -> str:
    command = COMMANDS[span.mark]
    return f"{command}{{{escape(span.text)}}}" if command else escape(span.text)


def _note(note: str) -> list[str]:
    lines = " ".join(visible_lines(note))
    return [f"\\par\\smallskip{{\\footnotesize {escape(lines)}\\par}}"] if lines else []
