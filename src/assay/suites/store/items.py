"""Items and their rules in and out of the database."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    bindparam,
    delete,
    insert,
    select,
    update,
)

from assay.suites.model import Item, Polarity, Rule, rule_id
from assay.suites.store.tables import (
    batches,
    items,
    rules,
)

__all__ = ["free_name", "load_items", "rule_row", "save_rules"]


def load_items(connection: Connection, ids: Collection[int] | None = None) -> dict[int, Item]:
    """Items by their numbers in the database, all of them or these, in their order.

    Rules that were taken back are left out.
    """
    known = defaultdict(list)
    for row in _rows(connection, _RULES.order_by(rules.c.position), rules.c.item_id, ids):
        known[row.item_id].append(_rule(row))
    rows = _rows(connection, select(items), items.c.id, ids)
    return {
        row.id: _item(row, tuple(known[row.id]))
        for row in sorted(rows, key=lambda row: (row.position, row.id))
    }


_RULES = select(rules).where(~rules.c.retired)


def _rows(
    connection: Connection,
    asked: Select[Any],
    column: ColumnElement[int],
    ids: Collection[int] | None,
) -> Iterator[Row[Any]]:
    if ids is None:
        yield from connection.execute(asked)
        return
    for batch in batches(ids):
        yield from connection.execute(asked.where(column.in_(batch)))


def _rule(row: Row[Any]) -> Rule:
    return Rule(
        id=row.name,
        polarity=row.polarity,
        kind=row.kind,
        text=row.text,
        author=row.author,
        time=row.time,
        provenance=row.provenance,
    )


def _item(row: Row[Any], known: tuple[Rule, ...]) -> Item:
    return Item(
        id=row.name,
        languages=row.languages,
        category=row.category,
        phenomenon=row.phenomenon,
        source=row.source,
        rules=known,
        extra=MappingProxyType(json.loads(row.extra)),
    )


RuleRow = dict[str, Any]


def save_rules(connection: Connection, by_id: Mapping[int, Item]) -> set[int]:
    """Give the items their rules; the numbers of the items whose rules have changed.

    A rule that a person added stays, whatever the suite says; one that came from a suite and is
    no longer in it goes.
    """
    stored = {row["name"]: dict(row) for row in connection.execute(select(rules)).mappings()}
    wanted = {
        rule.id: rule_row(rule, id_, position)
        for id_, item in by_id.items()
        for position, rule in enumerate(item.rules)
    }
    renamed = _make_way(stored, wanted)
    gone = [
        row
        for row in stored.values()
        if row["item_id"] in by_id and row["name"] not in wanted and row["change_id"] is None
    ]
    moved = [*renamed, *_behind(stored, wanted, by_id)]
    changed = [
        _updated(stored[row["name"]], row) for row in wanted.values() if _differs(stored, row)
    ]
    new = [row for name, row in wanted.items() if name not in stored]
    touched = {stored[row["name"]]["item_id"] for row in changed}
    _delete(connection, gone)
    _update(connection, [*moved, *changed])
    if new:
        connection.execute(insert(rules), new)
    return touched | {row["item_id"] for row in [*gone, *renamed, *changed, *new]}


def rule_row(rule: Rule, item: int, position: int) -> RuleRow:
    """A rule as the table has it."""
    return {
        "name": rule.id,
        "item_id": item,
        "position": position,
        "polarity": rule.polarity,
        "kind": rule.kind,
        "text": rule.text,
        "author": rule.author,
        "time": rule.time,
        "provenance": rule.provenance,
        "retired": False,
    }


def free_name(item: str, polarity: Polarity, taken: Collection[str]) -> str:
    """The first name of a rule that is not taken."""
    number = 1
    while (name := rule_id(item, polarity, number)) in taken:
        number += 1
    return name


def _make_way(stored: dict[str, RuleRow], wanted: Mapping[str, RuleRow]) -> list[RuleRow]:
    """Rename people's rules whose names the suite uses for something else."""
    renamed = []
    for name in [name for name in stored if name in wanted]:
        row = stored[name]
        if row["change_id"] is None or _same(row, wanted[name]):
            continue
        del stored[name]
        taken = stored.keys() | wanted.keys()
        base = name.rstrip("0123456789").rstrip("+-")
        row["name"] = free_name(base or name, row["polarity"], taken)
        stored[row["name"]] = row
        renamed.append(row)
    return renamed


def _same(row: RuleRow, other: RuleRow) -> bool:
    return all(row[key] == other[key] for key in ("item_id", "polarity", "kind", "text"))


def _behind(
    stored: Mapping[str, RuleRow], wanted: Mapping[str, RuleRow], by_id: Mapping[int, Item]
) -> list[RuleRow]:
    """People's rules that the suite does not have, moved behind those that it has."""
    kept = defaultdict(list)
    for name, row in stored.items():
        if row["item_id"] in by_id and name not in wanted and row["change_id"] is not None:
            kept[row["item_id"]].append(row)
    moved = []
    for item, rows in kept.items():
        start = len(by_id[item].rules)
        for position, row in enumerate(sorted(rows, key=lambda row: row["position"]), start):
            if row["position"] != position:
                row["position"] = position
                moved.append(row)
    return moved


def _differs(stored: Mapping[str, RuleRow], row: RuleRow) -> bool:
    before = stored.get(row["name"])
    return before is not None and any(before[key] != value for key, value in row.items())


def _updated(before: RuleRow, row: RuleRow) -> RuleRow:
    # A rule that was taken back, and that the suite has again, is the suite's.
    return {**before, **row, "change_id": None if before["retired"] else before["change_id"]}


def _delete(connection: Connection, rows: list[RuleRow]) -> None:
    for batch in batches(row["id"] for row in rows):
        connection.execute(delete(rules).where(rules.c.id.in_(batch)))


def _update(connection: Connection, rows: list[RuleRow]) -> None:
    changed = [
        {"which": row["id"], **{key: row[key] for key in row if key != "id"}} for row in rows
    ]
    if changed:
        connection.execute(update(rules).where(rules.c.id == bindparam("which")), changed)
