"""Filters as conditions on the tables `outputs` and `items`."""

from __future__ import annotations

from sqlalchemy import Column, ColumnElement, Connection, exists, func, select

from assay.suite.store.records import Filters
from assay.suite.store.tables import annotators, answers, decisions, items, outputs, runs

__all__ = ["conditions"]

LONGEST = 1000
"""Characters of a searched text that are looked at; SQLite takes no pattern without end."""


def conditions(connection: Connection, filters: Filters) -> list[ColumnElement[bool]]:
    """What an output and its item have to be; nothing for filters that are empty."""
    wanted: list[ColumnElement[bool]] = []
    if filters.category:
        wanted.append(items.c.category == filters.category)
    if filters.phenomenon:
        wanted.append(items.c.phenomenon == filters.phenomenon)
    if filters.verdict == "disputed":
        wanted.append(outputs.c.disputed)
    elif filters.verdict:
        wanted.append(outputs.c.verdict == filters.verdict)
    if filters.system or filters.campaign:
        wanted.append(_has_run(connection, filters))
    if filters.annotator:
        wanted.append(_has_word(connection, filters.annotator))
    if filters.text:
        wanted.append(_has_text(connection, filters.text))
    return wanted


def _has_run(connection: Connection, filters: Filters) -> ColumnElement[bool]:
    asked = select(runs.c.id)
    if filters.system:
        asked = asked.where(runs.c.system == filters.system)
    if filters.campaign:
        asked = asked.where(runs.c.campaign == filters.campaign)
    numbers = connection.execute(asked).scalars().all()
    return exists().where(answers.c.output_id == outputs.c.id, answers.c.run_id.in_(numbers))


def _has_word(connection: Connection, name: str) -> ColumnElement[bool]:
    asked = select(annotators.c.id).where(annotators.c.name == name)
    number = connection.execute(asked).scalar() or 0
    return exists().where(
        decisions.c.output_id == outputs.c.id,
        decisions.c.annotator_id == number,
        ~decisions.c.withdrawn,
    )


def _has_text(connection: Connection, text: str) -> ColumnElement[bool]:
    wanted = text.replace("\0", "\ufffd")[:LONGEST]
    # SQLite compares the letters of ASCII without their case by itself, and much faster.
    plain = wanted.isascii() and connection.dialect.name == "sqlite"
    sources = select(items.c.id).where(_contains(items.c.source, wanted, plain=plain))
    found = connection.execute(sources).scalars().all()
    in_output = _contains(outputs.c.text, wanted, plain=plain)
    return in_output | items.c.id.in_(found) if found else in_output


def _contains(column: Column[str], text: str, *, plain: bool) -> ColumnElement[bool]:
    if plain:
        return column.contains(text, autoescape=True)
    return func.lower(column).contains(text.lower(), autoescape=True)
