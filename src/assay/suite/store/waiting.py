"""Which outputs wait for whom, as conditions on the tables."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, exists

from assay.suite.store.tables import assignments, decisions, items, outputs

__all__ = ["Waiting", "said_by", "skip_of", "waiting_for"]


class Waiting(NamedTuple):
    """Conditions on items, and on the outputs in them."""

    items: ColumnElement[bool]
    outputs: ColumnElement[bool]


def waiting_for(annotator: int) -> tuple[Waiting, Waiting]:
    """What waits for a person, in two parts that have nothing in common.

    The first is the warnings in items that were given to this person, whoever else has judged
    them; the second is the warnings that nobody has judged, in items that were given to nobody.
    """
    given = exists().where(assignments.c.item_id == items.c.id)
    warned = and_(outputs.c.ruled == "warning", ~outputs.c.disputed)
    return (
        Waiting(given.where(assignments.c.annotator_id == annotator), warned),
        Waiting(~given, and_(warned, outputs.c.verdict == "warning")),
    )


def said_by(annotator: int) -> ColumnElement[bool]:
    """The person has said something of the output, be it that they skip it."""
    return exists().where(_word_of(annotator))


def skip_of(annotator: int) -> ColumnElement[bool]:
    """A decision is this person's, on the output, to skip it."""
    return and_(_word_of(annotator), decisions.c.verdict == "skip")


def _word_of(annotator: int) -> ColumnElement[bool]:
    return and_(
        decisions.c.output_id == outputs.c.id,
        decisions.c.annotator_id == annotator,
        ~decisions.c.withdrawn,
    )
