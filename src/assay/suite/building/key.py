"""The key of a text that went out for translation: which line is which item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from assay.data import DataError
from assay.io.files import FilePath, label
from assay.io.tables import read_table, whole_number, write_table

__all__ = ["COLUMNS", "KeyLine", "items_in", "read_key", "write_key"]

COLUMNS = ("line", "item", "source")


class KeyLine(NamedTuple):
    """A line of the text, counting from 1; `item` is "" where it only distracts."""

    line: int
    item: str
    source: str


def items_in(key: Sequence[KeyLine]) -> list[KeyLine]:
    """The lines that are items."""
    return [each for each in key if each.item]


def write_key(path: FilePath, key: Sequence[KeyLine]) -> None:
    """Write a key as a table; `read_key` gives it back."""
    write_table(path, COLUMNS, [(str(line), item, source) for line, item, source in key])


def read_key(path: FilePath) -> tuple[KeyLine, ...]:
    """The lines of a key, in order; every line from the first to the last must be there once."""
    table = read_table(path)
    columns = (table.column(name) for name in COLUMNS)
    lines: dict[int, int] = {}
    items: dict[str, int] = {}
    key = []
    for row, number, item, source in zip(table.rows, *columns, strict=True):
        line = whole_number(path, row.line, number.strip())
        _refuse_twice(path, row.line, f"line {line}", lines.setdefault(line, row.line))
        if item.strip():
            first = items.setdefault(item.strip(), row.line)
            _refuse_twice(path, row.line, f"item {item.strip()}", first)
        key.append(KeyLine(line, item.strip(), source))
    missing = next((line for line in range(1, len(key) + 1) if line not in lines), None)
    if missing is not None:
        raise DataError(f"{label(path)}: line {missing} of the text is missing from this key.")
    if not items:
        raise DataError(f"{label(path)}: no line is an item. Is it a key of assay suite sample?")
    return tuple(sorted(key))


def _refuse_twice(path: FilePath, line: int, what: str, first: int) -> None:
    if first != line:
        raise DataError(
            f"{label(path)}, line {line}: {what} stands on line {first} of this key already. "
            "Use the key as assay suite sample wrote it."
        )
