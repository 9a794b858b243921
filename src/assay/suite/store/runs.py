"""Runs in and out of the database: every distinct output of an item is kept and judged once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
from sqlalchemy import ColumnElement, Connection, and_, delete, func, insert, select, update

from assay.data import DataError
from assay.settings import nearest
from assay.suite.check import Checker
from assay.suite.decide import Verdict
from assay.suite.model import Run
from assay.suite.store.asking import learn_sizes, pairs
from assay.suite.store.outputs import drop_unused, save_answers
from assay.suite.store.reading import load_items
from assay.suite.store.records import StoredRun
from assay.suite.store.tables import answers, items, outputs, runs
from assay.suite.store.texts import check_text
from assay.suite.verdicts import NOT_TESTED, Verdicts, code_of

__all__ = ["load_verdicts", "save_run", "stored_runs"]


def save_run(connection: Connection, run: Run, checker: Checker, *, replace: bool = False) -> None:
    """Keep a run and judge what is new in it.

    The same outputs once more change nothing. Other outputs of the same system in the same
    campaign are a `DataError`, unless they shall `replace` those that are there.
    """
    ids = _item_ids(connection, run)
    before = _stored_texts(connection, run)
    if before is None:
        _check_names(run)
        values = {"system": run.system, "campaign": run.campaign, "date": run.date}
        connection.execute(insert(runs).values(values))
    elif before == dict(run.outputs):
        _set_date(connection, run)
        return
    elif not replace:
        raise DataError(_clash(run, before))
    number = connection.execute(select(runs.c.id).where(_is(run))).scalar_one()
    _set_date(connection, run)
    given_up = _forget(connection, number) if before else []
    texts = {ids[name]: text for name, text in run.outputs.items()}
    save_answers(connection, number, texts, checker)
    drop_unused(connection, given_up)
    learn_sizes(connection)


def stored_runs(connection: Connection) -> list[StoredRun]:
    """All runs, in the order in which they came."""
    asked = (
        select(runs, func.count(answers.c.item_id))
        .join(answers, answers.c.run_id == runs.c.id, isouter=True)
        .group_by(runs.c.id)
        .order_by(runs.c.id)
    )
    return [StoredRun(*row) for row in connection.execute(asked)]


def load_verdicts(connection: Connection, numbers: Sequence[int]) -> Verdicts:
    """The verdicts that count of these runs, on all items that one of them has an output for.

    A system is named with its campaign where several of its runs are asked for.
    """
    rows = {row: at for at, row in enumerate(numbers)}
    asked = (
        select(answers.c.run_id, answers.c.item_id, outputs.c.verdict, outputs.c.by, outputs.c.text)
        .join(outputs, outputs.c.id == answers.c.output_id)
        .where(answers.c.run_id.in_(numbers))
    )
    found = connection.execute(asked).all()
    wanted = {row.item_id for row in found}
    known = {id_: item for id_, item in load_items(connection).items() if id_ in wanted}
    columns = {id_: at for at, id_ in enumerate(known)}
    codes = np.full((len(numbers), len(known)), NOT_TESTED, np.int8)
    by: list[list[str | None]] = [[None] * len(known) for _ in numbers]
    texts = [[""] * len(known) for _ in numbers]
    for run, item, verdict, who, text in found:
        row, column = rows[run], columns[item]
        codes[row, column] = code_of(cast(Verdict, verdict))
        by[row][column], texts[row][column] = who, text
    return Verdicts(_names(connection, numbers), tuple(known.values()), codes, by, texts)


def _names(connection: Connection, numbers: Sequence[int]) -> tuple[str, ...]:
    known = {run.id: run for run in stored_runs(connection)}
    missing = [number for number in numbers if number not in known]
    if missing:
        raise DataError(f"there is no run {missing[0]} in the database.")
    systems = [known[number].system for number in numbers]
    return tuple(
        system if systems.count(system) == 1 else f"{system} ({known[number].campaign})"
        for number, system in zip(numbers, systems, strict=True)
    )


def _is(run: Run) -> ColumnElement[bool]:
    return and_(runs.c.system == run.system, runs.c.campaign == run.campaign)


def _item_ids(connection: Connection, run: Run) -> dict[str, int]:
    ids = pairs(connection, select(items.c.name, items.c.id))
    for name in run.outputs:
        if name not in ids:
            raise DataError(
                f"{run.system} has an output for item {name!r}, which the suite does not have"
                f"{nearest(name, ids)}."
            )
    return ids


def _check_names(run: Run) -> None:
    for text in (run.system, run.campaign, run.date):
        check_text(text, f"run {run.system!r}")


def _stored_texts(connection: Connection, run: Run) -> dict[str, str] | None:
    """What is stored of the run, by item; None where it is new."""
    number = connection.execute(select(runs.c.id).where(_is(run))).scalar()
    if number is None:
        return None
    asked = (
        select(items.c.name, outputs.c.text)
        .select_from(answers)
        .join(items, items.c.id == answers.c.item_id)
        .join(outputs, outputs.c.id == answers.c.output_id)
        .where(answers.c.run_id == number)
    )
    return pairs(connection, asked)


def _set_date(connection: Connection, run: Run) -> None:
    if run.date:
        connection.execute(update(runs).where(_is(run)).values(date=run.date))


def _clash(run: Run, before: Mapping[str, str]) -> str:
    differing = sum(
        before.get(name) != run.outputs.get(name) for name in before.keys() | run.outputs.keys()
    )
    campaign = f" in {run.campaign}" if run.campaign else ""
    return (
        f"{run.system}{campaign} is in the database with other outputs on {differing} items. "
        "Give the new run a --campaign of its own, or --replace the old one."
    )


def _forget(connection: Connection, number: int) -> list[int]:
    """Take all answers of a run away; the outputs that it had."""
    gone = delete(answers).where(answers.c.run_id == number).returning(answers.c.output_id)
    return list(connection.execute(gone).scalars())
