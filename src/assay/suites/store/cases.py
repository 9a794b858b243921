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
from assay.suites.store.records import Case, Decision, StoredOutput
from assay.suites.store.tables import annotators, answers, assignments, decisions, outputs, runs
from assay.suites.store.texts import batches

__all__ = ["case", "stored_outputs"]


def case(connection: Connection, output: int, annotator: int | None = None) -> Case:
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
    if annotator is not None and _doubled(connection, number, annotator):
        judged = _judged(connection, annotator, number)
        known = [_unseen(each, judged) for each in known]
    this = next(each for each in known if each.id == output)
    others = [each for each in known if each.id != output and each.systems]
    matches, trouble = _matches(item, this.text)
    return Case(
        item=item,
        output=this,
        matches=matches,
        others=tuple(sorted(others, key=lambda each: each.verdict != "warning")),
        trouble=trouble,
    )


def stored_outputs(connection: Connection, ids: Sequence[int]) -> list[StoredOutput]:
    """These outputs, in the given order, with the systems that have them and people's words."""
    rows, systems, words = {}, _systems(connection, ids), _decisions(connection, ids)
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
            decisions=tuple(words[row.id]),
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


def _decisions(connection: Connection, ids: Sequence[int]) -> dict[int, list[Decision]]:
    asked = select(
        decisions.c.output_id,
        decisions.c.id,
        annotators.c.name,
        decisions.c.verdict,
        decisions.c.adjudication,
        decisions.c.time,
    ).join(annotators, annotators.c.id == decisions.c.annotator_id)
    found = defaultdict(list)
    for batch in batches(ids):
        current = asked.where(decisions.c.output_id.in_(batch), ~decisions.c.withdrawn)
        for output, *rest in connection.execute(current.order_by(decisions.c.id)):
            found[output].append(Decision(*rest))
    return found


def _doubled(connection: Connection, item: int, annotator: int) -> bool:
    """Whether an item was given to this person and to another one."""
    given = select(assignments.c.annotator_id).where(assignments.c.item_id == item)
    people = connection.execute(given).scalars().all()
    return annotator in people and len(people) > 1


def _judged(connection: Connection, annotator: int, item: int) -> set[int]:
    """The outputs of an item that a person has judged."""
    asked = (
        select(decisions.c.output_id)
        .join(outputs, outputs.c.id == decisions.c.output_id)
        .where(
            outputs.c.item_id == item,
            decisions.c.annotator_id == annotator,
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
