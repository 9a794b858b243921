"""The state of a database in a few numbers, to tell whether something has changed."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from assay.suites.store.tables import answers, assignments, changes, facts, items, outputs, rules

__all__ = ["state"]


def state(connection: Connection) -> tuple[object, ...]:
    """Numbers that differ once somebody has decided, undone, dealt, imported or run something."""
    newest = (
        select(func.max(changes.c.id), func.max(changes.c.undone)),
        select(func.max(rules.c.id), func.count(), func.sum(rules.c.position)),
        select(func.count(), func.sum(answers.c.output_id)).select_from(answers),
        select(func.count()).select_from(assignments),
        select(func.count(), func.max(items.c.id)),
        select(func.max(facts.c.value)).where(facts.c.name == "saved"),
    )
    found = [tuple(connection.execute(asked).one()) for asked in newest]
    columns = (outputs.c.ruled, outputs.c.verdict)
    counts = select(*columns, func.count()).group_by(*columns).order_by(*columns)
    return (*found, *map(tuple, connection.execute(counts)))
