"""The history: everything that people did, in order, with the texts that it was about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, Select, exists, func, insert, or_, select, update

from assay.data import DataError
from assay.suites.store.records import Change
from assay.suites.store.tables import annotators, changes, items, now, outputs, rules

__all__ = [
    "BY_HAND",
    "KINDS",
    "add_change",
    "change_numbered",
    "counted",
    "deed",
    "history",
    "kinds_done",
    "mark_undone",
    "sent_before",
]

BY_HAND = "command line"
"""Who did what was done by a command, which knows no names."""

KINDS = {
    "decision": "decisions",
    "skip": "skipped outputs",
    "adjudication": "adjudications",
    "rule": "rules",
    "edit rule": "edited rules",
    "retire": "retired rules",
    "restore": "restored rules",
    "note": "notes",
    "phenomenon": "definitions",
    "deal": "divisions of work",
    "take": "work taken over",
    "item": "items",
    "import": "imported items",
    "run": "outputs added",
    "suite": "names of the suite",
    "rename": "people renamed",
    "merge": "people merged",
    "lead": "leads named",
    "invite": "people invited",
}
"""What people do, and what a list of it is called; others are called as they are."""


def add_change(
    connection: Connection,
    person: int | None,
    output: int | None,
    kind: str,
    note: str,
    *,
    item: int | None = None,
    data: Mapping[str, Any] | None = None,
    key: str | None = None,
) -> Change:
    """A new entry, about an output, an item or the whole suite; `data` is what undoing it takes.

    No `person` did what was done by a command.
    """
    row = insert(changes).values(
        annotator_id=person,
        output_id=output,
        item_id=item,
        time=now(),
        kind=kind,
        note=note,
        undone="",
        undone_by="",
        data=None if data is None else json.dumps(data),
        key=key,
    )
    (number,) = connection.execute(row).inserted_primary_key or (0,)
    return change_numbered(connection, cast(int, number))


def mark_undone(connection: Connection, change: int, person: int) -> None:
    """Note that a change was taken back, when and by whom."""
    name = select(annotators.c.name).where(annotators.c.id == person).scalar_subquery()
    connection.execute(
        update(changes).where(changes.c.id == change).values(undone=now(), undone_by=name)
    )


def change_numbered(connection: Connection, number: int) -> Change:
    """One entry."""
    row = connection.execute(_CHANGES.where(changes.c.id == number)).first()
    if row is None:
        raise DataError(f"there is no change {number} in the history.")
    return Change(*row)


def sent_before(connection: Connection, person: int, key: str | None, kind: str) -> Change | None:
    """What a request with this key has done already; a `DataError` where that is another kind."""
    if key is None:
        return None
    asked = _CHANGES.where(changes.c.annotator_id == person, changes.c.key == key)
    row = connection.execute(asked).first()
    if row is None:
        return None
    change = Change(*row)
    if change.kind != kind:
        raise DataError("this request was sent before, for something else: reload the page.")
    return change


def deed(change: Change) -> str:
    """What somebody did.

    >>> deed(Change(1, "Ada", "", "decision", "fail", ""))
    'said fail'
    """
    words = {
        "adjudication": f"decided the dispute: {change.note}",
        "decision": f"said {change.note}",
        "note": change.note if change.note.startswith("removed") else f"noted {change.note}",
        "rule": f"added a rule: {change.note}",
        "skip": "skipped",
    }
    return words.get(change.kind, change.note)


def counted(number: int, thing: str) -> str:
    """A number of things.

    >>> counted(1, "output"), counted(1200, "output")
    ('1 output', '1,200 outputs')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def history(
    connection: Connection,
    *,
    person: int | None = None,
    item: str | None = None,
    kind: str = "",
    since: str = "",
    until: str = "",
    hidden: ColumnElement[bool] | None = None,
    viewer: int | None = None,
    limit: int | None = 100,
    before: int | None = None,
) -> list[Change]:
    """The last changes, the newest first: of one person, item or kind, or `before` a change.

    `since` and `until` are days of UTC, as in 2026-05-01. Changes to `hidden` outputs are left
    out, but for those of the `viewer`. A rule that reaches several items is in the history of each.
    """
    asked = _CHANGES.order_by(changes.c.id.desc()).limit(limit)
    if person is not None:
        asked = asked.where(changes.c.annotator_id == person)
    if before is not None:
        asked = asked.where(changes.c.id < before)
    if item is not None:
        asked = asked.where(_of_item(item))
    if kind:
        asked = asked.where(changes.c.kind == kind)
    if hidden is not None:
        asked = asked.where(
            or_(changes.c.output_id.is_(None), ~hidden, changes.c.annotator_id == (viewer or 0))
        )
    return [Change(*row) for row in connection.execute(_within(asked, since, until))]


def kinds_done(connection: Connection) -> list[str]:
    """The kinds of changes that there are."""
    return list(connection.execute(select(changes.c.kind).distinct()).scalars())


def _within(asked: Select[Any], since: str, until: str) -> Select[Any]:
    if since:
        asked = asked.where(changes.c.time >= since)
    if until:
        after = date.fromisoformat(until) + timedelta(days=1)
        asked = asked.where(changes.c.time < after.isoformat())
    return asked


def _of_item(item: str) -> ColumnElement[bool]:
    number = select(items.c.id).where(items.c.name == item).scalar_subquery()
    has_rule = exists().where(rules.c.change_id == changes.c.id, rules.c.item_id == number)
    return or_(outputs.c.item_id == number, changes.c.item_id == number, has_rule)


_CHANGES = (
    select(
        changes.c.id,
        func.coalesce(annotators.c.name, BY_HAND),
        changes.c.time,
        changes.c.kind,
        changes.c.note,
        changes.c.undone,
        changes.c.output_id,
        func.coalesce(items.c.name, ""),
        changes.c.undone_by,
        func.coalesce(items.c.source, ""),
        func.coalesce(outputs.c.text, ""),
    )
    .join(annotators, annotators.c.id == changes.c.annotator_id, isouter=True)
    .join(outputs, outputs.c.id == changes.c.output_id, isouter=True)
    .join(items, items.c.id == func.coalesce(outputs.c.item_id, changes.c.item_id), isouter=True)
)
