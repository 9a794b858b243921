"""Outputs for people: one case, the one to judge next, and progress."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache, partial
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    distinct,
    exists,
    false,
    func,
    select,
    true,
)
from sqlalchemy import case as sql_case

from assay.data import DataError
from assay.suites.check import LIMIT, OutOfTime, pattern
from assay.suites.model import Item, Kind
from assay.suites.store.filters import conditions
from assay.suites.store.notes import notes_of_item
from assay.suites.store.phenomena import phenomenon_named
from assay.suites.store.records import Case, Filters, Note, Progress, StoredOutput
from assay.suites.store.suites import OPEN, load_decisions, load_items
from assay.suites.store.tables import (
    answers,
    assignments,
    batches,
    changes,
    decisions,
    items,
    leases,
    now,
    outputs,
    rules,
    runs,
)

__all__ = [
    "Waiting",
    "case",
    "doubled",
    "given",
    "given_to",
    "half_judged",
    "hidden_outputs",
    "next_case",
    "next_output",
    "progress",
    "rule_matches",
    "said_by",
    "skip_of",
    "stored_outputs",
    "unseen",
    "waiting_for",
]


class Waiting(NamedTuple):
    """Conditions on items, and on the outputs in them; whether somebody has `judged` these."""

    items: ColumnElement[bool]
    outputs: ColumnElement[bool]
    judged: bool = False


def waiting_for(connection: Connection, person: int) -> tuple[Waiting, ...]:
    """What waits for a person, in parts that have nothing in common.

    These are the warnings that nobody has judged and that were given to this person; those that
    another person has judged and this one shall judge as well; and at last, of those that were
    given to nobody, the ones that nobody has judged, in items that no other person is looking at.
    Parts of which nothing can be are left out.
    """
    mine = given_to(person)
    warned = and_(outputs.c.ruled == "warning", ~outputs.c.disputed)
    unjudged = and_(warned, outputs.c.verdict == "warning")
    judged = and_(warned, outputs.c.verdict.in_(("pass", "fail")))
    watched = _watched_by_others(connection, person)
    free = items.c.id.not_in(watched) if watched else true()
    some = _some_dealt(connection)
    pool = Waiting(free, and_(unjudged, ~given()) if some else unjudged)
    own = exists().where(_dealt.c.annotator_id == person)
    if not some or not connection.execute(select(own)).scalar():
        return (pool,)
    return (
        Waiting(true(), and_(unjudged, mine)),
        Waiting(true(), and_(judged, doubled(), mine), judged=True),
        pool,
    )


def _some_dealt(connection: Connection) -> bool:
    return bool(connection.execute(select(select(_dealt.c.output_id).exists())).scalar())


def _watched_by_others(connection: Connection, person: int) -> list[int]:
    """The items that other people look at."""
    asked = select(leases.c.item_id).where(
        leases.c.annotator_id != person, leases.c.expires > now()
    )
    return list(connection.execute(asked).scalars())


# By a name of its own, so that it stays apart where assignments are asked for as well.
_dealt = assignments.alias("dealt")
_second = assignments.alias("second_judges")


def given() -> ColumnElement[bool]:
    """Somebody was given the output; else it is in the pool."""
    return exists().where(_dealt.c.output_id == outputs.c.id)


def given_to(person: int) -> ColumnElement[bool]:
    """The output was given to this person."""
    return exists().where(_dealt.c.output_id == outputs.c.id, _dealt.c.annotator_id == person)


def doubled() -> ColumnElement[bool]:
    """Two people are to judge the output, neither of whom knows what the other said."""
    return exists().where(_dealt.c.output_id == outputs.c.id, _dealt.c.second)


def hidden_outputs(connection: Connection, person: int) -> ColumnElement[bool]:
    """What others said of the output is kept from this person, who is still to judge it as well.

    It is so for one of the two judges of an output, until this person has judged it; a skip is no
    judgement. Nothing is hidden any more where a rule has settled the output, or people disagree.
    """
    some = select(exists().where(_dealt.c.annotator_id == person))
    if not connection.execute(some).scalar():
        return false()
    judged = exists().where(_decision_of(person), decisions.c.verdict != "skip")
    waiting = and_(outputs.c.ruled == "warning", ~outputs.c.disputed)
    return and_(waiting, doubled(), given_to(person), ~judged)


def half_judged() -> ColumnElement[bool]:
    """One of the two judges of an output has judged it, which is kept from the other."""
    judged = exists().where(
        decisions.c.output_id == _dealt.c.output_id,
        decisions.c.annotator_id == _dealt.c.annotator_id,
        decisions.c.verdict != "skip",
        ~decisions.c.withdrawn,
    )
    waits = exists().where(_dealt.c.output_id == outputs.c.id, ~judged.correlate(_dealt))
    settled = and_(outputs.c.ruled == "warning", outputs.c.verdict != "warning")
    return and_(settled, doubled(), waits)


def said_by(person: int) -> ColumnElement[bool]:
    """The person has said something of the output, be it that they skip it."""
    return exists().where(_decision_of(person))


def skip_of(person: int) -> ColumnElement[bool]:
    """A decision is this person's, on the output, to skip it."""
    return and_(_decision_of(person), decisions.c.verdict == "skip")


