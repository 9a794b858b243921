"""Stored outputs judged anew after their rules have changed."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, bindparam, exists, select, update

from assay.suite.check import Checker
from assay.suite.store.reading import load_items
from assay.suite.store.settling import settle
from assay.suite.store.tables import answers, outputs
from assay.suite.store.texts import batches

__all__ = ["recheck"]


def recheck(
    connection: Connection, items: Collection[int], *, only: Collection[int] | None = None
) -> int:
    """Judge the outputs of these items by their rules; of these outputs alone, if `only` is given.

    Outputs that no run has any more are left out. The number of those that were judged.
    """
    known = load_items(connection, items)
    checker = Checker()
    judged = 0
    for batch in batches(items if only is None else only, 1000):
        column = outputs.c.item_id if only is None else outputs.c.id
        asked = select(
            outputs.c.id,
            outputs.c.item_id,
            outputs.c.text,
            outputs.c.hits,
            outputs.c.ruled,
            outputs.c.ruled_by,
        ).where(column.in_(batch), exists().where(answers.c.output_id == outputs.c.id))
        moved = []
        for id_, item, text, *before in connection.execute(asked.order_by(outputs.c.id)).all():
            judged += 1
            finding = checker.finding(known[item], text)
            after = [int(finding.hits), finding.verdict, finding.by]
            if after != before:
                moved.append(
                    {"which": id_, **dict(zip(("hits", "ruled", "ruled_by"), after, strict=True))}
                )
        if moved:
            connection.execute(update(outputs).where(outputs.c.id == bindparam("which")), moved)
            settle(connection, [each["which"] for each in moved])
    return judged
