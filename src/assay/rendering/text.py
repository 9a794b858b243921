"""How tables look to people, and tables as text: for the terminal, and in GitHub's Markdown."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from numbers import Integral, Real
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from assay.rendering.formats import OutputFormat
from assay.results import (
    FINER,
    STEPS,
    Cell,
    CellValue,
    Column,
    Direction,
    Result,
    Span,
    Table,
    Words,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = [
    "ALPHA",
    "MarkdownFormat",
    "PrintedCell",
    "PrintedColumn",
    "TextFormat",
    "decimals",
    "escape",
    "joined",
    "markdown",
    "number_of",
    "printed_columns",
    "text",
    "visible",
    "visible_lines",
]

ALPHA = 0.05
"""A p below this is significant."""

UNKNOWN = "–"
APPROXIMATE = "~"

PERCENT = 2
"""Decimals of percentages."""

# Control characters, line breaks, bidi overrides, lone surrogates and what XML forbids.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_FIGURES = frozenset("0123456789 .,;:+-−–±<>=≤≥~%/*()[]")


class PrintedCell(NamedTuple):
    """A cell ready to print: visible text, its number for sorting, whether to set it off.

    The text ends in the `mark`. What else is known of a number is for formats with room for it:
    its `interval`, such as `[30.1, 32.5]`, whether it is `significant`, and all in `details`.
    """

    spans: Words
    value: float | None = None
    best: bool = False
    strong: bool = False
    mark: str = ""
    interval: str = ""
    significant: bool = False
    details: str = ""


@dataclass(frozen=True)
class PrintedColumn:
    """A column ready to print; the cells of numeric ones are set flush right."""

    name: str
    numeric: bool
    cells: tuple[PrintedCell, ...]
    paper: bool = True


def printed_columns(table: Table, digits: int) -> list[PrintedColumn]:
    """The table's columns ready to print, with scores at `digits` decimals."""
    cells = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    return [
        _printed_column(table, at, column, own, decimals(column, digits))
        for at, (column, own) in enumerate(zip(table.typed_columns, cells, strict=True))
    ]


def decimals(column: Column, digits: int) -> int:
    """The decimals of a column's numbers, where the reader asks for `digits` of scores."""
    if column.digits is not None:
        return column.digits
    return PERCENT if column.unit == "%" else digits + FINER * column.finer


def joined(cell: PrintedCell) -> str:
    """The cell as plain text, without the marks of its words."""
    return " ".join(span.text for span in cell.spans)


def number_of(cell: CellValue) -> float | None:
    """The number of a cell; None for texts and the unknown.

    >>> number_of(Cell(1.5, low=1.0)), number_of(2), number_of("2"), number_of(math.nan)
    (1.5, 2.0, None, None)
    """
    value = cell.value if isinstance(cell, Cell) else cell
    real = isinstance(value, Real) and not isinstance(value, bool)
    return float(value) if real and not math.isnan(value) else None  # type: ignore[arg-type]


def visible(text: str) -> str:
    r"""The text with control characters, line breaks and lone surrogates written as escapes.

    >>> print(visible("one\ttwo\x1b[31m\u2028"))
    one\ttwo\x1b[31m\u2028
    """
    return _HIDDEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def visible_lines(text: str) -> list[str]:
    """The lines of a note, each of them visible."""
    return [visible(line) for line in text.split("\n")] if text else []


def _printed_column(
    table: Table, at: int, column: Column, cells: Sequence[CellValue], digits: int
) -> PrintedColumn:
    values = [number_of(cell) for cell in cells]
    numbers = [_text(cell, column, digits) for cell in cells]
    best = _best(numbers, values, column.direction)
    printed = tuple(
        _printed_cell(cell, column, digits)._replace(
            value=values[row], best=best[row], strong=(row, at) in table.strong
        )
        for row, cell in enumerate(cells)
    )
    numeric = _numeric(cells, first=at == 0)
    return PrintedColumn(visible(column.heading), numeric, printed, column.paper)


def _printed_cell(cell: CellValue, column: Column, digits: int) -> PrintedCell:
    if isinstance(cell, tuple):
        return PrintedCell(
            tuple(Span(visible(text), mark, visible(remark)) for text, mark, remark in cell)
        )
    text = _text(cell, column, digits)
    if not isinstance(cell, Cell):
        return PrintedCell((Span(text),))
    shown = f"{APPROXIMATE * cell.approximate}{text}{cell.mark}"
    interval = _interval(cell, digits) if column.style == "number" else ""
    return PrintedCell(
        (Span(shown),),
        mark=cell.mark,
        interval=interval,
        significant=cell.p < ALPHA,
        details=_details(cell, interval),
    )


def _text(cell: CellValue, column: Column, digits: int) -> str:
    """The cell in the column's style, without marks."""
    value = cell.value if isinstance(cell, Cell) else cell
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, Real):
        return visible(str(value))
    if isinstance(cell, Cell) and column.style == "interval":
        ends = (cell.low,) if cell.low == cell.high else (cell.low, cell.high)
        return "–".join(_decimal(end, digits) for end in ends)
    if math.isnan(value):
        return UNKNOWN
    if column.style == "p":
        return "<0.0001" if 0 <= value < 0.00005 else f"{value:.4f}"
    if column.style == "signed":
        return f"{value:+z.{digits}f}".replace("-", "−")
    if isinstance(cell, Cell) and column.style == "estimate":
        return f"{_decimal(value, digits)} {_interval(cell, digits)}".rstrip()
    return _decimal(value, digits)


