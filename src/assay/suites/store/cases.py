"""What the database knows of single outputs, put together for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from sqlalchemy import Connection, distinct, func, select

from assay.data import DataError
from assay.suites.check import LIMIT, OutOfTime, pattern
from assay.suites.model import Item, Kind
from assay.suites.store.items import load_items
from assay.suites.store.records import Case, StoredOutput
from assay.suites.store.runs import load_decisions
from assay.suites.store.tables import (
    answers,
    assignments,
    batches,
    decisions,
    outputs,
    runs,
)

__all__ = ["case", "stored_outputs"]


def case(connection: Connection, output: int, person: int | None = None) -> Case:
    """All that a person needs to judge one output; a `DataError` where there is none.

    Where the item was given to this person and to another one, what others said is not shown
    before this person has said something: two independent judgements are wanted.
    """
    asked = select(outputs.c.item_id).where(outputs.c.id == output)
    number = connection.execute(asked).scalar()
    if number is None:
        raise DataError(f"there is no output {output} in the database any more.")
    item = load_items(connection, [number])[number]
    every = select(outputs.c.id).where(outputs.c.item_id == number).order_by(outputs.c.id)
    known = stored_outputs(connection, connection.execute(every).scalars().all())
    if person is not None and _doubled(connection, number, person):
        judged = _judged(connection, person, number)
        known = [_unseen(stored, judged) for stored in known]
    this = next(stored for stored in known if stored.id == output)
    others = [stored for stored in known if stored.id != output and stored.systems]
    matches, trouble = _matches(item, this.text)
    return Case(
        item=item,
        output=this,
        matches=matches,
        others=tuple(sorted(others, key=lambda other: other.verdict != "warning")),
        trouble=trouble,
    )


def stored_outputs(connection: Connection, ids: Sequence[int]) -> list[StoredOutput]:
    """These outputs, in the given order, with the systems that have them and people's decisions."""
    rows, systems, given = {}, _systems(connection, ids), load_decisions(connection, ids)
    for batch in batches(ids):
        found = connection.execute(select(outputs).where(outputs.c.id.in_(batch)))
        rows.update({row.id: row for row in found})
    return [
        StoredOutput(
            id=row.id,
            text=row.text,
            systems=tuple(systems[row.id]),
            verdict=row.verdict,
            by=row.by,
            ruled=row.ruled,
            disputed=row.disputed,
            version=row.version,
            decisions=tuple(given.get(row.id, ())),
        )
        for row in (rows[id_] for id_ in ids)
    ]


def _systems(connection: Connection, ids: Sequence[int]) -> dict[int, list[str]]:
    several = connection.execute(select(func.count(distinct(runs.c.campaign)))).scalar_one() > 1
    asked = select(answers.c.output_id, runs.c.system, runs.c.campaign).join(
        runs, runs.c.id == answers.c.run_id
    )
    found = defaultdict(list)
    for batch in batches(ids):
        wanted = asked.where(answers.c.output_id.in_(batch)).order_by(runs.c.id)
        for output, system, campaign in connection.execute(wanted):
            found[output].append(f"{system} ({campaign})" if several and campaign else system)
    return found


def _doubled(connection: Connection, item: int, person: int) -> bool:
    """Whether an item was given to this person and to another one."""
    given = select(assignments.c.annotator_id).where(assignments.c.item_id == item)
    people = connection.execute(given).scalars().all()
    return person in people and len(people) > 1


def _judged(connection: Connection, person: int, item: int) -> set[int]:
    """The outputs of an item that a person has judged."""
    asked = (
        select(decisions.c.output_id)
        .join(outputs, outputs.c.id == decisions.c.output_id)
        .where(
            outputs.c.item_id == item,
            decisions.c.annotator_id == person,
            decisions.c.verdict != "skip",
            ~decisions.c.withdrawn,
        )
    )
    return set(connection.execute(asked).scalars())


def _unseen(output: StoredOutput, judged: set[int]) -> StoredOutput:
    if output.id in judged or not output.decisions:
        return output
    return replace(output, verdict=output.ruled, by=None, disputed=False, decisions=())


def _matches(item: Item, text: str) -> tuple[tuple[tuple[str, int, int], ...], tuple[str, ...]]:
    """Where the item's rules match, and which could not be searched."""
    found, trouble = [], []
    for rule in item.rules:
        span = _span(rule.text, rule.kind, text)
        if isinstance(span, str):
            trouble.append(f"rule {rule.id}: {span}")
        elif span:
            found.append((rule.id, *span))
    return tuple(found), tuple(trouble)


# Pages are shown again and again, and a slow pattern takes its time each time.
@lru_cache(10_000)
def _span(text: str, kind: Kind, output: str) -> tuple[int, int] | str | None:
    try:
        return pattern(text, kind).search(output)
    except OutOfTime:
        return f"took longer than {LIMIT:g} s: {text!r}"
    except DataError as error:
        return str(error)
