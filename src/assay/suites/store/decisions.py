"""What people decide about outputs, and the history of it: everything can be taken back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast, get_args

from sqlalchemy import ColumnElement, Connection, and_, exists, func, insert, select, update

from assay.data import DataError
from assay.suites.store.history import change_numbered
from assay.suites.store.queue import stored_outputs
from assay.suites.store.records import Change, Choice, Decision, Saved
from assay.suites.store.suites import recheck, settle
from assay.suites.store.tables import (
    annotators,
    answers,
    changes,
    decisions,
    now,
    outputs,
    rules,
)

__all__ = [
    "Outdated",
    "add_change",
    "mark_undone",
    "save_decision",
    "undo",
]


def add_change(connection: Connection, person: int, output: int, kind: str, note: str) -> Change:
    """A new entry."""
    row = insert(changes).values(
        annotator_id=person,
        output_id=output,
        time=now(),
        kind=kind,
        note=note,
        undone="",
        undone_by="",
    )
    (number,) = connection.execute(row).inserted_primary_key or (0,)
    return change_numbered(connection, cast(int, number))


def mark_undone(connection: Connection, change: int, person: int) -> None:
    """Note that a change was taken back, when and by whom."""
    name = select(annotators.c.name).where(annotators.c.id == person).scalar_subquery()
    connection.execute(
        update(changes).where(changes.c.id == change).values(undone=now(), undone_by=name)
    )


class Outdated(Exception):
    """The same person has said something of the output elsewhere since it was shown."""


def save_decision(
    connection: Connection,
    output: int,
    person: int,
    choice: Choice,
    *,
    seen: int,
    adjudication: bool = False,
) -> Saved:
    """Keep a person's decision on an output, in place of the one they made before.

    `seen` is the version of the output that was shown. If another person decided since,
    both decisions are kept and `met` is theirs; if the same person did, `Outdated` is raised and
    nothing is kept. An adjudication stands beside the person's own decision, and counts before
    those of all.
    """
    _check_choice(choice, adjudication=adjudication)
    version = _locked_version(connection, output)
    if seen != version and _decided_since(connection, output, person, seen, version):
        raise Outdated
    kind = "adjudication" if adjudication else "skip" if choice == "skip" else "decision"
    change = add_change(connection, person, output, kind, choice)
    place = _DecisionsOf(output, person, adjudication)
    place.put(connection, choice, change, version + 1)
    settle(connection, [output])
    (stored,) = stored_outputs(connection, [output])
    return Saved(
        change=change.id,
        output=stored,
        settles=_answers(connection, output) if stored.verdict in ("pass", "fail") else 0,
        met=_met(connection, output, person, seen),
    )


def undo(connection: Connection, person: int, change: int | None = None) -> Change | None:
    """Take back a person's last change that is not undone yet, or the given one.

    What the person had decided before counts again. None where there is nothing to take back. A
    decision can be taken back only by the person who made it, a rule by everybody.
    """
    number = change or _last_change(connection, person)
    if number is None:
        return None
    kind, owner, undone = _undoable(connection, number)
    if undone:
        return None
    if kind == "rule":
        _retire(connection, number)
    elif owner == person:
        _take_back(connection, number)
    else:
        raise DataError("only the person who made a decision can take it back.")
    mark_undone(connection, number, person)
    return change_numbered(connection, number)


@dataclass(frozen=True)
class _DecisionsOf:
    """One person's decisions on one output; only the newest is not withdrawn."""

    output: int
    person: int
    adjudication: bool

    def put(self, connection: Connection, choice: Choice, change: Change, version: int) -> None:
        """Withdraw the one that counts, and let a new one count."""
        connection.execute(update(decisions).where(self._here).values(withdrawn=True))
        connection.execute(
            insert(decisions).values(
                output_id=self.output,
                annotator_id=self.person,
                change_id=change.id,
                verdict=choice,
                adjudication=self.adjudication,
                time=change.time,
                made=version,
            )
        )
        _set_version(connection, self.output, version)

    def take(self, connection: Connection, decision: int, version: int) -> None:
        """Take one away; the newest of the others that were not taken away counts again."""
        update_here = update(decisions).where(self._here)
        connection.execute(update_here.where(decisions.c.id == decision).values(unmade=version))
        newest = select(func.max(decisions.c.id)).where(self._here, decisions.c.unmade.is_(None))
        stands = connection.execute(newest).scalar()
        connection.execute(update_here.values(withdrawn=decisions.c.id != (stands or 0)))
        _set_version(connection, self.output, version)

    @property
    def _here(self) -> ColumnElement[bool]:
        return and_(
            decisions.c.output_id == self.output,
            decisions.c.annotator_id == self.person,
            decisions.c.adjudication == self.adjudication,
        )


