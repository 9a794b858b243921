"""Dealing: which items each person judges, in proportion to weights, and a sample judged twice."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from sqlalchemy import Connection, delete, distinct, func, insert, select

from assay.data import DataError
from assay.registry import did_you_mean
from assay.suites.store.records import Share
from assay.suites.store.tables import (
    annotators,
    assignments,
    decisions,
    items,
    learn_sizes,
    outputs,
    pairs,
)

__all__ = ["assign", "clear", "shares"]


def assign(
    connection: Connection,
    weights: Mapping[str, float],
    *,
    double: float = 0.1,
    rng: np.random.Generator,
) -> None:
    """Give every item to one of the named people, instead of what was given before.

    Everybody gets warnings in proportion to their weight, as far as whole items allow. A share
    `double` of the items with warnings goes to a second person, too, unless there is only one.
    """
    people = _people(connection, weights)
    if not 0 <= double <= 1:
        raise DataError(f"the doubled share is a number from 0 to 1, not {double}.")
    load = _warnings_by_item(connection)
    order = [int(id_) for id_ in rng.permutation(sorted(load))]
    # The largest first: what is small evens out what the large ones have left uneven.
    order.sort(key=lambda item: -load[item])
    given = _deal(order, load, people)
    with_warnings = [item for item in sorted(load) if load[item]]
    if len(people) > 1:
        size = round(double * len(with_warnings))
        sample = (
            [int(item) for item in rng.choice(with_warnings, size, replace=False)] if size else []
        )
        given |= _deal(sample, load, people, taken=dict(given))
    clear(connection)
    rows = [{"item_id": item, "annotator_id": person} for item, person in sorted(given)]
    if rows:
        connection.execute(insert(assignments), rows)
    learn_sizes(connection)


def clear(connection: Connection) -> None:
    """Give nothing to anybody: everybody may judge everything."""
    connection.execute(delete(assignments))


def shares(connection: Connection) -> list[Share]:
    """What everybody was given, by name; those who were given nothing are left out."""
    twice = (
        select(assignments.c.item_id)
        .group_by(assignments.c.item_id)
        .having(func.count() > 1)
        .subquery()
    )
    held = (
        select(
            assignments.c.annotator_id,
            func.count().label("items"),
            func.count(twice.c.item_id).label("doubled"),
        )
        .select_from(assignments)
        .join(twice, twice.c.item_id == assignments.c.item_id, isouter=True)
        .group_by(assignments.c.annotator_id)
    )
    names = pairs(connection, select(annotators.c.id, annotators.c.name))
    warnings, done = _warnings_by_person(connection), _done_by_person(connection)
    found = [
        Share(names[id_], number, doubled, warnings.get(id_, 0), done.get(id_, 0))
        for id_, number, doubled in connection.execute(held)
    ]
    return sorted(found, key=lambda share: share.person)


def _people(connection: Connection, weights: Mapping[str, float]) -> dict[int, float]:
    """The weights by the numbers of people; nobody has a weight of 0."""
    known = pairs(connection, select(annotators.c.name, annotators.c.id))
    people = {}
    for name, weight in weights.items():
        if name not in known:
            raise DataError(f"nobody is called {name!r}{did_you_mean(name, known)}.")
        if not 0 <= weight < float("inf"):
            raise DataError(f"the weight of {name} is a number from 0 on, not {weight}.")
        if weight:
            people[known[name]] = weight
    if not people:
        raise DataError("give at least one person a weight above 0.")
    return people


def _warnings_by_item(connection: Connection) -> dict[int, int]:
    warned = outputs.c.ruled == "warning"
    asked = (
        select(items.c.id, func.count(outputs.c.id))
        .join(outputs, (outputs.c.item_id == items.c.id) & warned, isouter=True)
        .group_by(items.c.id)
    )
    return pairs(connection, asked)


def _deal(
    order: list[int],
    load: Mapping[int, int],
    people: Mapping[int, float],
    *,
    taken: Mapping[int, int] | None = None,
) -> set[tuple[int, int]]:
    """Give each item to the person who has least for their weight, and has not `taken` it."""
    held = dict.fromkeys(people, 0.0)
    given = set()
    for item in order:
        free = [person for person in people if (taken or {}).get(item) != person]
        # An item without warnings weighs a little, so that these are spread, too.
        size = load[item] + 0.01
        person = min(free, key=lambda one: (held[one] + size) / people[one])
        held[person] += size
        given.add((item, person))
    return given


def _warnings_by_person(connection: Connection) -> dict[int, int]:
    asked = (
        select(assignments.c.annotator_id, func.count())
        .join(outputs, outputs.c.item_id == assignments.c.item_id)
        .where(outputs.c.ruled == "warning")
        .group_by(assignments.c.annotator_id)
    )
    return pairs(connection, asked)


def _done_by_person(connection: Connection) -> dict[int, int]:
    asked = (
        select(assignments.c.annotator_id, func.count(distinct(outputs.c.id)))
        .join(outputs, outputs.c.item_id == assignments.c.item_id)
        .join(
            decisions,
            (decisions.c.output_id == outputs.c.id)
            & (decisions.c.annotator_id == assignments.c.annotator_id),
        )
        .where(outputs.c.ruled == "warning", ~decisions.c.withdrawn, decisions.c.verdict != "skip")
        .group_by(assignments.c.annotator_id)
    )
    return pairs(connection, asked)
