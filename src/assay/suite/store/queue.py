"""Which output a person should judge next, and what there is to look at."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, func, select, true

from assay.suite.model import Item
from assay.suite.store.cases import case, stored_outputs
from assay.suite.store.filtering import conditions
from assay.suite.store.progressing import progress
from assay.suite.store.reading import load_items
from assay.suite.store.records import Case, FilterChoices, Filters, StoredOutput
from assay.suite.store.tables import annotators, decisions, items, outputs, runs
from assay.suite.store.waiting import Waiting, said_by, skip_of, waiting_for

__all__ = ["case", "choices", "disputed_cases", "find", "next_case", "progress"]

ALL = Filters()


def next_case(
    connection: Connection, annotator: int, filters: Filters = ALL, *, skipped: bool = False
) -> Case | None:
    """The first output in a person's queue; with `skipped`, the one they skipped longest ago.

    In the queue are the warnings of the rules that this person has said nothing of and that are
    not disputed: of the items that were given to this person, whoever else has judged them, and
    of the items that were given to nobody, those that nobody has judged.
    """
    wanted = and_(true(), *conditions(connection, filters))
    if skipped:
        look = partial(_first_skipped, connection, wanted=wanted, annotator=annotator)
    else:
        look = partial(_first, connection, wanted=and_(~said_by(annotator), wanted))
    found = [look(part) for part in waiting_for(annotator)]
    first = min((each for each in found if each), default=None)
    return case(connection, first.output, annotator) if first else None


def find(
    connection: Connection, filters: Filters, *, offset: int = 0, limit: int = 50
) -> tuple[list[tuple[Item, StoredOutput]], int]:
    """The outputs that pass the filters, in the order of items, and how many there are."""
    wanted = conditions(connection, filters)
    counted = select(func.count()).select_from(_JOINED).where(*wanted)
    rows = connection.execute(_in_order(*wanted).offset(offset).limit(limit)).all()
    known = load_items(connection, {row.item_id for row in rows})
    found = stored_outputs(connection, [row.id for row in rows])
    pairs = [(known[row.item_id], each) for row, each in zip(rows, found, strict=True)]
    return pairs, connection.execute(counted).scalar_one()


def disputed_cases(connection: Connection, *, offset: int = 0, limit: int = 50) -> list[Case]:
    """Outputs on which people disagree and nobody has adjudicated, in the order of items."""
    asked = _in_order(outputs.c.disputed, outputs.c.verdict == "warning")
    rows = connection.execute(asked.offset(offset).limit(limit)).all()
    return [case(connection, row.id) for row in rows]


def choices(connection: Connection) -> FilterChoices:
    """What there is to filter by: categories and phenomena in the order of items."""
    asked = select(items.c.category, items.c.phenomenon).group_by(
        items.c.category, items.c.phenomenon
    )
    phenomena: dict[str, list[str]] = defaultdict(list)
    for category, phenomenon in connection.execute(asked.order_by(func.min(items.c.position))):
        phenomena[category].append(phenomenon)
    ran = connection.execute(select(runs.c.system, runs.c.campaign).order_by(runs.c.id)).all()
    people = connection.execute(select(annotators.c.name).order_by(annotators.c.name)).scalars()
    return FilterChoices(
        categories=tuple(phenomena),
        phenomena={category: tuple(names) for category, names in phenomena.items()},
        systems=tuple(dict.fromkeys(row.system for row in ran)),
        campaigns=tuple(dict.fromkeys(row.campaign for row in ran if row.campaign)),
        annotators=tuple(people),
    )


class _Place(NamedTuple):
    position: int
    output: int


def _first(connection: Connection, waiting: Waiting, wanted: ColumnElement[bool]) -> _Place | None:
    """The first output that waits; found by going through the items, not through all outputs."""
    open_ = and_(outputs.c.item_id == items.c.id, waiting.outputs, wanted)
    # A subquery, not EXISTS: PostgreSQL would look for all items that have one.
    some = select(outputs.c.id).where(open_).limit(1).correlate(items).scalar_subquery()
    asked = select(items.c.id, items.c.position).where(waiting.items, some.is_not(None))
    item = connection.execute(asked.order_by(items.c.position).limit(1)).first()
    if item is None:
        return None
    within = select(func.min(outputs.c.id)).select_from(_JOINED)
    output = connection.execute(within.where(items.c.id == item.id, open_)).scalar_one()
    return _Place(item.position, output)


def _first_skipped(
    connection: Connection, waiting: Waiting, wanted: ColumnElement[bool], *, annotator: int
) -> _Place | None:
    """The output that was skipped longest ago, so that skipping again leads on."""
    asked = (
        select(decisions.c.id, outputs.c.id.label("output"))
        .select_from(_JOINED.join(decisions, skip_of(annotator)))
        .where(waiting.items, waiting.outputs, wanted)
        .order_by(decisions.c.id)
        .limit(1)
    )
    found = connection.execute(asked).first()
    return _Place(found.id, found.output) if found else None


_JOINED = items.join(outputs, outputs.c.item_id == items.c.id)


def _in_order(*wanted: ColumnElement[bool]) -> Select[Any]:
    return (
        select(items.c.position, outputs.c.id, outputs.c.item_id)
        .select_from(_JOINED)
        .where(*wanted)
        .order_by(items.c.position, outputs.c.id)
    )
