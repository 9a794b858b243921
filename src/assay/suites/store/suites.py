"""A suite in and out of the database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from assay.suites.model import Item, Suite
from assay.suites.store.items import load_items, save_rules
from assay.suites.store.opening import open_store
from assay.suites.store.records import SavedSuite
from assay.suites.store.runs import recheck
from assay.suites.store.tables import (
    check_text,
    facts,
    items,
    pairs,
)

__all__ = ["load_suite", "read_stored_suite", "save_suite"]


def save_suite(connection: Connection, suite: Suite) -> SavedSuite:
    """Add the items of a suite to the database, and update those that it has.

    Decisions stay, and so do rules that people added in the page, behind those of the suite, and
    items that the suite does not have, behind the others. Outputs whose rules have changed are
    judged anew.
    """
    for item in suite.items:
        _check_item(item)
    _save_facts(connection, suite)
    added, changed = _save_items(connection, suite)
    ids = _ids(connection)
    touched = save_rules(connection, {ids[item.id]: item for item in suite.items})
    rechecked = recheck(connection, touched) if touched else 0
    names = {name for name, id_ in ids.items() if id_ in touched}
    return SavedSuite(len(added), len((changed | names) - added), rechecked)


def read_stored_suite(where: str | Path) -> Suite:
    """The suite of a database, with the rules that people added."""
    with closing(open_store(where)) as store, store.read() as connection:
        return load_suite(connection)


def load_suite(connection: Connection) -> Suite:
    """The suite as it stands now, with the rules that people added."""
    known = pairs(connection, select(facts.c.name, facts.c.value))
    return Suite(
        items=tuple(load_items(connection).values()),
        name=known.get("name", ""),
        extra=MappingProxyType(json.loads(known.get("extra", "{}"))),
    )


def _save_facts(connection: Connection, suite: Suite) -> None:
    check_text(suite.name, "the name of the suite")
    connection.execute(delete(facts).where(facts.c.name.in_(["name", "extra"])))
    told = {"name": suite.name, "extra": _json(suite.extra)}
    connection.execute(insert(facts), [{"name": key, "value": told[key]} for key in told])


def _save_items(connection: Connection, suite: Suite) -> tuple[set[str], set[str]]:
    """Write the items; the names of those that are new, and of those that differ."""
    stored = {row["name"]: dict(row) for row in connection.execute(select(items)).mappings()}
    new, changed = [], []
    _move_back(connection, set(stored) - set(suite.by_id), len(suite))
    for position, item in enumerate(suite.items):
        wanted = _row(item, position)
        if item.id not in stored:
            new.append(wanted)
        elif any(stored[item.id][key] != value for key, value in wanted.items()):
            changed.append({"which": stored[item.id]["id"], **wanted})
    if new:
        connection.execute(insert(items), new)
    if changed:
        connection.execute(update(items).where(items.c.id == bindparam("which")), changed)
    return {row["name"] for row in new}, {row["name"] for row in changed}


def _move_back(connection: Connection, names: set[str], length: int) -> None:
    """Let items stand behind the first `length` positions, in their order."""
    asked = select(items.c.id, items.c.name).order_by(items.c.position, items.c.id)
    left = [id_ for id_, name in connection.execute(asked) if name in names]
    moved = [{"which": id_, "position": length + at} for at, id_ in enumerate(left)]
    if moved:
        connection.execute(update(items).where(items.c.id == bindparam("which")), moved)


def _row(item: Item, position: int) -> dict[str, Any]:
    return {
        "name": item.id,
        "position": position,
        "languages": item.languages,
        "category": item.category,
        "phenomenon": item.phenomenon,
        "source": item.source,
        "extra": _json(item.extra),
    }


def _ids(connection: Connection) -> dict[str, int]:
    return pairs(connection, select(items.c.name, items.c.id))


def _check_item(item: Item) -> None:
    for text in (item.id, item.languages, item.category, item.phenomenon, item.source):
        check_text(text, f"item {item.id!r}")
    for rule in item.rules:
        for text in (rule.id, rule.text, rule.author, rule.time, rule.provenance):
            check_text(text, f"rule {rule.id!r}")


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(dict(value))