def _decision_of(person: int) -> ColumnElement[bool]:
    return and_(
        decisions.c.output_id == outputs.c.id,
        decisions.c.annotator_id == person,
        ~decisions.c.withdrawn,
    )


PACE = 30
"""How many of a person's last decisions tell the pace."""

JUDGED = ("decision", "skip")
"""The kinds of changes that tell the pace: importing and dividing work say nothing about it."""

BREAK = 300
"""Seconds after which a person was doing something else."""


def progress(connection: Connection, person: int) -> Progress:
    """How far the work is, for all and for this person.

    The total is the warnings that people were to judge: those that the rules leave now, and
    those that rules added in the page have settled.
    """
    warnings = _warnings(connection)
    by_rules = _settled_by_new_rules(connection)
    waiting, skipped = _waiting(connection, person, warnings.open)
    done = _done(connection, person)
    return Progress(
        total=warnings.total + by_rules,
        settled=warnings.judged + by_rules,
        mine=waiting + skipped + done,
        mine_done=done,
        skipped=skipped,
        disputed=warnings.disputed,
        seconds_left=_seconds_left(connection, person, waiting + skipped),
    )


class _Warnings(NamedTuple):
    """Warnings of the rules: those that nobody has judged, those that people settled, disputes."""

    total: int
    open: int
    judged: int
    disputed: int


def _warnings(connection: Connection) -> _Warnings:
    columns = outputs.c.verdict, outputs.c.disputed
    asked = select(*columns, func.count()).where(outputs.c.ruled == "warning").group_by(*columns)
    counts = {(verdict, disputed): count for verdict, disputed, count in connection.execute(asked)}
    total, open_ = sum(counts.values()), counts.get(("warning", False), 0)
    unsettled = sum(count for (verdict, _), count in counts.items() if verdict == "warning")
    return _Warnings(total, open_, total - unsettled, _disputed(connection))


def _settled_by_new_rules(connection: Connection) -> int:
    asked = (
        select(func.count())
        .select_from(rules)
        .join(outputs, outputs.c.ruled_by == rules.c.name)
        .where(rules.c.change_id.is_not(None), ~rules.c.retired)
    )
    return connection.execute(asked).scalar_one()


def _disputed(connection: Connection) -> int:
    asked = select(func.count()).select_from(outputs).where(outputs.c.disputed)
    return connection.execute(asked).scalar_one()


def _waiting(connection: Connection, person: int, open_: int) -> tuple[int, int]:
    """How many outputs wait for a person who has said nothing of them, or has skipped them.

    `open_` are the warnings that nobody has judged, given to anybody or not.
    """
    waiting = skipped = 0
    *own, pool = waiting_for(connection, person)
    for part in (*own, pool):
        # Where nobody has judged, a person can have said no more than that they skip it. Counting
        # what was said is faster than looking for nothing a hundred thousand times.
        words = _decision_of(person) if part.judged else skip_of(person)
        counts = select(
            func.count(distinct(outputs.c.id)),
            func.count(distinct(sql_case((decisions.c.verdict == "skip", outputs.c.id)))),
        ).select_from(_JOINED.join(decisions, words))
        said, left = connection.execute(counts.where(part.items, part.outputs)).one()
        waiting -= said
        skipped += left
    given_, mine = _given_and_mine(connection, person)
    waiting += open_ - given_ + mine - _out_of_reach(connection, person)
    waiting += sum(_second_judgements(connection, part) for part in own if part.judged)
    return waiting, skipped


