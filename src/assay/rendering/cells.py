"""How a table looks to people, whatever the format: safe text, figures with their digits."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal, NamedTuple

from assay.results import FINER, Cell, PValue, Span, Table, Words

__all__ = ["Column", "Entry", "columns", "joined", "visible", "visible_lines"]

UNKNOWN = "–"

PERCENT = 2
"""Decimals of percentages."""

# Control characters, line breaks, bidi overrides, lone surrogates and what XML forbids.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_PERCENTAGE = re.compile(" %(?: |$)")
_FIGURES = frozenset("0123456789 .,;:+-−–±<>=≤≥~%/*()[]")


class Entry(NamedTuple):
    """A cell ready to print: visible text, its number for sorting, whether to set it off."""

    spans: Words
    value: float | None
    best: bool
    strong: bool


@dataclass(frozen=True)
class Column:
    """A table's column ready to print; the entries of numeric ones are set flush right."""

    name: str
    numeric: bool
    entries: tuple[Entry, ...]


def columns(table: Table, digits: int) -> list[Column]:
    """The table's columns, with floats at `digits` decimals unless the table says otherwise.

    `digits` is for scores: percentages, in columns such as `wins %`, always have two.
    """
    cells = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    own = dict.fromkeys(filter(_PERCENTAGE.search, table.columns), PERCENT)
    own |= dict.fromkeys(table.finer, digits + FINER) | dict(table.digits or {})
    return [
        _column(table, at, column, digits=own.get(name, digits))
        for at, (name, column) in enumerate(zip(table.columns, cells, strict=True))
    ]


def joined(entry: Entry) -> str:
    """The entry as plain text, without its marks."""
    return " ".join(span.text for span in entry.spans)


def visible(text: str) -> str:
    r"""The text with control characters, line breaks and lone surrogates written as escapes.

    >>> print(visible("one\ttwo\x1b[31m\u2028"))
    one\ttwo\x1b[31m\u2028
    """
    return _HIDDEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def visible_lines(text: str) -> list[str]:
    """The lines of a note, each of them visible."""
    return [visible(line) for line in text.split("\n")] if text else []


def _column(table: Table, at: int, cells: Sequence[Cell], *, digits: int) -> Column:
    name = table.columns[at]
    shown = [_show(cell, digits) for cell in cells]
    values = [_number(cell) for cell in cells]
    best = _best(shown, values, (table.best or {}).get(name))
    strong = [(row, at) in table.strong for row in range(len(cells))]
    entries = zip(map(_spans, cells, shown), values, best, strong, strict=True)
    numeric = _numeric(cells, first=at == 0)
    return Column(visible(name), numeric, tuple(Entry(*each) for each in entries))


def _number(cell: Cell) -> float | None:
    real = isinstance(cell, Real) and not isinstance(cell, bool)
    return float(cell) if real and not math.isnan(cell) else None  # type: ignore[arg-type]


def _show(cell: Cell, digits: int) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if not isinstance(cell, Real) or isinstance(cell, Integral):
        return visible(str(cell))
    if math.isnan(cell):
        return UNKNOWN
    if isinstance(cell, PValue):
        return str(cell)
    # Decimals of a huge number are noise, and hundreds of digits are no help either.
    return f"{float(cell):z.{digits}{'f' if abs(cell) < 1e15 else 'e'}}"


def _spans(cell: Cell, shown: str) -> Words:
    if isinstance(cell, tuple):
        return tuple(Span(visible(text), mark, visible(remark)) for text, mark, remark in cell)
    return (Span(shown),)


def _best(
    shown: Sequence[str], values: Sequence[float | None], direction: Literal["high", "low"] | None
) -> list[bool]:
    """Which entries print as the best value does; none where there is nothing to choose."""
    known = {value: text for value, text in zip(values, shown, strict=True) if value is not None}
    if direction is None or len(set(known.values())) < 2:
        return [False] * len(shown)
    best = known[max(known) if direction == "high" else min(known)]
    return [v is not None and text == best for v, text in zip(values, shown, strict=True)]


def _numeric(cells: Sequence[Cell], *, first: bool) -> bool:
    """Numbers, or texts such as `[30.1, 32.5]`; but texts in the first column are names."""
    filled = [cell for cell in cells if cell is not None]
    return bool(filled) and all(
        (_figures(cell) and not first) if isinstance(cell, str) else isinstance(cell, Real)
        for cell in filled
    )


def _figures(text: str) -> bool:
    return _FIGURES.issuperset(text)
