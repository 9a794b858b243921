"""What people did, as tables to take away: decisions, double judgements, rules, notes, history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, or_, select

from assay.data import DataError
from assay.results import Record, Result, Table
from assay.suites.store.blind import hidden_from, masked
from assay.suites.store.history import deed, history
from assay.suites.store.notes import load_notes
from assay.suites.store.queue import stored_outputs
from assay.suites.store.records import Note, StoredOutput
from assay.suites.store.tables import (
    annotators,
    batches,
    changes,
    decisions,
    items,
    notes,
    outputs,
    rules,
)

__all__ = ["EXPORTS", "ExportResult", "export"]


@dataclass(frozen=True, eq=False)
class ExportResult(Result):
    """Records of one kind, all with the same fields."""

    title: str
    rows: tuple[Record, ...]

    def tables(self) -> list[Table]:
        """All records as one table."""
        columns = tuple(dict.fromkeys(name for record in self.rows for name in record))
        cells = [[_shown(record.get(name)) for name in columns] for record in self.rows]
        return [Table(self.title, columns, cells)]

    def records(self) -> list[Record]:
        """The records."""
        return list(self.rows)


def _shown(value: Any) -> str | float | None:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if value is None or isinstance(value, int | float) else str(value)


def export(connection: Connection, what: str, *, person: int | None = None) -> ExportResult:
    """One of `EXPORTS`, as a `person` may see it, or all of it; a `DataError` where it is empty."""
    title, records = EXPORTS[what]
    found = records(connection, person)
    if not found:
        raise DataError(f"there are no {title.lower()} yet, so there is nothing to write.")
    return ExportResult(title, tuple(found))


def _decisions(connection: Connection, person: int | None) -> list[Record]:
    """Every decision that was ever made, the oldest first, also those that no longer count."""
    asked = (
        select(
            decisions.c.id,
            decisions.c.output_id,
            annotators.c.name.label("person"),
            decisions.c.time,
            decisions.c.verdict,
            decisions.c.adjudication,
            decisions.c.withdrawn,
            changes.c.undone,
            changes.c.undone_by,
        )
        .join(annotators, annotators.c.id == decisions.c.annotator_id)
        .join(changes, changes.c.id == decisions.c.change_id)
        .join(outputs, outputs.c.id == decisions.c.output_id)
        .where(_visible(connection, decisions.c.annotator_id, person))
        .order_by(decisions.c.id)
    )
    rows = connection.execute(asked).all()
    about = _ExportedOutputs.of(connection, [row.output_id for row in rows], person)
    return [
        {
            "person": row.person,
            "time": row.time,
            **about.fields(row.output_id),
            "verdict": row.verdict,
            "adjudication": bool(row.adjudication),
            "withdrawn": bool(row.withdrawn),
            "undone": row.undone or None,
            "undone_by": row.undone_by or None,
            **about.end(row.output_id),
        }
        for row in rows
    ]


def _doubles(connection: Connection, person: int | None) -> list[Record]:
    """Outputs that several people judged, what each says beside the others."""
    asked = (
        select(
            decisions.c.output_id,
            annotators.c.name,
            decisions.c.verdict,
            decisions.c.adjudication,
        )
        .join(annotators, annotators.c.id == decisions.c.annotator_id)
        .join(outputs, outputs.c.id == decisions.c.output_id)
        .where(~decisions.c.withdrawn, decisions.c.verdict != "skip")
        .where(~hidden_from(connection, person))
        .order_by(decisions.c.id)
    )
    said: dict[int, dict[str, str]] = defaultdict(dict)
    adjudicated: dict[int, str] = {}
    for output, name, verdict, adjudication in connection.execute(asked):
        if adjudication:
            adjudicated[output] = f"{verdict} by {name}"
        else:
            said[output][name] = verdict
    several = sorted(output for output, given in said.items() if len(given) > 1)
    names = sorted({name for output in several for name in said[output]})
    about = _ExportedOutputs.of(connection, several, person)
    return [
        {
            **about.fields(output),
            **{f"verdict of {name}": said[output].get(name) for name in names},
            "agree": len(set(said[output].values())) == 1,
            "adjudication": adjudicated.get(output),
            **about.end(output),
        }
        for output in several
    ]


def _rules(connection: Connection, _: int | None) -> list[Record]:
    """All rules, those that are retired and former versions too, in the order of items."""
    asked = (
        select(rules, items.c.name.label("item"), items.c.category, items.c.phenomenon)
        .add_columns(changes.c.undone, changes.c.undone_by)
        .join(items, items.c.id == rules.c.item_id)
        .join(changes, changes.c.id == rules.c.change_id, isouter=True)
        .order_by(items.c.position, items.c.id, rules.c.position, rules.c.id)
    )
    rows = connection.execute(asked).all()
    names = {row.id: row.name for row in rows}
    return [
        {
            "rule": row.name,
            "item": row.item,
            "category": row.category,
            "phenomenon": row.phenomenon,
            "polarity": row.polarity,
            "kind": row.kind,
            "text": row.text,
            "author": row.author or None,
            "time": row.time or None,
            "provenance": row.provenance or None,
            "from": "file" if row.change_id is None else "page",
            "replaces": names.get(row.replaces),
            "retired": bool(row.retired),
            "undone": row.undone or None,
            "undone_by": row.undone_by or None,
        }
        for row in rows
    ]


def _notes(connection: Connection, person: int | None) -> list[Record]:
    """All notes, the oldest first, also those that were removed."""
    asked = (
        select(notes, annotators.c.name.label("person"), items.c.name.label("item"))
        .add_columns(items.c.category, items.c.phenomenon, items.c.source)
        .add_columns(outputs.c.text.label("output"))
        .join(annotators, annotators.c.id == notes.c.annotator_id)
        .join(items, items.c.id == notes.c.item_id)
        .join(outputs, outputs.c.id == notes.c.output_id, isouter=True)
        .where(or_(notes.c.output_id.is_(None), _visible(connection, notes.c.annotator_id, person)))
        .order_by(notes.c.id)
    )
    return [
        {
            "person": row.person,
            "time": row.time,
            "item": row.item,
            "category": row.category,
            "phenomenon": row.phenomenon,
            "source": row.source,
            "output": row.output,
            "flag": row.flag or None,
            "note": row.text or None,
            "removed": bool(row.withdrawn),
        }
        for row in connection.execute(asked)
    ]


def _history(connection: Connection, person: int | None) -> list[Record]:
    """Everything that was done, the oldest first, in words and with the texts it was about."""
    hidden = hidden_from(connection, person)
    found = history(connection, hidden=hidden, viewer=person, limit=None)
    return [
        {
            "person": change.person,
            "time": change.time,
            "kind": change.kind,
            "what": deed(change),
            "item": change.item or None,
            "source": change.source or None,
            "output": change.text or None,
            "undone": change.undone or None,
            "undone_by": change.undone_by or None,
        }
        for change in reversed(found)
    ]


EXPORTS: Mapping[str, tuple[str, Callable[[Connection, int | None], list[Record]]]] = {
    "decisions": ("Decisions", _decisions),
    "doubles": ("Double judgements", _doubles),
    "rules": ("Rules", _rules),
    "notes": ("Notes", _notes),
    "history": ("Entries of the history", _history),
}
"""What can be taken away by its name: the title, and the function that finds it."""


def _visible(
    connection: Connection, owner: ColumnElement[int], person: int | None
) -> ColumnElement[bool]:
    """What is on a hidden output is seen by its owner alone."""
    return or_(~hidden_from(connection, person), owner == (person or 0))


@dataclass(frozen=True, eq=False)
class _ExportedOutputs:
    """What there is to say of outputs and their items."""

    known: Mapping[int, StoredOutput]
    items: Mapping[int, Mapping[str, Any]]
    notes: Mapping[int, str]

    @classmethod
    def of(cls, connection: Connection, ids: Sequence[int], person: int | None) -> _ExportedOutputs:
        wanted = list(dict.fromkeys(ids))
        found = masked(connection, stored_outputs(connection, wanted), person)
        asked = select(
            outputs.c.id, items.c.name, items.c.category, items.c.phenomenon, items.c.source
        ).join(items, items.c.id == outputs.c.item_id)
        rows = {
            row.id: row._asdict()
            for batch in batches(wanted)
            for row in connection.execute(asked.where(outputs.c.id.in_(batch)))
        }
        written = load_notes(
            connection, wanted, hidden=hidden_from(connection, person), person=person
        )
        told = {output: "; ".join(map(_told, every)) for output, every in written.items()}
        return cls({output.id: output for output in found}, rows, told)

    def fields(self, output: int) -> Record:
        """The item, the output and the systems that wrote it."""
        item, stored = self.items[output], self.known[output]
        return {
            "item": item["name"],
            "category": item["category"],
            "phenomenon": item["phenomenon"],
            "source": item["source"],
            "output": stored.text,
            "systems": ", ".join(stored.systems),
        }

    def end(self, output: int) -> Record:
        """What the output counts as at present, and the notes on it."""
        stored = self.known[output]
        counts_as = "disputed" if stored.disputed else stored.verdict
        return {"counts_as": counts_as, "notes": self.notes.get(output)}


def _told(note: Note) -> str:
    return f"{note.person}: {': '.join(filter(None, (note.flag, note.text)))}"
