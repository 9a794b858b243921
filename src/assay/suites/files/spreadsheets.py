"""Items as a table for spreadsheets: one row per rule, or one row per item.

One row per rule is what is written: the cells of the item are repeated on each of its rows (a
person may leave them empty after the first). One row per item is easier to begin with: it has the
columns of items.json, with one token a line inside a cell. Columns that nobody knows are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from assay.data import DataError
from assay.io.files import FilePath, label
from assay.io.tables import TableRow, read_cells, write_cells
from assay.registry import did_you_mean
from assay.suites.files.items import (
    PATTERNS,
    PUBLIC,
    RULE_FIELDS,
    described,
    dump_json,
    fields_of,
    gather,
    head_of,
    name_of,
    parse_json,
    place,
    placed_item,
    rule_of,
)
from assay.suites.model import Item, Suite

__all__ = ["COLUMNS", "is_items_table", "read_items_tsv", "suite_of_rows", "write_items_tsv"]

ITEM = {
    "item": "id",
    "languages": "langpair",
    "category": "category",
    "phenomenon": "phenomenon",
    "source": "source_sentence",
}
"""The columns of an item, and the fields of items.json that they hold."""

RULE = {"rule": "id"} | {key: key for key in RULE_FIELDS[1:]}
"""The columns of a rule, and its fields that they hold."""

COLUMNS = (*ITEM, *RULE)
MORE = ("extra", "suite")
"""Columns of JSON for what has no column of its own: of an item, and of the suite."""

RESERVED = frozenset((*COLUMNS, *PUBLIC, *MORE, "rules", ""))


@dataclass(frozen=True)
class _Draft:
    """What a row says of an item, and of a rule of its; one row per item has no rule."""

    line: int
    fields: dict[str, Any]
    rule: dict[str, str]


def read_items_tsv(path: FilePath) -> Suite:
    """The suite of a table whose header names the columns."""
    return suite_of_rows(path, read_cells(path))


def is_items_table(columns: Sequence[str]) -> bool:
    """Whether a table with these columns is one that `suite_of_rows` reads."""
    plain = {_plain(name) for name in columns}
    fields = {ITEM.get(name, name) for name in plain}
    about = {"id", "category", "phenomenon", "source_sentence"} <= fields
    return about and ({"polarity", "kind", "text"} <= plain or not plain.isdisjoint(PATTERNS))


def suite_of_rows(path: FilePath, table: Sequence[TableRow]) -> Suite:
    """The suite of a table's rows, the header first."""
    header, *rows = table
    columns = _meanings(path, header.cells)
    head: dict[str, Any] = {}
    drafts: dict[str, list[_Draft]] = {}
    for row in rows:
        cells = dict(zip(columns, row.cells, strict=True))
        head = _agreed_head(path, row.line, head, cells.get("suite", ""))
        draft = _Draft(row.line, _fields(path, row, cells), _rule(path, row, cells))
        _check_same_item(path, draft, drafts.setdefault(draft.fields["id"], []))
        drafts[draft.fields["id"]].append(draft)
    placed = [placed_item(path, given[0].line, _whole(given)) for given in drafts.values()]
    extra = {key: value for key, value in head.items() if key != "name"}
    return gather(path, placed, name=name_of(path, head), extra=extra)


def write_items_tsv(path: FilePath, suite: Suite) -> None:
    """Write one row per rule; `read_items_tsv` gives the same suite back."""
    own = _own_columns(suite.items)
    rows = [row for item in suite.items for row in _rows_of(path, item, own)]
    if head := head_of(path, suite):
        rows[0]["suite"] = dump_json(path, head)
    more = [key for key in MORE if any(key in row for row in rows)]
    columns = [*COLUMNS, *own, *more]
    write_cells(path, [columns, *([row.get(column, "") for column in columns] for row in rows)])


def _meanings(path: FilePath, header: Sequence[str]) -> list[str]:
    """What each column holds: a public field, `rule:FIELD`, `own:NAME`, `extra` or `suite`."""
    long = "polarity" in map(_plain, header)
    meanings = [_meaning(name, long=long) for name in header]
    for at, meaning in enumerate(meanings):
        if (first := meanings.index(meaning)) < at:
            raise DataError(
                f"{label(path)}, {place(path, 1)}: the columns {header[first]!r} and "
                f"{header[at]!r} hold the same. Remove one, or rename it."
            )
    if long is any(meaning in PATTERNS for meaning in meanings):
        raise DataError(
            f"{label(path)}, {place(path, 1)}: rules need the columns polarity, kind and text (one "
            f"row per rule) or some of {', '.join(PATTERNS)} (one row per item), not both."
        )
    for column in ("item", "category", "phenomenon", "source", *(("kind", "text") if long else ())):
        if _meaning(column, long=long) not in meanings:
            hint = did_you_mean(column, header)
            raise DataError(f"{label(path)}, {place(path, 1)}: no column is called {column}{hint}.")
    return meanings


