"""What people decide about outputs, and the history of it: everything can be taken back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast, get_args

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    exists,
    func,
    insert,
    select,
    update,
)

from assay.data import DataError
from assay.suites.store.dealing import move_back
from assay.suites.store.history import add_change, change_numbered, mark_undone
from assay.suites.store.items import restore_item
from assay.suites.store.merging import take_back_name
from assay.suites.store.notes import take_back_note
from assay.suites.store.overview import take_back_suite_name
from assay.suites.store.people import leads, take_back_role
from assay.suites.store.phenomena import take_back_definition
from assay.suites.store.queue import hidden_outputs, stored_outputs, unseen
from assay.suites.store.records import Change, Choice, Decision, Person, Saved
from assay.suites.store.rule_edits import RULE_CHANGES, put_back
from assay.suites.store.suites import settle
from assay.suites.store.tables import (
    annotators,
    answers,
    changes,
    decisions,
    outputs,
    pairs,
)

__all__ = [
    "Outdated",
    "adjudication_problem",
    "may_undo",
    "save_decision",
    "save_decisions",
    "undo",
]


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
    key: str | None = None,
    group: str | None = None,
) -> Saved:
    """Keep a person's decision on an output, in place of the one they made before.

    `seen` is the version of the output that was shown. If another person decided since,
    both decisions are kept and `met` is theirs; if the same person did, `Outdated` is raised and
    nothing is kept. One of two judges who skips the output is not told what the other said.

    An adjudication stands beside the person's own decision, and counts before those of all; it
    takes a dispute of others (`adjudication_problem`).

    `key` is the page's own name for the request: sent once more, it changes nothing, and the
    answer is what was saved. Decisions of one `group` are taken back together.
    """
    _check_choice(choice, adjudication=adjudication)
    kind = "adjudication" if adjudication else "skip" if choice == "skip" else "decision"
    version = _locked_version(connection, output)
    change = _saved_before(connection, person, key, _SameRequest(output, kind, choice))
    if change is None:
        if seen != version and _decided_since(connection, output, person, seen, version):
            raise Outdated
        if adjudication and (problem := adjudication_problem(connection, output, person)):
            raise DataError(problem)
        data = {"group": group} if group else None
        entry = add_change(connection, person, output, kind, choice, key=key, data=data)
        _DecisionsOf(output, person, adjudication).put(connection, choice, entry, version + 1)
        settle(connection, [output])
        change = entry.id
    (stored,) = stored_outputs(connection, [output])
    if _is_hidden(connection, output, person):
        return Saved(change, unseen(stored), 0, None)
    settled = choice != "skip" and stored.verdict in ("pass", "fail")
    return Saved(
        change=change,
        output=stored,
        settles=_answers(connection, output) if settled else 0,
        met=_met(connection, output, person, seen, change),
    )


def save_decisions(
    connection: Connection,
    seen: Mapping[int, int],
    person: int,
    choice: Choice,
    *,
    key: str,
) -> list[Saved]:
    """Keep one decision on several outputs, given with the versions that were shown.

    All are kept, or none where one is `Outdated`. Taking one of them back takes back all.
    """
    return [
        save_decision(
            connection, output, person, choice, seen=version, key=f"{key}-{output}", group=key
        )
        for output, version in seen.items()
    ]


def adjudication_problem(connection: Connection, output: int, person: int) -> str:
    """Why a person may not decide the dispute on an output; empty where they may.

    A lead decides it who is none of those who disagree; where all leads are, anybody else does.
    """
    said = pairs(connection, _own_verdicts(output))
    if len(set(said.values())) < 2:
        return f"people do not disagree about output {output}: there is no dispute to decide."
    known = leads(connection)
    free = [lead.name for lead in known if lead.id not in said]
    if person in said:
        who = f"a lead who has not judged it: {', '.join(free)}" if free else "anybody else"
        return f"you are one of those who disagree about this output; let {who} decide."
    if free and person not in {lead.id for lead in known}:
        return f"only a lead decides a dispute; ask {', '.join(free)}."
    return ""


def undo(connection: Connection, person: int, change: int | None = None) -> Change | None:
    """Take back a person's last change that is not undone yet, or the given one.

    Without a number, what concerns others is passed over: deals, people, the suite's name. What
    the person had decided before counts again; what was decided with it, at once, is taken back as
    well. None where there is nothing to take back. A decision can be taken back only by the person
    who made it, a deal, a note and a change to rules or an item by a lead, too; what was done to
    people and to the suite's name by a lead alone.
    """
    number = change or _last_change(connection, person)
    if number is None:
        return None
    entry = _undoable(connection, number)
    if entry.undone:
        return None
    _check_may_undo(connection, entry, person)
    _take_back_entry(connection, entry, person)
    mark_undone(connection, number, person)
    return change_numbered(connection, number)


def _check_may_undo(connection: Connection, entry: Row[Any], person: int) -> None:
    if entry.kind in FINAL:
        raise DataError(f"this cannot be taken back: {FINAL[entry.kind]}.")
    known = leads(connection)
    own, leading = person == entry.annotator_id, person in {lead.id for lead in known}
    allowed = leading if entry.kind in LED else own or (leading and entry.kind not in JUDGEMENTS)
    if not allowed:
        names = ", ".join(lead.name for lead in known)
        raise DataError(REFUSALS[entry.kind].format(leads=names))


def _take_back_entry(connection: Connection, entry: Row[Any], person: int) -> None:
    kind = entry.kind
    if kind in LED:
        LED[kind](connection, entry.data)
    elif kind in RULE_CHANGES:
        put_back(connection, entry)
    elif kind in DEALS:
        move_back(connection, entry.id, entry.data)
    elif kind == "item":
        restore_item(connection, entry.id)
    elif kind == "note":
        take_back_note(connection, entry.id, person)
    elif kind == "phenomenon":
        take_back_definition(connection, entry.id)
    else:
        _take_back_all(connection, entry)


def may_undo(change: Change, person: Person) -> bool:
    """Whether a person may take a change back, as far as the change itself tells."""
    if change.undone or change.kind in FINAL:
        return False
    if change.kind in LED:
        return person.lead
    return change.person == person.name or (person.lead and change.kind not in JUDGEMENTS)


JUDGEMENTS = ("decision", "skip", "adjudication")
"""The kinds of changes that only their authors take back."""

LED: Mapping[str, Callable[[Connection, str], None]] = {
    "lead": take_back_role,
    "rename": take_back_name,
    "suite": take_back_suite_name,
}
"""The kinds of changes that only leads make and take back, and how."""

FINAL = {
    "merge": "what the two people did cannot be told apart any more",
    "invite": "the link may have been used; it ends by itself after a week",
    "import": "edit or retire the items, or import the file as it was before",
    "run": "add the outputs as they were before, and replace these",
}
"""The kinds of changes that cannot be taken back, and why or what to do instead."""

DEALS = ("deal", "take")
"""The kinds of changes that give outputs to people."""

REFUSALS: Mapping[str, str] = {
    **dict.fromkeys(JUDGEMENTS, "only the person who made a decision can take it back."),
    **dict.fromkeys(LED, "only a lead can take this back; ask {leads}."),
    **dict.fromkeys(RULE_CHANGES, "only a lead can take back what others did to rules."),
    **dict.fromkeys(DEALS, "only a lead can take back how work was dealt; ask {leads}."),
    "item": "only a lead, or the person who changed the item, can take this back.",
    "note": "only its author or a lead can take a note away.",
    "phenomenon": "only its author or a lead can take a definition back.",
}
"""What somebody is told who may not take a change of this kind back."""


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


class _SameRequest(NamedTuple):
    """What an entry of the history says of an output."""

    output: int
    kind: str
    note: str


def _saved_before(
    connection: Connection, person: int, key: str | None, entry: _SameRequest
) -> int | None:
    """The change that the same request has made already."""
    if key is None:
        return None
    columns = changes.c.output_id, changes.c.kind, changes.c.note, changes.c.id
    asked = select(*columns).where(changes.c.annotator_id == person, changes.c.key == key)
    row = connection.execute(asked).first()
    if row is not None and _SameRequest(*row[:3]) != entry:
        raise DataError("this request was sent before, for something else: reload the page.")
    return None if row is None else cast(int, row.id)


def _own_verdicts(output: int) -> Select[Any]:
    """Who says what of an output, skips and adjudications aside."""
    return select(decisions.c.annotator_id, decisions.c.verdict).where(
        decisions.c.output_id == output,
        decisions.c.verdict != "skip",
        ~decisions.c.adjudication,
        ~decisions.c.withdrawn,
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


def _is_hidden(connection: Connection, output: int, person: int) -> bool:
    """Whether what others say is kept from the person, who has only skipped the output."""
    hidden = exists().where(outputs.c.id == output, hidden_outputs(connection, person))
    return bool(connection.execute(select(hidden)).scalar())


def _met(
    connection: Connection, output: int, person: int, seen: int, change: int
) -> Decision | None:
    """The last decision that another person made after version `seen`, and before the change."""
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
            decisions.c.change_id < change,
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
    # What concerns others is taken back by its number only, not by one key too many.
    asked = select(func.max(changes.c.id)).where(
        changes.c.annotator_id == person,
        changes.c.undone == "",
        changes.c.kind.not_in((*DEALS, *LED, *FINAL)),
    )
    return connection.execute(asked).scalar()


def _undoable(connection: Connection, number: int) -> Row[Any]:
    """The change as it is stored."""
    asked = select(changes).where(changes.c.id == number).with_for_update()
    row = connection.execute(asked).first()
    if row is None:
        raise DataError(f"there is no change {number} in the history.")
    return row


def _take_back_all(connection: Connection, entry: Row[Any]) -> None:
    """Take back the decision of a change, and those of the same group."""
    if entry.data is None:
        _take_back(connection, entry.id)
        return
    same = select(changes.c.id).where(
        changes.c.annotator_id == entry.annotator_id,
        changes.c.data == entry.data,
        changes.c.undone == "",
    )
    for number in connection.execute(same.order_by(changes.c.id.desc())).scalars().all():
        _take_back(connection, number)
        mark_undone(connection, number, entry.annotator_id)


def _take_back(connection: Connection, number: int) -> None:
    asked = select(decisions).where(decisions.c.change_id == number)
    row = connection.execute(asked).one()
    version = _locked_version(connection, row.output_id) + 1
    place = _DecisionsOf(row.output_id, row.annotator_id, row.adjudication)
    place.take(connection, row.id, version)
    settle(connection, [row.output_id])
