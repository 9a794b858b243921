"""Entries of the history: everything that a person did is one change."""

from __future__ import annotations

from typing import cast

from sqlalchemy import ColumnElement, Connection, exists, insert, select, update

from assay.data import DataError
from assay.suite.store.records import Change
from assay.suite.store.tables import annotators, changes, items, outputs, rules
from assay.suite.store.times import now

__all__ = ["add_change", "change_numbered", "history", "mark_undone"]


def add_change(connection: Connection, annotator: int, output: int, kind: str, note: str) -> Change:
    """A new entry."""
    row = insert(changes).values(
        annotator_id=annotator,
        output_id=output,
        time=now(),
        kind=kind,
        note=note,
        undone="",
        undone_by="",
    )
    (number,) = connection.execute(row).inserted_primary_key or (0,)
    return change_numbered(connection, cast(int, number))


def mark_undone(connection: Connection, change: int, annotator: int) -> None:
    """Note that a change was taken back, when and by whom."""
    name = select(annotators.c.name).where(annotators.c.id == annotator).scalar_subquery()
    connection.execute(
        update(changes).where(changes.c.id == change).values(undone=now(), undone_by=name)
    )


def change_numbered(connection: Connection, number: int) -> Change:
    """One entry."""
    row = connection.execute(_CHANGES.where(changes.c.id == number)).first()
    if row is None:
        raise DataError(f"there is no change {number} in the history.")
    return Change(*row)


def history(
    connection: Connection,
    *,
    annotator: int | None = None,
    item: str | None = None,
    limit: int = 100,
    before: int | None = None,
) -> list[Change]:
    """The last changes, the newest first: of one person, of one item, or `before` a change.

    A rule that reaches several items is in the history of each.
    """
    asked = _CHANGES.order_by(changes.c.id.desc()).limit(limit)
    if annotator is not None:
        asked = asked.where(changes.c.annotator_id == annotator)
    if before is not None:
        asked = asked.where(changes.c.id < before)
    if item is not None:
        asked = asked.where(_of_item(item))
    return [Change(*row) for row in connection.execute(asked)]


def _of_item(item: str) -> ColumnElement[bool]:
    number = select(items.c.id).where(items.c.name == item).scalar_subquery()
    has_rule = exists().where(rules.c.change_id == changes.c.id, rules.c.item_id == number)
    return (outputs.c.item_id == number) | has_rule


_CHANGES = (
    select(
        changes.c.id,
        annotators.c.name,
        changes.c.time,
        changes.c.kind,
        changes.c.note,
        changes.c.undone,
        changes.c.output_id,
        items.c.name,
        changes.c.undone_by,
    )
    .join(annotators, annotators.c.id == changes.c.annotator_id)
    .join(outputs, outputs.c.id == changes.c.output_id)
    .join(items, items.c.id == outputs.c.item_id)
)