def _given_and_mine(connection: Connection, person: int) -> tuple[int, int]:
    """How many of the open warnings were given to somebody, and how many to this person."""
    if not _some_dealt(connection):
        return 0, 0
    asked = select(func.count()).select_from(_dealt).where(_dealt.c.open)
    first, mine = ~_dealt.c.second, _dealt.c.annotator_id == person
    given_, own = (connection.execute(asked.where(part)).scalar_one() for part in (first, mine))
    return given_, own


def _out_of_reach(connection: Connection, person: int) -> int:
    """How many open warnings of the pool other people are looking at."""
    watched = _watched_by_others(connection, person)
    asked = select(func.count()).select_from(outputs).where(OPEN, ~given())
    within = asked.where(outputs.c.item_id.in_(watched))
    return connection.execute(within).scalar_one() if watched else 0


def _second_judgements(connection: Connection, part: Waiting) -> int:
    joined = outputs.join(_second, _second.c.output_id == outputs.c.id)
    asked = select(func.count()).select_from(joined).where(_second.c.second, part.outputs)
    return connection.execute(asked).scalar_one()


def _done(connection: Connection, person: int) -> int:
    asked = select(func.count(distinct(decisions.c.output_id))).where(
        decisions.c.annotator_id == person,
        decisions.c.verdict != "skip",
        ~decisions.c.withdrawn,
    )
    return connection.execute(asked).scalar_one()


def _seconds_left(connection: Connection, person: int, left: int) -> float | None:
    asked = select(changes.c.time).where(
        changes.c.annotator_id == person, changes.c.kind.in_(JUDGED)
    )
    newest = connection.execute(asked.order_by(changes.c.id.desc()).limit(PACE + 1)).scalars()
    times = [datetime.fromisoformat(time) for time in newest]
    gaps = [(late - early).total_seconds() for late, early in pairwise(times)]
    steady = [gap for gap in gaps if gap <= BREAK]
    return left * median(steady) if steady else None


ALL = Filters()


def next_case(
    connection: Connection, person: int, filters: Filters = ALL, *, skipped: bool = False
) -> Case | None:
    """The first output in a person's queue (`next_output`), with all that is needed to judge it."""
    output = next_output(connection, person, filters, skipped=skipped)
    return None if output is None else case(connection, output, person)


def next_output(
    connection: Connection,
    person: int,
    filters: Filters = ALL,
    *,
    skipped: bool = False,
    beside: int | None = None,
) -> int | None:
    """The first output in a person's queue; with `skipped`, the one they skipped longest ago.

    In the queue are the warnings of the rules that wait for this person (`waiting_for`) and of
    which this person has said nothing: first what was given to them, then what is in the pool.
    With `beside`, only those in the item of that output. They come in the order of items, or as
    `filters.sort` says.
    """
    hidden = hidden_outputs(connection, person)
    wanted = and_(true(), *conditions(connection, filters, hidden=hidden, person=person))
    if beside is not None:
        item = select(outputs.c.item_id).where(outputs.c.id == beside)
        wanted = and_(wanted, items.c.id == connection.execute(item).scalar_one())
    if skipped:
        look = partial(_first_skipped, connection, wanted=wanted, person=person)
    else:
        first = _first_by_systems if filters.sort == "systems" else _first
        look = partial(first, connection, wanted=and_(~said_by(person), wanted))
    *own, pool = waiting_for(connection, person)
    found = [place for part in own if (place := look(part))]
    if not found and (place := look(pool)):
        found = [place]
    return min(found, key=lambda turn: turn.place).output if found else None


class _Turn(NamedTuple):
    """An output of the queue; the one with the smallest place comes first."""

    position: int
    output: int
    rank: int = 0

    @property
    def place(self) -> tuple[int, int, int]:
        return self.rank, self.position, self.output


def _first(connection: Connection, waiting: Waiting, wanted: ColumnElement[bool]) -> _Turn | None:
    """The first output that waits; found by going through the items, not through all outputs."""
    if waiting.judged:
        return _first_judged(connection, waiting, wanted)
    open_ = and_(outputs.c.item_id == items.c.id, waiting.outputs, wanted)
    # A subquery, not EXISTS: PostgreSQL would look for all items that have one.
    some = select(outputs.c.id).where(open_).limit(1).correlate(items).scalar_subquery()
    asked = select(items.c.id, items.c.position).where(waiting.items, some.is_not(None))
    item = connection.execute(asked.order_by(items.c.position).limit(1)).first()
    if item is None:
        return None
    within = select(func.min(outputs.c.id)).select_from(_JOINED)
    output = connection.execute(within.where(items.c.id == item.id, open_)).scalar_one()
    return _Turn(item.position, output)


