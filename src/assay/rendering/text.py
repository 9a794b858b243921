"""Tables for the terminal: aligned, coloured on request, never cutting a figure."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Sequence
from io import StringIO
from typing import TYPE_CHECKING, ClassVar

from assay.rendering.cells import (
    PrintedCell,
    PrintedColumn,
    printed_columns,
    visible,
    visible_lines,
)
from assay.rendering.formats import OutputFormat
from assay.results import STEPS, Result, Table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["TextFormat", "text"]

PIPED = 160
"""The width where there is no terminal."""

WORDS = (24, 10)
"""Words longer than this may be cut in two to make a table fit; the second if need be."""

GAP = 2
PLAIN = {"": "{}", "good": "{{+{}+}}", "bad": "[-{}-]", "note": "[{}]"}
PLAIN |= {f"good-{step}": f"{{}}{{{{+{step}}}}}" for step in range(1, STEPS + 1)}
PLAIN |= {f"bad-{step}": f"{{}}[-{step}]" for step in range(1, STEPS + 1)}
"""Marks without colour, as wdiff writes them; degrees stand behind the word: `cat{+3} dog[-1]`."""

GREENS, REDS = (151, 114, 77, 40), (217, 210, 203, 196)
"""Degrees in the palette of 256: less and less pale, as the paper may be light or dark."""

STYLES = {"": "", "good": "green", "bad": "red", "note": "yellow"}
STYLES |= {f"good-{step}": f"black on color({color})" for step, color in enumerate(GREENS, 1)}
STYLES |= {
    f"bad-{step}": f"underline black on color({color})" for step, color in enumerate(REDS, 1)
}
SHADED = "cyan"
"""Rows set off on a terminal, whose paper may be light or dark."""

STRONG = "*"
"""Bold without colour: in front, so that decimal points stay in line."""


class TextFormat(OutputFormat):
    """The tables as a terminal shows them."""

    name: ClassVar[str] = "text"
    endings: ClassVar[tuple[str, ...]] = (".txt",)

    def render(self, result: Result, *, digits: int = 2) -> str:
        """The tables as a terminal shows them."""
        return text(result, digits=digits)


def text(result: Result, *, digits: int = 2, width: int | None = None, color: bool = False) -> str:
    """The result's tables with their notes; `width` is the terminal's, None where there is none.

    Long texts are wrapped. Figures are never cut: where they do not fit, lines grow longer than
    `width`; a table with `keys` comes in parts instead. Without colour, marked words stand in
    brackets and strong cells behind a star.
    """
    return "\n".join(_table(table, digits, width or PIPED, color) for table in result.tables())


def _table(table: Table, digits: int, width: int, color: bool) -> str:
    from rich.text import Text

    parts = _parts(printed_columns(table, digits), table.keys, width, color)
    widths = [_widths(part, width, color) for part in parts]
    console = _console(max(width, *(sum(each) + GAP * len(each) for each in widths)), color)
    if table.title:
        console.print(Text(visible(table.title), style="bold"))
    for part, wide in zip(parts, widths, strict=True):
        if part:
            _print_grid(console, part, wide, color, table.shaded)
        if part is not parts[-1]:
            console.print()
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
        color_system="256" if color else None,
        force_terminal=color,
        no_color=not color,
        highlight=False,
        force_jupyter=False,
        legacy_windows=False,
    )


def _print_grid(
    console: Console,
    laid: Sequence[PrintedColumn],
    widths: Sequence[int],
    color: bool,
    shaded: Collection[int],
) -> None:
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False)
    for column, width in zip(laid, widths, strict=True):
        side = "right" if column.numeric else "left"
        heading = Text("\n".join(_wrapped(column.name, width)))
        grid.add_column(heading, width=width, justify=side, overflow="fold")  # type: ignore[arg-type]
    for at, row in enumerate(zip(*(column.cells for column in laid), strict=True)):
        style = SHADED if at in shaded else ""
        grid.add_row(*(_styled(entry, color) for entry in row), style=style)
    console.print(grid)


def _styled(entry: PrintedCell, color: bool) -> Text:
    from rich.text import Text

    styled = Text(style="bold green" if entry.best else "bold" if entry.strong else "")
    for at, word in enumerate(_words(entry, color)):
        styled.append(" " * bool(at))
        styled.append(word, style=STYLES[entry.spans[at].mark])
    return styled


def _words(entry: PrintedCell, color: bool) -> list[str]:
    if color or not entry.spans:
        return [span.text for span in entry.spans]
    first, *rest = [PLAIN[span.mark].format(span.text) for span in entry.spans]
    return [STRONG * entry.strong + first, *rest]


def _wrapped(name: str, width: int) -> list[str]:
    """The lines of a heading: whole words, cut at hyphens if need be."""
    return textwrap.wrap(name, width, break_long_words=False) or [name]


def _parts(
    laid: list[PrintedColumn], keys: int, width: int, color: bool
) -> list[list[PrintedColumn]]:
    """The columns, in several parts where there are keys and too little room for all."""
    head, rest = laid[:keys], laid[keys:]
    room = width - sum(min(_natural(each, color), width // 3) + GAP for each in head)
    needs = [_least(each, WORDS[-1], color) + GAP for each in rest]
    if not keys or sum(needs) - GAP <= room:
        return [laid]
    sizes = _filled(needs, room + GAP)
    even = math.ceil(len(rest) / len(sizes))
    starts = range(0, len(rest), even)
    if all(sum(needs[at : at + even]) - GAP <= room for at in starts):
        return [head + rest[at : at + even] for at in starts]
    ends = [sum(sizes[: at + 1]) for at in range(len(sizes))]
    return [head + rest[end - size : end] for end, size in zip(ends, sizes, strict=True)]


def _filled(needs: Sequence[int], room: int) -> list[int]:
    """How many go into each part, one after the other, at least one each."""
    sizes, used = [0], 0
    for need in needs:
        if sizes[-1] and used + need > room:
            sizes, used = [*sizes, 0], 0
        sizes[-1] += 1
        used += need
    return sizes


def _natural(column: PrintedColumn, color: bool) -> int:
    from rich.cells import cell_len

    texts = [" ".join(_words(entry, color)) for entry in column.cells]
    return max(1, *map(cell_len, [column.name, *texts]))


def _widths(laid: Sequence[PrintedColumn], width: int, color: bool) -> list[int]:
    """Natural widths, squeezed to fit: first between words, then within long ones."""
    widths = [_natural(column, color) for column in laid]
    for word in WORDS:
        least = [_least(column, word, color) for column in laid]
        widths = _squeeze(widths, least, width - GAP * (len(laid) - 1))
    return widths


def _least(column: PrintedColumn, word: int, color: bool) -> int:
    """The longest word: all of it if it is a figure, else no more than `word`."""
    from rich.cells import cell_len

    texts = [" ".join(_words(entry, color)) for entry in column.cells]
    words = [word for text in texts for word in text.split()]
    names = _wrapped(column.name, 1)
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