def _check_choice(choice: Choice, *, adjudication: bool) -> None:
    allowed = ("pass", "fail") if adjudication else get_args(Choice)
    if choice not in allowed:
        raise DataError(f"{choice!r} is none of {', '.join(allowed)}.")


def _locked_version(connection: Connection, output: int) -> int:
    asked = select(outputs.c.version).where(outputs.c.id == output).with_for_update()
    version = connection.execute(asked).scalar()
    if version is None:
        raise DataError(f"there is no output {output} any more: its run was replaced.")
    return cast(int, version)


def _set_version(connection: Connection, output: int, version: int) -> None:
    connection.execute(update(outputs).where(outputs.c.id == output).values(version=version))


def _decided_since(
    connection: Connection, output: int, person: int, seen: int, version: int
) -> bool:
    """Whether the person decided on the output, or took that back, after version `seen`."""
    moved = exists().where(
        decisions.c.output_id == output,
        decisions.c.annotator_id == person,
        (decisions.c.made > seen) | (decisions.c.unmade > seen),
    )
    return seen > version or bool(connection.execute(select(moved)).scalar())


def _met(connection: Connection, output: int, person: int, seen: int) -> Decision | None:
    """The last decision that another person made after version `seen`."""
    asked = (
        select(
            decisions.c.id,
            annotators.c.name,
            decisions.c.verdict,
            decisions.c.adjudication,
            decisions.c.time,
        )
        .join(annotators, annotators.c.id == decisions.c.annotator_id)
        .where(
            decisions.c.output_id == output,
            decisions.c.annotator_id != person,
            decisions.c.made > seen,
            decisions.c.verdict != "skip",
            ~decisions.c.withdrawn,
        )
        .order_by(decisions.c.id.desc())
    )
    row = connection.execute(asked).first()
    return Decision(*row) if row else None


def _answers(connection: Connection, output: int) -> int:
    asked = select(func.count()).select_from(answers).where(answers.c.output_id == output)
    return connection.execute(asked).scalar_one()


def _last_change(connection: Connection, person: int) -> int | None:
    asked = select(func.max(changes.c.id)).where(
        changes.c.annotator_id == person, changes.c.undone == ""
    )
    return connection.execute(asked).scalar()


def _undoable(connection: Connection, number: int) -> tuple[str, int, str]:
    """The kind of a change, whose it is, and when it was taken back."""
    asked = select(changes.c.kind, changes.c.annotator_id, changes.c.undone)
    row = connection.execute(asked.where(changes.c.id == number).with_for_update()).first()
    if row is None:
        raise DataError(f"there is no change {number} in the history.")
    return row.kind, row.annotator_id, row.undone


def _take_back(connection: Connection, number: int) -> None:
    asked = select(decisions).where(decisions.c.change_id == number)
    row = connection.execute(asked).one()
    version = _locked_version(connection, row.output_id) + 1
    place = _DecisionsOf(row.output_id, row.annotator_id, row.adjudication)
    place.take(connection, row.id, version)
    settle(connection, [row.output_id])


def _retire(connection: Connection, number: int) -> None:
    retired = update(rules).where(rules.c.change_id == number).values(retired=True)
    touched = connection.execute(retired.returning(rules.c.item_id)).scalars().all()
    recheck(connection, set(touched))
