"""Notes and flags that people write on items and outputs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, Connection, and_, insert, or_, select, update

from assay.data import DataError
from assay.suites.store.history import add_change, sent_before
from assay.suites.store.records import Change, Note
from assay.suites.store.tables import (
    annotators,
    batches,
    changes,
    check_text,
    items,
    notes,
    outputs,
)

__all__ = [
    "FLAGS",
    "add_note",
    "flagged",
    "load_notes",
    "notes_of_item",
    "remove_note",
    "take_back_note",
]

FLAGS = ("bad item", "unsure")
"""What an item or an output can be flagged as."""

LONGEST = 4000
"""Characters of a note."""


def add_note(
    connection: Connection,
    person: int,
    *,
    item: str = "",
    output: int | None = None,
    flag: str = "",
    text: str = "",
    key: str | None = None,
) -> Change:
    """Keep a note on an output, or on an item by its id: a flag, some text or both.

    `key` is the page's own name for the request: sent once more, it changes nothing.
    """
    if done := sent_before(connection, person, key, "note"):
        return done
    text = _checked(flag, text)
    number = _item_of(connection, item, output)
    change = add_change(connection, person, output, "note", _told(flag, text), item=number, key=key)
    connection.execute(
        insert(notes).values(
            item_id=number,
            output_id=output,
            annotator_id=person,
            change_id=change.id,
            time=change.time,
            flag=flag,
            text=text,
        )
    )
    return change


def remove_note(
    connection: Connection, person: int, note: int, *, key: str | None = None
) -> Change:
    """Take a note away, which its author and leads may do; the history keeps it."""
    if done := sent_before(connection, person, key, "note"):
        return done
    row = connection.execute(select(notes).where(notes.c.id == note, ~notes.c.withdrawn)).first()
    if row is None:
        raise DataError("this note is gone already.")
    _check_owner(connection, row.annotator_id, person)
    _withdraw(connection, notes.c.id == note, withdrawn=True)
    told = f"removed the note: {_told(row.flag, row.text)}"
    data = {"removes": note}
    return add_change(
        connection, person, row.output_id, "note", told, item=row.item_id, data=data, key=key
    )


def take_back_note(connection: Connection, change: int, person: int) -> None:
    """Undo a change that wrote a note, or one that removed it."""
    asked = select(changes.c.annotator_id, changes.c.data).where(changes.c.id == change)
    owner, data = connection.execute(asked).one()
    _check_owner(connection, owner, person)
    if data is None:
        _withdraw(connection, notes.c.change_id == change, withdrawn=True)
    else:
        _withdraw(connection, notes.c.id == json.loads(data)["removes"], withdrawn=False)


def load_notes(
    connection: Connection,
    ids: Iterable[int],
    *,
    hidden: ColumnElement[bool] | None = None,
    person: int | None = None,
) -> dict[int, list[Note]]:
    """The notes on these outputs, by output, the oldest first.

    On `hidden` outputs, a `person` sees their own notes alone.
    """
    found: dict[int, list[Note]] = {}
    for batch in batches(ids):
        asked = _NOTES.where(notes.c.output_id.in_(batch), ~notes.c.withdrawn)
        if hidden is not None:
            asked = asked.where(or_(~hidden, _is_of(person)))
        for row in connection.execute(asked.order_by(notes.c.id)):
            found.setdefault(row.output_id, []).append(Note(*row))
    return found


def notes_of_item(
    connection: Connection,
    item: str,
    *,
    outputs_too: bool = False,
    hidden: ColumnElement[bool] | None = None,
    person: int | None = None,
) -> Sequence[Note]:
    """The notes on an item as such, or also on its outputs, the oldest first.

    On `hidden` outputs, a `person` sees their own notes alone.
    """
    asked = _NOTES.where(items.c.name == item, ~notes.c.withdrawn)
    if not outputs_too:
        asked = asked.where(notes.c.output_id.is_(None))
    if hidden is not None:
        asked = asked.where(or_(notes.c.output_id.is_(None), ~hidden, _is_of(person)))
    return [Note(*row) for row in connection.execute(asked.order_by(notes.c.id))]


def flagged(
    flag: str, hidden: ColumnElement[bool], person: int | None = None
) -> ColumnElement[bool]:
    """Whether an output or its item has this flag, or any note for "any"; none for "none".

    On `hidden` outputs, a `person`'s own notes count alone.
    """
    here = [~notes.c.withdrawn] + ([notes.c.flag == flag] if flag in FLAGS else [])
    on_output = select(notes.c.output_id).where(*here, _ON_OUTPUT)
    of_output = and_(outputs.c.id.in_(on_output), ~hidden)
    own = outputs.c.id.in_(on_output.where(_is_of(person)))
    of_item = outputs.c.item_id.in_(select(notes.c.item_id).where(*here, ~_ON_OUTPUT))
    found = or_(of_output, of_item) if person is None else or_(of_output, own, of_item)
    return ~found if flag == "none" else found


def _is_of(person: int | None) -> ColumnElement[bool]:
    return notes.c.annotator_id == (person or 0)


_ON_OUTPUT = notes.c.output_id.is_not(None)

_NOTES = (
    select(
        notes.c.id,
        items.c.name,
        notes.c.output_id,
        annotators.c.name,
        notes.c.time,
        notes.c.flag,
        notes.c.text,
    )
    .join(items, items.c.id == notes.c.item_id)
    .join(annotators, annotators.c.id == notes.c.annotator_id)
    .join(outputs, outputs.c.id == notes.c.output_id, isouter=True)
)


def _checked(flag: str, text: str) -> str:
    """The text without the blanks around it."""
    if flag and flag not in FLAGS:
        raise DataError(f"the flag is one of {', '.join(FLAGS)}, not {flag!r}.")
    check_text(text, "the note")
    text = text.replace("\r\n", "\n").strip()
    if not flag and not text:
        raise DataError("The note is empty: choose a flag or write something.")
    if len(text) > LONGEST:
        raise DataError(f"the note has {len(text)} characters; at most {LONGEST} are kept.")
    return text


def _item_of(connection: Connection, item: str, output: int | None) -> int:
    if output is None:
        asked = select(items.c.id).where(items.c.name == item)
        missing = f"there is no item {item!r}."
    else:
        asked = select(outputs.c.item_id).where(outputs.c.id == output)
        missing = f"there is no output {output} any more: its run was replaced."
    number: int | None = connection.execute(asked).scalar()
    if number is None:
        raise DataError(missing)
    return number


def _told(flag: str, text: str) -> str:
    """The note in a line."""
    return f"{flag}: {text}" if flag and text else flag or text


def _check_owner(connection: Connection, owner: int, person: int) -> None:
    asked = select(annotators.c.lead).where(annotators.c.id == person)
    if owner != person and not connection.execute(asked).scalar():
        raise DataError("only its author or a lead can take a note away.")


def _withdraw(connection: Connection, which: ColumnElement[bool], *, withdrawn: bool) -> None:
    connection.execute(update(notes).where(which).values(withdrawn=withdrawn))
