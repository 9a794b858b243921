"""How a table looks to people, whatever the format: safe text, figures with their digits."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import NamedTuple

from assay.results import FINER, Cell, CellValue, Column, Direction, Span, Table, Words

__all__ = [
    "ALPHA",
    "PrintedCell",
    "PrintedColumn",
    "decimals",
    "joined",
    "number_of",
    "printed_columns",
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
