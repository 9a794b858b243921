"""One person under two names: renaming, and merging two people into one."""

from __future__ import annotations

import json

from sqlalchemy import Connection, Table, delete, exists, func, select, update

from assay.data import DataError
from assay.suites.store.history import add_change
from assay.suites.store.leases import give_back_all
from assay.suites.store.people import checked_name, person_named, person_numbered
from assay.suites.store.records import Change, MergePlan, Person
from assay.suites.store.suites import settle
from assay.suites.store.tables import (
    annotators,
    assignments,
    changes,
    decisions,
    invitations,
    logins,
    notes,
    rules,
)

__all__ = ["merge", "plan_merge", "rename", "take_back_name"]


def rename(connection: Connection, person: int, name: str, *, by: int) -> Change | None:
    """Give a person another name, everywhere; None where it is the name they have."""
    known, name = _known(connection, person), checked_name(name)
    if name == known.name:
        return None
    if person_named(connection, name):
        raise DataError(f"somebody is called {name!r} already; merge the two instead.")
    _set_name(connection, known, name)
    note, data = f"renamed {known.name} to {name}", {"person": person, "names": [known.name, name]}
    return add_change(connection, by, None, "rename", note, data=data)


def take_back_name(connection: Connection, data: str) -> None:
    """Undo that somebody was renamed; `data` is that of the change."""
    told = json.loads(data)
    before, after = told["names"]
    person = person_numbered(connection, told["person"])
    if person is None or person.name != after:
        raise DataError(f"{after} was renamed or merged again since: undo that first.")
    if person_named(connection, before):
        raise DataError(f"somebody else is called {before!r} now; choose another name.")
    _set_name(connection, person, before)


def _set_name(connection: Connection, person: Person, name: str) -> None:
    connection.execute(update(annotators).where(annotators.c.id == person.id).values(name=name))
    _replace_name(connection, person.name, name)
    settle(connection, _judged(connection, person.id))


def plan_merge(connection: Connection, person: int, into: int) -> MergePlan:
    """What merging a person into another would move; a `DataError` where it makes no sense."""
    if person == into:
        raise DataError("these are the same person; choose two.")
    gone, stays = _known(connection, person), _known(connection, into)
    both = _judged(connection, person) & _judged(connection, into)
    wrote = select(func.count()).select_from(rules).where(rules.c.author == gone.name)
    return MergePlan(
        person=gone,
        into=stays,
        outputs=len(_judged(connection, person)),
        both=len(both),
        rules=connection.execute(wrote).scalar_one(),
        notes=_count(connection, notes, person),
        share=_count(connection, assignments, person),
    )


def merge(connection: Connection, person: int, into: int, *, by: int) -> Change:
    """Make all that a person did another person's, and remove the first.

    Where both judged the same output, the later decision stands.
    """
    plan = plan_merge(connection, person, into)
    touched = _judged(connection, person)
    _withdraw_earlier(connection, person, into)
    _share_assignments(connection, person, into)
    _forget_keys(connection, person, into)
    for table in (decisions, changes, notes, invitations, logins, assignments):
        mine = update(table).where(table.c.annotator_id == person)
        connection.execute(mine.values(annotator_id=into))
    give_back_all(connection, person)
    _replace_name(connection, plan.person.name, plan.into.name)
    _inherit(connection, person, into)
    connection.execute(delete(annotators).where(annotators.c.id == person))
    settle(connection, touched)
    by = into if by == person else by
    return add_change(connection, by, None, "merge", f"merged {plan.said}")


def _known(connection: Connection, number: int) -> Person:
    person = person_numbered(connection, number)
    if person is None:
        raise DataError("this person is not there any more: reload the page.")
    return person


def _judged(connection: Connection, person: int) -> set[int]:
    """The outputs that a person judged, and did not take back."""
    asked = select(decisions.c.output_id).where(
        decisions.c.annotator_id == person, ~decisions.c.withdrawn
    )
    return set(connection.execute(asked).scalars())


def _count(connection: Connection, table: Table, person: int) -> int:
    asked = select(func.count()).select_from(table).where(table.c.annotator_id == person)
    return connection.execute(asked).scalar_one()


def _withdraw_earlier(connection: Connection, person: int, into: int) -> None:
    later = decisions.alias()
    pair = (person, into)
    has_later = exists().where(
        later.c.output_id == decisions.c.output_id,
        later.c.adjudication == decisions.c.adjudication,
        later.c.annotator_id.in_(pair),
        ~later.c.withdrawn,
        later.c.id > decisions.c.id,
    )
    earlier = update(decisions).where(
        decisions.c.annotator_id.in_(pair), ~decisions.c.withdrawn, has_later
    )
    connection.execute(earlier.values(withdrawn=True))


def _share_assignments(connection: Connection, person: int, into: int) -> None:
    """Let an output that both were to judge be judged once, and not as the second of nobody."""
    theirs = select(assignments.c.output_id).where(assignments.c.annotator_id == person)
    shared = assignments.c.output_id.in_(theirs)
    both = set(
        connection.execute(
            select(assignments.c.output_id).where(assignments.c.annotator_id == into, shared)
        ).scalars()
    )
    for output in both:
        here = assignments.c.output_id == output
        connection.execute(delete(assignments).where(here, assignments.c.annotator_id == person))
        connection.execute(
            update(assignments).where(here, assignments.c.annotator_id == into).values(second=False)
        )


def _forget_keys(connection: Connection, person: int, into: int) -> None:
    """Keys of requests are a person's own: two could have chosen the same."""
    theirs = changes.alias()
    taken = exists().where(theirs.c.annotator_id == into, theirs.c.key == changes.c.key)
    mine = update(changes).where(changes.c.annotator_id == person, taken)
    connection.execute(mine.values(key=None))


def _replace_name(connection: Connection, old: str, new: str) -> None:
    connection.execute(update(rules).where(rules.c.author == old).values(author=new))
    connection.execute(update(changes).where(changes.c.undone_by == old).values(undone_by=new))


def _inherit(connection: Connection, person: int, into: int) -> None:
    """A lead stays a lead, and a password stays one where the other has none."""
    gone, stays = (
        connection.execute(select(annotators).where(annotators.c.id == number)).one()
        for number in (person, into)
    )
    kept = {"lead": gone.lead or stays.lead, "password": stays.password or gone.password}
    connection.execute(update(annotators).where(annotators.c.id == into).values(kept))
