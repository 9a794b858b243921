"""Tables for the terminal: aligned, coloured on request, never cutting a figure."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING

from assay.report.cells import Column, Entry, columns, joined, visible, visible_lines
from assay.results import Result, Table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["text"]

PIPED = 160
"""The width where there is no terminal."""

WORDS = (24, 10)
"""Words longer than this may be cut in two to make a table fit; the second if need be."""

GAP = 2
PLAIN = {"": "{}", "good": "{{+{}+}}", "bad": "[-{}-]", "note": "[{}]"}
"""Marks without colour, as wdiff writes them."""

STYLES = {"": "", "good": "green", "bad": "red", "note": "yellow"}


def text(result: Result, *, digits: int = 2, width: int | None = None, color: bool = False) -> str:
    """The result's tables with their notes; `width` is the terminal's, None where there is none.

    Long texts are wrapped. Figures are never cut: where they do not fit, lines grow longer than
    `width`. Without colour, marked words stand in brackets.
    """
    return "\n".join(_table(table, digits, width or PIPED, color) for table in result.tables())


def _table(table: Table, digits: int, width: int, color: bool) -> str:
    from rich.text import Text

    laid = columns(table, digits)
    widths = _widths(laid, width, color)
    console = _console(max(width, sum(widths) + GAP * len(widths)), color)
    if table.title:
        console.print(Text(visible(table.title), style="bold"))
    if laid:
        _print_grid(console, laid, widths, color)
    if not table.rows:
        console.print(Text("(no rows)"))
    for line in visible_lines(table.note):
        console.print(Text(line, style="dim"))
    lines = console.file.getvalue().split("\n")  # type: ignore[attr-defined]
    return "\n".join(line.rstrip(" ") for line in lines)


def _console(width: int, color: bool) -> Console:
    from rich.console import Console

    # Whatever rich would guess is given: nothing but the arguments decides the output.
    return Console(
        file=StringIO(),
        width=width,
        height=1000,
        color_system="standard" if color else None,
        force_terminal=color,
        no_color=not color,
        highlight=False,
        force_jupyter=False,
        legacy_windows=False,
    )


def _print_grid(console: Console, laid: list[Column], widths: list[int], color: bool) -> None:
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False)
    for column, width in zip(laid, widths, strict=True):
        side = "right" if column.numeric else "left"
        grid.add_column(Text(column.name), width=width, justify=side, overflow="fold")  # type: ignore[arg-type]
    for row in zip(*(column.entries for column in laid), strict=True):
        grid.add_row(*(_styled(entry, color) for entry in row))
    console.print(grid)


def _styled(entry: Entry, color: bool) -> Text:
    from rich.text import Text

    styled = Text(style="bold green" if entry.best else "")
    for at, word in enumerate(_words(entry, color)):
        styled.append(" " * bool(at))
        styled.append(word, style=STYLES[entry.spans[at].mark])
    return styled


def _words(entry: Entry, color: bool) -> list[str]:
    return [text if color else PLAIN[mark].format(text) for text, mark in entry.spans]


def _widths(laid: Sequence[Column], width: int, color: bool) -> list[int]:
    """Natural widths, squeezed to fit: first between words, then within long ones."""
    from rich.cells import cell_len

    texts = [[" ".join(_words(entry, color)) for entry in column.entries] for column in laid]
    widths = [
        max(1, *map(cell_len, [column.name, *lines]))
        for column, lines in zip(laid, texts, strict=True)
    ]
    for word in WORDS:
        least = [_least(column, word) for column in laid]
        widths = _squeeze(widths, least, width - GAP * (len(laid) - 1))
    return widths


def _least(column: Column, word: int) -> int:
    """The longest word: all of it if it is a figure, else no more than `word`."""
    from rich.cells import cell_len

    words = [word for entry in column.entries for word in joined(entry).split()]
    names = column.name.split()
    whole, cuttable = (words, names) if column.numeric else ([], words + names)
    longest = min(word, max(map(cell_len, cuttable), default=1))
    return max(1, longest, *map(cell_len, whole))


def _squeeze(widths: list[int], least: list[int], room: int) -> list[int]:
    """The widths, the widest one cut again and again until all fit or none can give."""
    widths = list(widths)
    while sum(widths) > room:
        loose = [at for at, width in enumerate(widths) if width > least[at]]
        if not loose:
            break
        widths[max(loose, key=widths.__getitem__)] -= 1
    return widths