def _meaning(name: str, *, long: bool) -> str:
    plain = _plain(name)
    if long and plain in RULE:
        return f"rule:{RULE[plain]}"
    if plain in PUBLIC or plain in MORE:
        return plain
    return ITEM.get(plain, f"own:{name}")


def _plain(name: str) -> str:
    return name.strip().lower()


def _fields(path: FilePath, row: TableRow, cells: dict[str, str]) -> dict[str, Any]:
    """The fields of the item, as items.json has them."""
    own = {key.removeprefix("own:"): cell for key, cell in cells.items() if key[:4] == "own:"}
    if own.pop("", ""):
        raise DataError(
            f"{label(path)}, {place(path, row.line)}: a cell under no name. Name its column."
        )
    public: dict[str, Any] = {key: cell for key, cell in cells.items() if key in PUBLIC}
    public |= {key: _tokens(public[key]) for key in public if key.endswith("_tokens")}
    extra = _object(path, row.line, "extra", cells.get("extra", ""))
    if twice := next((key for key in extra if key in own or key in (*PUBLIC, "rules")), ""):
        raise DataError(
            f"{label(path)}, {place(path, row.line)}: {twice!r} is a column, and in extra too."
        )
    return public | own | extra


def _tokens(cell: str) -> list[str]:
    return [line for line in cell.split("\n") if line.strip()]


def _rule(path: FilePath, row: TableRow, cells: dict[str, str]) -> dict[str, str]:
    """The fields of the row's rule, none where its cells are empty."""
    found = {key[5:]: cell for key, cell in cells.items() if key.startswith("rule:")}
    if not any(found.values()):
        return {}
    fields = {key: cell for key, cell in found.items() if cell or key == "text"}
    try:
        rule_of(fields)
    except DataError as error:
        raise DataError(f"{label(path)}, {place(path, row.line)}: {error}") from None
    return fields


def _check_same_item(path: FilePath, draft: _Draft, before: list[_Draft]) -> None:
    if not before:
        return
    first = before[0]
    where = f"{label(path)}, {place(path, draft.line)}: item {draft.fields['id']}"
    if not (draft.rule and first.rule):
        raise DataError(
            f"{where} stands on {place(path, first.line)} already; every item needs an id of its "
            "own."
        )
    for key, value in draft.fields.items():
        if value and value != first.fields.get(key):
            raise DataError(
                f"{where} has another {key} than on {place(path, first.line)}. Rows of one item "
                "say the same of it; another item needs its own id."
            )


def _whole(drafts: Sequence[_Draft]) -> dict[str, Any]:
    rules = [draft.rule for draft in drafts if draft.rule]
    return drafts[0].fields | ({"rules": rules} if rules else {})


def _agreed_head(path: FilePath, line: int, known: dict[str, Any], cell: str) -> dict[str, Any]:
    """What is known of the suite; the cell holds an object, or just its name."""
    if not cell:
        return known
    head = _object(path, line, "suite", cell) if cell.startswith("{") else {"name": cell}
    if known and head != known:
        raise DataError(f"{label(path)}, {place(path, line)}: another suite than above. Keep one.")
    return head


def _object(path: FilePath, line: int, column: str, cell: str) -> dict[str, Any]:
    value = parse_json(path, cell, line=line, cell=column) if cell else {}
    if not isinstance(value, dict):
        raise DataError(
            f'{label(path)}, {place(path, line)}: {column} must be an object, {{"key": ...}}.'
        )
    return value


def _own_columns(items: Sequence[Item]) -> list[str]:
    """The further fields that every item has, as a text."""
    return [
        key
        for key in items[0].extra
        if _plain(key) not in RESERVED
        and all(isinstance(item.extra.get(key), str) for item in items)
    ]


def _rows_of(path: FilePath, item: Item, own: Sequence[str]) -> Iterator[dict[str, str]]:
    fields = fields_of(item)
    about = {column: fields[key] for column, key in ITEM.items()}
    about |= {key: item.extra[key] for key in own}
    if rest := {key: value for key, value in item.extra.items() if key not in own}:
        about["extra"] = dump_json(path, rest)
    rules = [described(rule) for rule in item.rules]
    for rule in rules or [{}]:
        yield about | {column: rule[key] for column, key in RULE.items() if key in rule}
