"""Tables that people keep items in, and what each of their columns holds."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from assay.data import DataError
from assay.io.files import FilePath, label, read_lines, read_text, suffix
from assay.io.tables import TableRow, read_any_cells
from assay.registry import did_you_mean
from assay.suites.files.items import lines_of_list, name_of, parse_json
from assay.suites.model import Kind, Polarity

__all__ = [
    "GROUPS",
    "ROLES",
    "RULES",
    "ColumnRole",
    "ItemTable",
    "guess_roles",
    "is_tq_autotest",
    "looks_like_regex",
    "named_roles",
    "read_item_table",
    "role_named",
]

ColumnRole = Literal[
    "source",
    "id",
    "category",
    "phenomenon",
    "languages",
    "positive_regex",
    "negative_regex",
    "positive_fixed",
    "negative_fixed",
    "keep",
    "ignore",
]
"""What a column holds. `keep`: a further field of the item, under the column's name."""

ROLES: tuple[ColumnRole, ...] = get_args(ColumnRole)

RULES: Mapping[ColumnRole, tuple[Polarity, Kind]] = {
    "positive_regex": ("positive", "regex"),
    "negative_regex": ("negative", "regex"),
    "positive_fixed": ("positive", "fixed"),
    "negative_fixed": ("negative", "fixed"),
}
"""Several columns may hold rules of one kind; all other roles but the last two belong to one."""

GROUPS: tuple[ColumnRole, ...] = ("category", "phenomenon")


class ItemTable(NamedTuple):
    """A table that somebody keeps items in; every row has one cell per column.

    `header` is the number of the row that names the columns.
    """

    path: FilePath
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    name: str = ""
    header: int = 1


MOST_CELLS = 10_000_000
"""Cells that a table of items may have; a few bytes can stand for very many."""


def read_item_table(path: FilePath) -> ItemTable:
    """The table of a workbook (.xlsx), of .json or .jsonl, or of a text file (.csv, .tsv, .txt).

    Texts have tabs, semicolons or commas between the cells, whichever the header has, in this
    order. Rows of one cell above the names of at least three columns are titles, and left out.
    Objects of JSON have their keys for columns, with lists one element a line.
    """
    if suffix(path) in (".json", ".jsonl"):
        return _table_of_objects(path)
    rows = _below_titles(read_any_cells(path))
    if len(rows) < 2:
        raise DataError(
            f"{label(path)} has no items: the first row names the columns, each further row is "
            "an item."
        )
    return _even(path, rows)


def named_roles(table: ItemTable, chosen: Sequence[str]) -> tuple[ColumnRole, ...]:
    """The roles of all columns, from texts like "source=German"; other columns are kept.

    A name that several columns have speaks of all of them.
    """
    roles: dict[int, ColumnRole] = {}
    for text in chosen:
        given, sign, column = text.partition("=")
        role = next((role for role in ROLES if role == given.strip()), None)
        if not sign or role is None:
            hint = did_you_mean(given, ROLES)
            raise DataError(
                f"{text!r} does not say what a column holds{hint}: write WHAT=COLUMN, where WHAT "
                f"is one of {', '.join(ROLES)}."
            )
        for place in _places(table, column):
            if roles.setdefault(place, role) != role:
                raise DataError(f"column {column.strip()!r} cannot be {roles[place]} and {role}.")
    return tuple(roles.get(place, "keep") for place in range(len(table.columns)))


def guess_roles(table: ItemTable) -> tuple[ColumnRole, ...]:
    """What each column seems to hold, by its name and its cells."""
    if is_tq_autotest(table.columns):
        return _tq_autotest_roles(table.columns)
    roles: list[ColumnRole] = []
    for place, name in enumerate(table.columns):
        role = _guess(name, [row.cells[place] for row in table.rows])
        single = role not in (*RULES, "keep", "ignore")
        roles.append("keep" if single and role in roles else role)
    if "source" not in roles:
        free = [place for place, role in enumerate(roles) if role == "keep"]
        longest = max(free, key=lambda place: _length(table, place), default=None)
        if longest is not None:
            roles[longest] = "source"
    return tuple(roles)


def role_named(name: str) -> ColumnRole | None:
    """What a column of this name holds about items, if its name alone tells."""
    plain = _plain(name)
    return next((role for role, names in _NAMES.items() if plain in names), None)


def looks_like_regex(text: str) -> bool:
    """Whether somebody who wrote this as a rule seems to have meant a regular expression.

    >>> looks_like_regex("(start|begin)s?"), looks_like_regex("What now?")
    (True, False)
    """
    return _LOOKS_LIKE_REGEX.search(text) is not None


TQ_AUTOTEST = ("direction", "category", "phenomenon", "source")


def is_tq_autotest(columns: Sequence[str]) -> bool:
    """Whether these are the columns of TQ-AutoTest's own files: whole sentences as rules.

    >>> is_tq_autotest(["direction", "category", "phenomenon", "source", "correct", "incorrect"])
    True
    """
    plain = [_plain(name) for name in columns]
    rest = [name.rstrip("0123456789") for name in plain[4:]]
    return (
        tuple(plain[:4]) == TQ_AUTOTEST
        and "correct" in (name.removesuffix("translation") for name in rest)
        and {name.removesuffix("translation") for name in rest} <= {"correct", "incorrect"}
    )


