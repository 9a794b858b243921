"""The rules of a suite brought into the database, beside those of people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from assay.suite.model import Item, Polarity, Rule, rule_id
from assay.suite.store.tables import rules
from assay.suite.store.texts import batches

__all__ = ["free_name", "rule_row", "save_rules"]

Row = dict[str, Any]


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


def rule_row(rule: Rule, item: int, position: int) -> Row:
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


def _make_way(stored: dict[str, Row], wanted: Mapping[str, Row]) -> list[Row]:
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


def _same(row: Row, other: Row) -> bool:
    return all(row[key] == other[key] for key in ("item_id", "polarity", "kind", "text"))


def _behind(
    stored: Mapping[str, Row], wanted: Mapping[str, Row], by_id: Mapping[int, Item]
) -> list[Row]:
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


def _differs(stored: Mapping[str, Row], row: Row) -> bool:
    before = stored.get(row["name"])
    return before is not None and any(before[key] != value for key, value in row.items())


def _updated(before: Row, row: Row) -> Row:
    # A rule that was taken back, and that the suite has again, is the suite's.
    return {**before, **row, "change_id": None if before["retired"] else before["change_id"]}


def _delete(connection: Connection, rows: list[Row]) -> None:
    for batch in batches(row["id"] for row in rows):
        connection.execute(delete(rules).where(rules.c.id.in_(batch)))


def _update(connection: Connection, rows: list[Row]) -> None:
    changed = [
        {"which": row["id"], **{key: row[key] for key in row if key != "id"}} for row in rows
    ]
    if changed:
        connection.execute(update(rules).where(rules.c.id == bindparam("which")), changed)
