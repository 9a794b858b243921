"""What people said of outputs that several of them judged."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection, func, select

from assay.suites.store.records import Ratings
from assay.suites.store.tables import annotators, decisions

__all__ = ["ratings"]


def ratings(connection: Connection) -> Ratings:
    """What people said of the outputs that several of them judged, adjudications aside."""
    current = ~decisions.c.withdrawn, ~decisions.c.adjudication, decisions.c.verdict != "skip"
    several = (
        select(decisions.c.output_id)
        .where(*current)
        .group_by(decisions.c.output_id)
        .having(func.count() > 1)
    )
    asked = (
        select(decisions.c.output_id, annotators.c.name, decisions.c.verdict)
        .join(annotators, annotators.c.id == decisions.c.annotator_id)
        .where(*current, decisions.c.output_id.in_(several))
    )
    rows = connection.execute(asked).all()
    people = sorted({row.name for row in rows})
    judged = sorted({row.output_id for row in rows})
    codes = np.full((len(people), len(judged)), np.nan)
    at = {name: row for row, name in enumerate(people)}
    column = {output: number for number, output in enumerate(judged)}
    for row in rows:
        codes[at[row.name], column[row.output_id]] = float(row.verdict == "pass")
    return Ratings(tuple(people), tuple(judged), codes)