def _tq_autotest_roles(columns: Sequence[str]) -> tuple[ColumnRole, ...]:
    wrong = [_plain(name).startswith("incorrect") for name in columns[4:]]
    rules: list[ColumnRole] = ["negative_fixed" if each else "positive_fixed" for each in wrong]
    return ("languages", "category", "phenomenon", "source", *rules)


def _table_of_objects(path: FilePath) -> ItemTable:
    name, objects = _objects(path)
    columns = tuple(dict.fromkeys(key for row, values in objects for key in values))
    if not columns:
        raise DataError(f"{label(path)} has no items; each is one object with its fields.")
    rows = [TableRow(row, [_cell(values.get(key)) for key in columns]) for row, values in objects]
    return ItemTable(path, columns, tuple(rows), name)


def _objects(path: FilePath) -> tuple[str, list[tuple[int, dict[str, Any]]]]:
    """The name of a suite, and its objects with the lines where they begin."""
    name = ""
    if suffix(path) == ".jsonl":
        lines = [(at, line) for at, line in enumerate(read_lines(path), 1) if line.strip()]
        values = [(at, parse_json(path, line, line=at)) for at, line in lines]
        if values and list(values[0][1]) == ["suite"]:
            name = name_of(path, values.pop(0)[1]["suite"])
    else:
        text = read_text(path)
        whole = parse_json(path, text)
        if isinstance(whole, dict) and isinstance(whole.get("items"), list):
            name, places = name_of(path, whole), lines_of_list(text, "items")
            values = list(zip(places, whole["items"], strict=True))
        else:
            values = list(enumerate(whole, 1)) if isinstance(whole, list) else [(1, whole)]
    for row, value in values:
        if not isinstance(value, dict):
            raise DataError(
                f'{label(path)}, row {row}: not an item; each is one object: {{"source": ...}}.'
            )
    return name, values


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _below_titles(rows: list[TableRow]) -> list[TableRow]:
    filled = [sum(1 for cell in row.cells if cell.strip()) for row in rows]
    header = next((at for at, cells in enumerate(filled) if cells > 1), 0)
    return rows[header:] if header and filled[header] > 2 else rows


def _even(path: FilePath, rows: Sequence[TableRow]) -> ItemTable:
    """The table with cells for every column; columns without a name and a cell are left out."""
    used = sorted({at for row in rows for at, cell in enumerate(row.cells) if cell.strip()})
    if len(used) * len(rows) > MOST_CELLS:
        raise DataError(
            f"{label(path)}: {len(rows):,} rows of {len(used):,} columns are no table of items. "
            "Is this the right file?"
        )
    header, *body = (TableRow(row.line, [_cell_at(row, at) for at in used]) for row in rows)
    names = zip(header.cells, used, strict=True)
    columns = [name.strip() or f"column {at + 1}" for name, at in names]
    return ItemTable(path, tuple(columns), tuple(body), header=header.line)


def _cell_at(row: TableRow, place: int) -> str:
    return row.cells[place] if place < len(row.cells) else ""


def _places(table: ItemTable, column: str) -> list[int]:
    wanted = column.strip().lower()
    found = [at for at, name in enumerate(table.columns) if name.strip().lower() == wanted]
    if not found:
        columns = ", ".join(dict.fromkeys(table.columns))[:300]
        raise DataError(
            f"{label(table.path)}: no column is called {column.strip()!r}"
            f"{did_you_mean(column, table.columns)}. Columns: {columns}."
        )
    return found


_NAMES: Mapping[ColumnRole, frozenset[str]] = {
    "id": frozenset({"id", "itemid", "item", "no", "nr", "number", "key", "ident", "identifier"}),
    "source": frozenset(
        {"source", "sourcesentence", "src", "sentence", "sourcetext", "text", "input"}
        | {"satz", "quelle", "quellsatz", "quelltext", "ausgangssatz"}
    ),
    "category": frozenset({"category", "kategorie", "class", "group", "gruppe", "area"}),
    "phenomenon": frozenset(
        {"phenomenon", "phänomen", "phaenomen", "topic", "thema"}
        | {"subcategory", "feature", "phenomena"}
    ),
    "languages": frozenset(
        {"languages", "langpair", "language", "languagepair", "direction", "lang", "langs", "lp"}
    ),
    "ignore": frozenset({"rules"}),
}
_WRONG = ("incorrect", "negative", "neg", "wrong", "bad", "fail", "false", "falsch", "error")
_RIGHT = ("correct", "positive", "pos", "right", "good", "pass", "richtig", "expected")
_LOOKS_LIKE_REGEX = re.compile(r"\\[bwdsBWDS]|\(\?|\([^()]*\|[^()]*\)|\[[^\]]+\]|\.[*+]|\w\|\w")


def _guess(name: str, cells: Sequence[str]) -> ColumnRole:
    plain = _plain(name)
    if role := role_named(name):
        return role
    wrong = any(word in plain for word in _WRONG)
    if not wrong and not any(word in plain for word in _RIGHT) and "regex" not in plain:
        return "keep"
    filled = [cell for cell in cells if cell.strip()]
    looks = sum(map(looks_like_regex, filled))
    named = any(word in plain for word in ("regex", "pattern", "expression"))
    is_regex = named or (looks > 0.2 * len(filled) and "token" not in plain)
    if is_regex:
        return "negative_regex" if wrong else "positive_regex"
    return "negative_fixed" if wrong else "positive_fixed"


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower())


def _length(table: ItemTable, place: int) -> int:
    return sum(len(row.cells[place]) for row in table.rows)
