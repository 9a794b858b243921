"""Blind judging: what others say of an output is kept from those who are still to judge it, too."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, case, false, select

from assay.suites.store.queue import hidden_outputs, unseen
from assay.suites.store.records import StoredOutput
from assay.suites.store.tables import batches, outputs

__all__ = ["hidden_from", "masked", "seen_verdict"]


def hidden_from(connection: Connection, person: int | None) -> ColumnElement[bool]:
    """Whether an output's verdict is hidden from a person; nothing is, where nobody is given.

    It is one list for the whole question to the database, not a question per output.
    """
    if person is None:
        return false()
    condition = hidden_outputs(connection, person)
    if condition is false():
        return condition
    return outputs.c.id.in_(select(outputs.c.id).where(condition).correlate(None))


def seen_verdict(connection: Connection, person: int | None) -> ColumnElement[str]:
    """The verdict of an output as a person may see it: what the rules say where it is hidden."""
    hidden = hidden_from(connection, person)
    return case((hidden, outputs.c.ruled), else_=outputs.c.verdict)


def masked(
    connection: Connection, found: Sequence[StoredOutput], person: int | None
) -> list[StoredOutput]:
    """The outputs as a person may see them."""
    hidden = hidden_from(connection, person)
    if hidden is false():
        return list(found)
    kept: set[int] = set()
    for batch in batches(output.id for output in found):
        asked = select(outputs.c.id).where(outputs.c.id.in_(batch), hidden)
        kept.update(connection.execute(asked).scalars())
    return [unseen(output) if output.id in kept else output for output in found]
