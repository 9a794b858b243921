"""Items and their rules, read from the database."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator
from types import MappingProxyType
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, select

from assay.suite.model import Item, Rule
from assay.suite.store.tables import items, rules
from assay.suite.store.texts import batches

__all__ = ["load_items"]


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