def _decimal(value: float, digits: int) -> str:
    if isinstance(value, Integral):
        return str(value)
    # Decimals of a huge number are noise, and hundreds of digits are no help either.
    return f"{float(value):z.{digits}{'f' if abs(value) < 1e15 else 'e'}}"


def _interval(cell: Cell, digits: int) -> str:
    if math.isnan(cell.low):
        return ""
    return f"[{_decimal(cell.low, digits)}, {_decimal(cell.high, digits)}]"


def _details(cell: Cell, interval: str) -> str:
    """What is known of a number beside itself, in words."""
    p = "" if math.isnan(cell.p) else f"p = {cell.p:.4f}"
    n = "" if cell.n is None else f"n = {cell.n}"
    return ", ".join(filter(None, (interval, p, n)))


def _best(
    shown: Sequence[str], values: Sequence[float | None], direction: Direction | None
) -> list[bool]:
    """Which entries print as the best value does; none where there is nothing to choose."""
    known = {value: text for value, text in zip(values, shown, strict=True) if value is not None}
    if direction is None or len(set(known.values())) < 2:
        return [False] * len(shown)
    best = known[max(known) if direction == "high" else min(known)]
    return [v is not None and text == best for v, text in zip(values, shown, strict=True)]


def _numeric(cells: Sequence[CellValue], *, first: bool) -> bool:
    """Numbers, or texts such as `[30.1, 32.5]`; but texts in the first column are names.

    Numbers with a sign such as × behind some of them are not: set flush left, their decimal
    points stay in line.
    """
    filled = [cell for cell in cells if cell is not None]
    return bool(filled) and all(_is_figure(cell, first=first) for cell in filled)


def _is_figure(cell: CellValue, *, first: bool) -> bool:
    if isinstance(cell, str):
        return not first and _FIGURES.issuperset(cell)
    return _FIGURES.issuperset(cell.mark) if isinstance(cell, Cell) else isinstance(cell, Real)


READABLE = 110
"""Sentences are not set wider than this."""

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
    tables = (_table(table, digits, width or PIPED, color) for table in read_in_order(result))
    return "\n".join([*_summary(result, width or PIPED), *tables])


MOST_PAIRS = 20
"""Of more pairs of systems, those with the first system are printed."""


def read_in_order(result: Result) -> list[Table]:
    """The tables that can be read one after the other.

    Where each pair of systems has a table and there are many, those with the first system stay.
    """
    tables = result.tables()
    pairs = [table for table in tables if "other" in dict(table.choice)]
    if len(pairs) <= MOST_PAIRS:
        return tables
    first = _pair(pairs[0])[0]
    left_out = [id(table) for table in pairs if first not in _pair(table)]
    kept = [table for table in tables if id(table) not in left_out]
    note = (
        f"Here are the pairs with {first}; -o page.html shows any other, and json and tsv have all."
    )
    last = max(at for at, table in enumerate(kept) if "other" in dict(table.choice))
    kept[last] = replace(kept[last], note="\n".join(filter(None, [kept[last].note, note])))
    return kept


def _pair(table: Table) -> list[str]:
    return [value for name, value in table.choice if name in ("system", "other")]


def _summary(result: Result, width: int) -> list[str]:
    """The sentences above the tables, each on lines of its own."""
    sentences = [visible(sentence) for sentence in result.summary()]
    lines = [textwrap.fill(sentence, min(width, READABLE)) for sentence in sentences]
    return ["\n".join(lines) + "\n"] if lines else []


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
    tables = [
        _markdown_table(table, printed_columns(table, digits)) for table in read_in_order(result)
    ]
    sentences = [f"{escape(sentence)}\n" for sentence in result.summary()]
    return "\n".join([*sentences, *tables])


def escape(text: str) -> str:
    r"""The text as Markdown shows it, on one line and within one cell.

    >>> print(escape("a|b *c* <d> @eve"))
    a\|b \*c\* &lt;d&gt; @<!-- -->eve
    """
    safe = re.sub("[&<>]", lambda match: _HTML[match[0]], visible(text))
    return _MENTION.sub("@<!-- -->", _INLINE.sub(r"\\\g<0>", safe))


def _markdown_table(table: Table, laid: Sequence[PrintedColumn]) -> str:
    lines = [f"### {_markdown_line(table.title)}", ""] if table.title else []
    lines.append(_markdown_row(escape(column.name) for column in laid))
    lines.append(_markdown_row("--:" if column.numeric else ":--" for column in laid))
    lines += [
        _markdown_row(map(_markdown_cell, row))
        for row in zip(*(each.cells for each in laid), strict=True)
    ]
    lines += [] if table.rows else ["", "(no rows)"]
    if notes := visible_lines(table.note):
        lines += ["", "\\\n".join(map(_markdown_line, notes))]
    return "\n".join(lines) + "\n"


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cell(entry: PrintedCell) -> str:
    shown = " ".join(PLAIN[span.mark].format(span.text) for span in entry.spans).strip()
    return f"**{escape(shown)}**" if shown and (entry.best or entry.strong) else escape(shown)


def _markdown_line(text: str) -> str:
    """Text at the start of a line, where a number, a dash or # would begin something else."""
    return _BLOCK.sub(
        lambda m: f"{m[1]}{m[2]}\\" if m[2].isdigit() else f"{m[1]}\\{m[2]}", escape(text)
    )
