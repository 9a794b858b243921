"""Lists of outputs: those that pass the filters, and those on which people disagree."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select

from assay.suites.model import Item
from assay.suites.store.blind import hidden_from, masked
from assay.suites.store.filters import JOINED, conditions
from assay.suites.store.queue import case, stored_outputs
from assay.suites.store.records import Case, Filters, StoredOutput
from assay.suites.store.suites import load_items
from assay.suites.store.tables import answers, items, outputs

__all__ = ["disputed_cases", "find", "next_listed"]


def find(
    connection: Connection,
    filters: Filters,
    *,
    person: int | None = None,
    offset: int = 0,
    limit: int = 50,
) -> tuple[list[tuple[Item, StoredOutput]], int]:
    """The outputs that pass the filters, and how many there are, as a `person` may see them.

    They come in the order of items, or as `filters.sort` says.
    """
    wanted = conditions(connection, filters, hidden=hidden_from(connection, person), person=person)
    counted = select(func.count()).select_from(JOINED).where(*wanted)
    order = _in_order(*wanted, by_systems=filters.sort == "systems")
    rows = connection.execute(order.offset(offset).limit(limit)).all()
    known = load_items(connection, {row.item_id for row in rows})
    found = masked(connection, stored_outputs(connection, [row.id for row in rows]), person)
    pairs = [(known[row.item_id], output) for row, output in zip(rows, found, strict=True)]
    return pairs, connection.execute(counted).scalar_one()


def next_listed(
    connection: Connection, filters: Filters, after: int, *, person: int | None = None
) -> int | None:
    """The output that follows another one in the list of those that pass the filters.

    The other one need not pass them any more.
    """
    place = select(items.c.position, _SYSTEMS.label("systems")).select_from(JOINED)
    row = connection.execute(place.where(outputs.c.id == after)).first()
    if row is None:
        return None
    behind = (items.c.position > row.position) | (
        (items.c.position == row.position) & (outputs.c.id > after)
    )
    by_systems = filters.sort == "systems"
    if by_systems:
        behind = (row.systems > _SYSTEMS) | ((row.systems == _SYSTEMS) & behind)
    wanted = conditions(connection, filters, hidden=hidden_from(connection, person), person=person)
    asked = _in_order(behind, *wanted, by_systems=by_systems).limit(1)
    found = connection.execute(asked).first()
    return None if found is None else found.id


_SYSTEMS = (
    select(func.count())
    .select_from(answers)
    .where(answers.c.output_id == outputs.c.id)
    .correlate(outputs)
    .scalar_subquery()
)


def disputed_cases(
    connection: Connection, *, person: int | None = None, offset: int = 0, limit: int = 50
) -> list[Case]:
    """Outputs on which people disagree and nobody has adjudicated, in the order of items."""
    hidden = hidden_from(connection, person)
    asked = _in_order(outputs.c.disputed, outputs.c.verdict == "warning", ~hidden)
    rows = connection.execute(asked.offset(offset).limit(limit)).all()
    return [case(connection, row.id, person) for row in rows]


def _in_order(*wanted: ColumnElement[bool], by_systems: bool = False) -> Select[Any]:
    asked = (
        select(items.c.position, outputs.c.id, outputs.c.item_id).select_from(JOINED).where(*wanted)
    )
    if by_systems:
        many = (
            select(answers.c.output_id, func.count().label("systems"))
            .group_by(answers.c.output_id)
            .subquery()
        )
        asked = asked.join(many, many.c.output_id == outputs.c.id, isouter=True)
        asked = asked.order_by(func.coalesce(many.c.systems, 0).desc())
    return asked.order_by(items.c.position, outputs.c.id)
