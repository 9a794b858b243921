"""Filters: which outputs to look at, as conditions of the database, and what to choose from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    FromClause,
    and_,
    collate,
    exists,
    false,
    func,
    or_,
    select,
    text,
)

from assay.suites.store.notes import flagged
from assay.suites.store.records import FilterChoices, Filters
from assay.suites.store.tables import annotators, answers, decisions, items, outputs, runs

__all__ = ["JOINED", "choices", "conditions", "visible_verdict"]

JOINED = items.join(outputs, outputs.c.item_id == items.c.id)
"""Outputs with their items, which conditions speak of."""

LONGEST = 1000
"""Characters of a searched text that are looked at; SQLite takes no pattern without end."""


MANY = 5000
"""So many items are not listed in a question to the database, which takes no list without end."""


def conditions(
    connection: Connection,
    filters: Filters,
    *,
    hidden: ColumnElement[bool] | None = None,
    person: int | None = None,
) -> list[ColumnElement[bool]]:
    """What an output and its item have to be; nothing for filters that are empty.

    What others than the `person` say of `hidden` outputs is not looked at: they pass for warnings.
    """
    unseen = false() if hidden is None else hidden
    wanted: list[ColumnElement[bool]] = []
    if filters.category:
        wanted.append(items.c.category == filters.category)
    if filters.phenomenon:
        wanted.append(items.c.phenomenon == filters.phenomenon)
    if filters.verdict:
        wanted.append(visible_verdict(filters.verdict, unseen))
    if filters.system or filters.campaign:
        wanted.append(_has_run(connection, filters))
    if filters.person or filters.against:
        wanted += [~unseen, *_judged(connection, filters)]
    if filters.flag:
        wanted.append(flagged(filters.flag, unseen, person))
    if filters.text:
        wanted.append(_has_text(connection, filters.text))
    return wanted


def visible_verdict(verdict: str, hidden: ColumnElement[bool]) -> ColumnElement[bool]:
    """Whether a person sees this verdict, or "disputed"; what is hidden looks like a warning."""
    if verdict == "disputed":
        return and_(outputs.c.disputed, ~hidden)
    has = outputs.c.verdict == verdict
    return or_(has, hidden) if verdict == "warning" else and_(has, ~hidden)


def _has_run(connection: Connection, filters: Filters) -> ColumnElement[bool]:
    asked = select(runs.c.id)
    if filters.system:
        asked = asked.where(runs.c.system == filters.system)
    if filters.campaign:
        asked = asked.where(runs.c.campaign == filters.campaign)
    numbers = connection.execute(asked).scalars().all()
    return exists().where(answers.c.output_id == outputs.c.id, answers.c.run_id.in_(numbers))


def _judged(connection: Connection, filters: Filters) -> list[ColumnElement[bool]]:
    """A person has judged the output, or two of them have and disagree."""
    first, second = decisions.alias(), decisions.alias()
    given = [(first, filters.person), (second, filters.against)]
    by = [_by(connection, table, name) for table, name in given if name]
    if len(by) < 2:
        return [exists().where(condition) for condition in by]
    return [exists().where(*by, first.c.verdict != second.c.verdict, *map(_sole, (first, second)))]


def _by(connection: Connection, table: FromClause, name: str) -> ColumnElement[bool]:
    """A decision is that of a person on the output."""
    asked = select(annotators.c.id).where(annotators.c.name == name)
    number = connection.execute(asked).scalar() or 0
    return and_(
        table.c.output_id == outputs.c.id, table.c.annotator_id == number, ~table.c.withdrawn
    )


def _sole(table: FromClause) -> ColumnElement[bool]:
    """A decision is a judgement of one's own."""
    return and_(table.c.verdict != "skip", ~table.c.adjudication)


def _has_text(connection: Connection, asked: str) -> ColumnElement[bool]:
    wanted = asked.replace("\0", "\ufffd")[:LONGEST]
    folded = _folding(connection, wanted)
    in_source = folded(items.c.source).contains(wanted.lower(), autoescape=True)
    in_output = folded(outputs.c.text).contains(wanted.lower(), autoescape=True)
    some = select(items.c.id).where(in_source).limit(MANY)
    found = connection.execute(some).scalars().all()
    if len(found) == MANY:
        return in_output | in_source
    return in_output | items.c.id.in_(found) if found else in_output


def _folding(connection: Connection, wanted: str) -> Callable[[Column[str]], ColumnElement[str]]:
    """How to make a column lower case, so that the text can be found in it."""
    if connection.dialect.name == "sqlite":
        # Its comparison knows no case in the letters of ASCII, and is faster than `lower`.
        return (lambda column: column) if wanted.isascii() else func.lower
    if wanted.isascii() or not _has_unicode(connection):
        return func.lower
    # The database's own locale may know the letters of ASCII alone.
    return lambda column: func.lower(collate(column, _UNICODE))


_UNICODE = "und-x-icu"


def _has_unicode(connection: Connection) -> bool:
    known = text("SELECT 1 FROM pg_collation WHERE collname = :name")
    return connection.execute(known, {"name": _UNICODE}).first() is not None


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
        people=tuple(people),
    )
