"""Leases: an item that somebody looks at is theirs for a few minutes; nobody else starts it."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Connection, ScalarSelect, delete, exists, insert, select

from assay.suites.store.queue import given_to
from assay.suites.store.tables import annotators, leases, now, outputs

__all__ = ["LEASE", "claim", "give_back", "give_back_all", "lease_end"]

LEASE = timedelta(minutes=5)
"""How long an item is a person's after it was shown; the page renews it while it is open."""


def claim(connection: Connection, output: int, person: int) -> str:
    """Lease the item of an output to a person, or renew their lease.

    An item that another person has leased stays theirs, and the answer is their name; both have
    it where an output of it was given to this person.
    """
    asked = select(outputs.c.item_id).where(outputs.c.id == output)
    item = connection.execute(asked).scalar()
    if item is None:
        return ""
    connection.execute(delete(leases).where(leases.c.expires <= now()))
    others = (
        select(annotators.c.name)
        .join(leases, leases.c.annotator_id == annotators.c.id)
        .where(leases.c.item_id == item, leases.c.annotator_id != person)
    )
    name = connection.execute(others.limit(1)).scalar()
    mine = exists().where(outputs.c.item_id == item, given_to(person))
    if name is not None and not connection.execute(select(mine)).scalar():
        return str(name)
    give_back(connection, output, person)
    expires = now(later=LEASE)
    row = insert(leases).values(item_id=item, annotator_id=person, expires=expires)
    connection.execute(row)
    return ""


def lease_end(connection: Connection, output: int, person: int) -> str:
    """When a person's lease of the item of an output ends; empty without one."""
    asked = select(leases.c.expires).where(
        leases.c.annotator_id == person, leases.c.item_id == _item_of(output)
    )
    return connection.execute(asked).scalar() or ""


def give_back(connection: Connection, output: int, person: int, *, until: str = "") -> None:
    """End a person's lease of the item of an output; one that ends after `until` stays.

    A page that is left may say so after the next one has leased the item again.
    """
    gone = delete(leases).where(
        leases.c.annotator_id == person, leases.c.item_id == _item_of(output)
    )
    connection.execute(gone.where(leases.c.expires <= until) if until else gone)


def give_back_all(connection: Connection, person: int) -> None:
    """End all leases of a person."""
    connection.execute(delete(leases).where(leases.c.annotator_id == person))


def _item_of(output: int) -> ScalarSelect[int]:
    return select(outputs.c.item_id).where(outputs.c.id == output).scalar_subquery()
