"""Tables in GitHub's Markdown, for pull requests, issues and wikis."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import ClassVar

from assay.rendering.cells import (
    PrintedCell,
    PrintedColumn,
    printed_columns,
    visible,
    visible_lines,
)
from assay.rendering.formats import OutputFormat
from assay.rendering.text import PLAIN
from assay.results import Result, Table

__all__ = ["MarkdownFormat", "escape", "markdown"]

_INLINE = re.compile(r"[\\`*_\[\]|~$]")
_BLOCK = re.compile(r"^(\s*)([#+=-]|\d+(?=[.)]))")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_MENTION = re.compile(r"@(?=\w)")


class MarkdownFormat(OutputFormat):
    """The tables in GitHub's Markdown."""

    name: ClassVar[str] = "markdown"
    endings: ClassVar[tuple[str, ...]] = (".md",)

    def render(self, result: Result, *, digits: int = 2) -> str:
        """The tables in GitHub's Markdown."""
        return markdown(result, digits=digits)


def markdown(result: Result, *, digits: int = 2) -> str:
    """The result's tables, each under a heading and above its notes.

    Marked words stand in brackets, as in plain text. No text of the data can act as Markdown
    or HTML, or call anybody by @name.
    """
    return "\n".join(_table(table, printed_columns(table, digits)) for table in result.tables())


def escape(text: str) -> str:
    r"""The text as Markdown shows it, on one line and within one cell.

    >>> print(escape("a|b *c* <d> @eve"))
    a\|b \*c\* &lt;d&gt; @<!-- -->eve
    """
    safe = re.sub("[&<>]", lambda match: _HTML[match[0]], visible(text))
    return _MENTION.sub("@<!-- -->", _INLINE.sub(r"\\\g<0>", safe))


def _table(table: Table, laid: Sequence[PrintedColumn]) -> str:
    lines = [f"### {_line(table.title)}", ""] if table.title else []
    lines.append(_row(escape(column.name) for column in laid))
    lines.append(_row("--:" if column.numeric else ":--" for column in laid))
    lines += [_row(map(_cell, row)) for row in zip(*(each.cells for each in laid), strict=True)]
    lines += [] if table.rows else ["", "(no rows)"]
    if notes := visible_lines(table.note):
        lines += ["", "\\\n".join(map(_line, notes))]
    return "\n".join(lines) + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(entry: PrintedCell) -> str:
    shown = " ".join(PLAIN[span.mark].format(span.text) for span in entry.spans).strip()
    return f"**{escape(shown)}**" if shown and (entry.best or entry.strong) else escape(shown)


def _line(text: str) -> str:
    """Text at the start of a line, where a number, a dash or # would begin something else."""
    return _BLOCK.sub(
        lambda m: f"{m[1]}{m[2]}\\" if m[2].isdigit() else f"{m[1]}\\{m[2]}", escape(text)
    )
