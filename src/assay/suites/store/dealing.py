"""Dealing: which items each person judges, in proportion to weights, and a sample judged twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from sqlalchemy import Connection, delete, distinct, exists, func, insert, select
from sqlalchemy import case as sql_case

from assay.data import DataError
from assay.registry import did_you_mean
from assay.suites.store.queue import doubled
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
    first, second = _deal(order, load, people), set()
    with_warnings = [item for item in sorted(load) if load[item]]
    if len(people) > 1:
        size = round(double * len(with_warnings))
        sample = (
            [int(item) for item in rng.choice(with_warnings, size, replace=False)] if size else []
        )
        second = _deal(sample, load, people, taken=dict(first))
    clear(connection)
    waiting = select(outputs.c.item_id, outputs.c.id).where(outputs.c.ruled == "warning")
    within = defaultdict(list)
    for item, output in connection.execute(waiting.order_by(outputs.c.id)):
        within[item].append(output)
    rows = []
    for order_, (item, person) in enumerate([*sorted(first), *sorted(second)]):
        more = order_ >= len(first)
        rows += [
            {"output_id": output, "annotator_id": person, "second": more} for output in within[item]
        ]
    if rows:
        connection.execute(insert(assignments), rows)
    learn_sizes(connection)


def clear(connection: Connection) -> None:
    """Give nothing to anybody: everybody may judge everything."""
    connection.execute(delete(assignments))


def shares(connection: Connection) -> list[Share]:
    """What everybody was given, by name; those who were given nothing are left out."""
    judged = exists().where(
        decisions.c.output_id == outputs.c.id,
        decisions.c.annotator_id == assignments.c.annotator_id,
        ~decisions.c.withdrawn,
        decisions.c.verdict != "skip",
    )
    held = (
        select(
            assignments.c.annotator_id,
            func.count(distinct(outputs.c.item_id)),
            func.count(sql_case((doubled(), 1))),
            func.count(),
            func.count(sql_case((judged, 1))),
        )
        .join(outputs, outputs.c.id == assignments.c.output_id)
        .where(outputs.c.ruled == "warning")
        .group_by(assignments.c.annotator_id)
    )
    names = pairs(connection, select(annotators.c.id, annotators.c.name))
    found = [Share(names[id_], *counts) for id_, *counts in connection.execute(held)]
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
