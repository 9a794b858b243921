"""How far the work on the warnings is."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from statistics import median

from sqlalchemy import Connection, and_, case, distinct, func, select

from assay.suite.store.records import Progress
from assay.suite.store.tables import changes, decisions, items, outputs, rules
from assay.suite.store.waiting import waiting_for

__all__ = ["progress"]

PACE = 30
"""How many of a person's last decisions tell the pace."""

BREAK = 300
"""Seconds after which a person was doing something else."""


def progress(connection: Connection, annotator: int) -> Progress:
    """How far the work is, for all and for this person.

    The total is the warnings that people were to judge: those that the rules leave now, and
    those that rules added in the page have settled.
    """
    left, judged = _warnings(connection)
    by_rules = _settled_by_new_rules(connection)
    waiting, skipped = _waiting(connection, annotator)
    done = _done(connection, annotator)
    return Progress(
        total=left + judged + by_rules,
        settled=judged + by_rules,
        mine=waiting + skipped + done,
        mine_done=done,
        skipped=skipped,
        disputed=_disputed(connection),
        seconds_left=_seconds_left(connection, annotator, waiting + skipped),
    )


def _warnings(connection: Connection) -> tuple[int, int]:
    """How many warnings of the rules are left, and how many people have settled."""
    asked = select(outputs.c.verdict, func.count()).where(outputs.c.ruled == "warning")
    rows = connection.execute(asked.group_by(outputs.c.verdict))
    counts = {verdict: count for verdict, count in rows}
    left = counts.pop("warning", 0)
    return left, sum(counts.values())


def _settled_by_new_rules(connection: Connection) -> int:
    asked = (
        select(func.count())
        .select_from(rules)
        .join(outputs, outputs.c.item_id == rules.c.item_id)
        .where(rules.c.change_id.is_not(None), ~rules.c.retired, outputs.c.ruled_by == rules.c.name)
    )
    return connection.execute(asked).scalar_one()


def _disputed(connection: Connection) -> int:
    asked = select(func.count()).select_from(outputs).where(outputs.c.disputed)
    return connection.execute(asked).scalar_one()


def _waiting(connection: Connection, annotator: int) -> tuple[int, int]:
    """How many outputs wait for a person who has said nothing of them, or has skipped them."""
    waiting = skipped = 0
    mine = and_(
        decisions.c.output_id == outputs.c.id,
        decisions.c.annotator_id == annotator,
        ~decisions.c.withdrawn,
    )
    for part in waiting_for(annotator):
        joined = outputs.join(items, items.c.id == outputs.c.item_id)
        asked = select(func.count()).select_from(joined).where(part.items, part.outputs)
        # Counting what was said is faster than looking for nothing a hundred thousand times.
        words = select(
            func.count(distinct(outputs.c.id)),
            func.count(distinct(case((decisions.c.verdict == "skip", outputs.c.id)))),
        ).select_from(joined.join(decisions, mine))
        said, left = connection.execute(words.where(part.items, part.outputs)).one()
        waiting += connection.execute(asked).scalar_one() - said
        skipped += left
    return waiting, skipped


def _done(connection: Connection, annotator: int) -> int:
    asked = select(func.count(distinct(decisions.c.output_id))).where(
        decisions.c.annotator_id == annotator,
        decisions.c.verdict != "skip",
        ~decisions.c.withdrawn,
    )
    return connection.execute(asked).scalar_one()


def _seconds_left(connection: Connection, annotator: int, left: int) -> float | None:
    asked = select(changes.c.time).where(changes.c.annotator_id == annotator)
    newest = connection.execute(asked.order_by(changes.c.id.desc()).limit(PACE + 1)).scalars()
    times = [datetime.fromisoformat(time) for time in newest]
    gaps = [(late - early).total_seconds() for late, early in pairwise(times)]
    steady = [gap for gap in gaps if gap <= BREAK]
    return left * median(steady) if steady else None
