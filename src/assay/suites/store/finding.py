"""Lists of outputs: those that pass the filters, and those on which people disagree."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select

from assay.suites.model import Item
from assay.suites.store.filters import conditions
from assay.suites.store.queue import case, stored_outputs
from assay.suites.store.records import Case, Filters, StoredOutput
from assay.suites.store.suites import load_items
from assay.suites.store.tables import items, outputs

__all__ = ["disputed_cases", "find"]


def find(
    connection: Connection, filters: Filters, *, offset: int = 0, limit: int = 50
) -> tuple[list[tuple[Item, StoredOutput]], int]:
    """The outputs that pass the filters, in the order of items, and how many there are."""
    wanted = conditions(connection, filters)
    counted = select(func.count()).select_from(_JOINED).where(*wanted)
    rows = connection.execute(_in_order(*wanted).offset(offset).limit(limit)).all()
    known = load_items(connection, {row.item_id for row in rows})
    found = stored_outputs(connection, [row.id for row in rows])
    pairs = [(known[row.item_id], output) for row, output in zip(rows, found, strict=True)]
    return pairs, connection.execute(counted).scalar_one()


def disputed_cases(connection: Connection, *, offset: int = 0, limit: int = 50) -> list[Case]:
    """Outputs on which people disagree and nobody has adjudicated, in the order of items."""
    asked = _in_order(outputs.c.disputed, outputs.c.verdict == "warning")
    rows = connection.execute(asked.offset(offset).limit(limit)).all()
    return [case(connection, row.id) for row in rows]


_JOINED = items.join(outputs, outputs.c.item_id == items.c.id)


def _in_order(*wanted: ColumnElement[bool]) -> Select[Any]:
    return (
        select(items.c.position, outputs.c.id, outputs.c.item_id)
        .select_from(_JOINED)
        .where(*wanted)
        .order_by(items.c.position, outputs.c.id)
    )