def _first_by_systems(
    connection: Connection, waiting: Waiting, wanted: ColumnElement[bool]
) -> _Turn | None:
    """The first output that waits, those first that most systems wrote."""
    many = (
        select(answers.c.output_id, func.count().label("systems"))
        .group_by(answers.c.output_id)
        .subquery()
    )
    asked = (
        select(items.c.position, outputs.c.id, -many.c.systems)
        .select_from(_JOINED.join(many, many.c.output_id == outputs.c.id))
        .where(waiting.items, waiting.outputs, wanted)
        .order_by(many.c.systems.desc(), items.c.position, outputs.c.id)
        .limit(1)
    )
    found = connection.execute(asked).first()
    return _Turn(*found) if found else None


def _first_judged(
    connection: Connection, waiting: Waiting, wanted: ColumnElement[bool]
) -> _Turn | None:
    """The first output that waits for a second judgement; found by going through these alone."""
    asked = (
        select(items.c.position, outputs.c.id)
        .select_from(_JOINED.join(_second, _second.c.output_id == outputs.c.id))
        .where(_second.c.second, waiting.outputs, wanted)
        .order_by(items.c.position, outputs.c.id)
        .limit(1)
    )
    found = connection.execute(asked).first()
    return _Turn(*found) if found else None


def _first_skipped(
    connection: Connection, waiting: Waiting, wanted: ColumnElement[bool], *, person: int
) -> _Turn | None:
    """The output that was skipped longest ago, so that skipping again leads on."""
    asked = (
        select(decisions.c.id, outputs.c.id.label("output"))
        .select_from(_JOINED.join(decisions, skip_of(person)))
        .where(waiting.items, waiting.outputs, wanted)
        .order_by(decisions.c.id)
        .limit(1)
    )
    found = connection.execute(asked).first()
    return _Turn(found.id, found.output) if found else None


_JOINED = items.join(outputs, outputs.c.item_id == items.c.id)


def case(connection: Connection, output: int, person: int | None = None) -> Case:
    """All that a person needs to judge one output; a `DataError` where there is none.

    What others said of an output is not shown to one of its two judges who has not judged it:
    two independent judgements are wanted.
    """
    asked = select(outputs.c.item_id).where(outputs.c.id == output)
    number = connection.execute(asked).scalar()
    if number is None:
        raise DataError(f"there is no output {output} in the database any more.")
    item = load_items(connection, [number])[number]
    every = select(outputs.c.id).where(outputs.c.item_id == number).order_by(outputs.c.id)
    known = stored_outputs(connection, connection.execute(every).scalars().all())
    if person is not None:
        hidden = every.where(hidden_outputs(connection, person))
        kept = set(connection.execute(hidden).scalars())
        known = [unseen(stored) if stored.id in kept else stored for stored in known]
    this = next(stored for stored in known if stored.id == output)
    others = [stored for stored in known if stored.id != output and stored.systems]
    matches, trouble = rule_matches(item, this.text)
    return Case(
        item=item,
        output=this,
        matches=matches,
        others=tuple(sorted(others, key=lambda other: other.verdict != "warning")),
        trouble=trouble,
        notes=_notes(connection, item.id, person),
        definition=phenomenon_named(connection, item.category, item.phenomenon),
    )


def _notes(connection: Connection, item: str, person: int | None) -> tuple[Note, ...]:
    """The notes on an item and on its outputs, as far as a person may see them."""
    hidden = None if person is None else hidden_outputs(connection, person)
    return tuple(notes_of_item(connection, item, outputs_too=True, hidden=hidden, person=person))


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


def unseen(output: StoredOutput) -> StoredOutput:
    """The output as one of its two judges sees it, who has not judged it."""
    return replace(output, verdict=output.ruled, by=None, decisions=())


def rule_matches(item: Item, text: str) -> tuple[tuple[tuple[str, int, int], ...], tuple[str, ...]]:
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
