"""Offers: why a person has nothing to judge, and what they can take over from others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, select

from assay.data import DataError
from assay.suites.store.dealing import move
from assay.suites.store.records import Assignment, Change, WorkOffer
from assay.suites.store.tables import annotators, items, leases, now, pairs
from assay.suites.store.unfinished import Unfinished, unfinished

__all__ = ["MOST", "offer", "take"]

MOST = 10
"""How many items are taken over at once."""


def offer(connection: Connection, person: int) -> WorkOffer:
    """What is open, who has it, and how much of it a person could take over."""
    work = unfinished(connection)
    names = pairs(connection, select(annotators.c.id, annotators.c.name))
    waiting = [row for rows in work.held.values() for row in rows if work.is_waiting(row)]
    others = _watched_by_others(connection, person)
    holders = Counter(row.person for row in waiting if row.person != person)
    open_ = {output for ids in work.open.values() for output in ids}
    open_ |= {row.output for row in waiting}
    best = _most(work, person)
    return WorkOffer(
        open=len(open_),
        watched=sum(work.item_of[output] in others for output in open_),
        holders=tuple(sorted(names[id_] for id_ in holders)),
        items=_number(best, MOST),
        from_=names[best[0].person] if best else "",
    )


def take(connection: Connection, person: int, number: int = MOST) -> Change:
    """Take so many items over that nobody has begun, from the person who has most of them.

    They keep at least half of these. A `DataError` where there is nothing to take over.
    """
    work = unfinished(connection)
    best = _most(work, person)
    if not best:
        raise DataError("there is nothing to take over: others are at all that is left.")
    if number < 1:
        raise DataError(f"{number} items cannot be taken over: name at least 1.")
    position = pairs(connection, select(items.c.id, items.c.position))
    # The last ones: the other person will come to them last.
    chosen = sorted(best, key=lambda unit: -position[unit.item])[: _number(best, number)]
    removed = [row for unit in chosen for row in unit.rows]
    added = [row._replace(person=person) for row in removed]
    names = pairs(connection, select(annotators.c.id, annotators.c.name))
    count = f"{len(chosen)} item{'' if len(chosen) == 1 else 's'}"
    note = f"took {count} over from {names[best[0].person]}"
    return move(connection, person, "take", note, removed, added)


def _watched_by_others(connection: Connection, person: int) -> set[int]:
    """The items that other people look at just now."""
    asked = select(leases.c.item_id).where(
        leases.c.annotator_id != person, leases.c.expires > now()
    )
    return set(connection.execute(asked).scalars())


class _Held(NamedTuple):
    """What one person has of one item, and has not begun."""

    item: int
    person: int
    rows: Sequence[Assignment]


def _most(work: Unfinished, person: int) -> list[_Held]:
    """The items of the person who has most that the given one could take over."""
    found: Mapping[int, list[_Held]] = defaultdict(list)
    for (item, holder), rows in _by_item(work).items():
        untouched = not work.begun.get(item, Counter()).get(holder, 0)
        barred = any(_is_judge(work, row.output, person) for row in rows)
        if holder != person and untouched and not barred:
            found[holder].append(_Held(item, holder, rows))
    size = {who: sum(len(unit.rows) for unit in units) for who, units in found.items()}
    return found[max(size, key=lambda who: (size[who], -who))] if size else []


def _by_item(work: Unfinished) -> dict[tuple[int, int], list[Assignment]]:
    found = defaultdict(list)
    for rows in work.held.values():
        for row in rows:
            if work.is_waiting(row):
                found[work.item_of[row.output], row.person].append(row)
    return found


def _is_judge(work: Unfinished, output: int, person: int) -> bool:
    held = any(row.person == person for row in work.held[output])
    return held or person in work.judges.get(output, frozenset())


def _number(units: Sequence[_Held], most: int) -> int:
    return min(most, -(-len(units) // 2))
