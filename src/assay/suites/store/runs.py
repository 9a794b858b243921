"""Runs in and out of the database: every distinct output of an item is kept and judged once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, cast

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Connection,
    Insert,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from assay.data import DataError
from assay.settings import did_you_mean
from assay.suites.check import NOT_TESTED, Checker, Hits, Verdict, Verdicts, code_of
from assay.suites.model import Run
from assay.suites.store.items import load_items
from assay.suites.store.records import Decision, StoredRun
from assay.suites.store.tables import (
    annotators,
    answers,
    batches,
    changes,
    check_text,
    decisions,
    digest,
    items,
    learn_sizes,
    outputs,
    pairs,
    runs,
)

__all__ = [
    "FinalVerdict",
    "drop_unused",
    "final_verdict",
    "load_decisions",
    "load_verdicts",
    "recheck",
    "save_answers",
    "save_run",
    "settle",
    "stored_runs",
]


class FinalVerdict(NamedTuple):
    """The verdict that counts, the rule or the person behind it, and whether people disagree."""

    verdict: Verdict
    by: str | None
    disputed: bool


def final_verdict(
    ruled: Verdict, ruled_by: str | None, decisions: Sequence[Decision]
) -> FinalVerdict:
    """The verdict that counts, from that of the rules and people's decisions, the oldest first.

    The last adjudication counts; else what all people say; else, where they disagree, it is a
    warning and disputed; without any decision, the rules' verdict. Skipping decides nothing.
    """
    given = [decision for decision in decisions if decision.verdict != "skip"]
    adjudications = [decision for decision in given if decision.adjudication]
    if not given:
        return FinalVerdict(ruled, ruled_by, disputed=False)
    if len({decision.verdict for decision in given}) > 1 and not adjudications:
        return FinalVerdict("warning", None, disputed=True)
    counting = adjudications[-1] if adjudications else given[0]
    return FinalVerdict(cast(Verdict, counting.verdict), counting.person, disputed=False)


def settle(connection: Connection, ids: Iterable[int]) -> None:
    """Write the verdict that counts for these outputs, where it has changed."""
    for batch in batches(ids):
        known = load_decisions(connection, batch)
        columns = (outputs.c.verdict, outputs.c.by, outputs.c.disputed)
        asked = select(outputs.c.id, outputs.c.ruled, outputs.c.ruled_by, *columns)
        moved = []
        for id_, ruled, ruled_by, *before in connection.execute(
            asked.where(outputs.c.id.in_(batch))
        ):
            after = final_verdict(ruled, ruled_by, known.get(id_, ()))
            if list(after) != before:
                moved.append({"which": id_, **after._asdict()})
        if moved:
            connection.execute(update(outputs).where(outputs.c.id == bindparam("which")), moved)


def load_decisions(connection: Connection, ids: Sequence[int]) -> dict[int, list[Decision]]:
    """What people say of these outputs at present, by output, the oldest first."""
    asked = select(
        decisions.c.output_id,
        decisions.c.id,
        annotators.c.name,
        decisions.c.verdict,
        decisions.c.adjudication,
        decisions.c.time,
    ).join(annotators, annotators.c.id == decisions.c.annotator_id)
    found: dict[int, list[Decision]] = defaultdict(list)
    for batch in batches(ids):
        current = asked.where(decisions.c.output_id.in_(batch), ~decisions.c.withdrawn)
        for output, *fields in connection.execute(current.order_by(decisions.c.id)):
            found[output].append(Decision(*fields))
    return found


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
            finding = checker.judge(known[item], text)
            after = [int(finding.hits), finding.verdict, finding.by]
            if after != before:
                moved.append(
                    {"which": id_, **dict(zip(("hits", "ruled", "ruled_by"), after, strict=True))}
                )
        if moved:
            connection.execute(update(outputs).where(outputs.c.id == bindparam("which")), moved)
            settle(connection, [row["which"] for row in moved])
    return judged


def save_answers(
    connection: Connection, run: int, texts: Mapping[int, str], checker: Checker
) -> None:
    """Keep what a run has for these items; a text that is new to its item is judged."""
    for text in texts.values():
        check_text(text, "an output")
    digests = {item: digest(text) for item, text in texts.items()}
    known = load_items(connection, texts)
    rows = []
    for item, text in texts.items():
        finding = checker.judge(known[item], text)
        rows.append(
            {
                "item_id": item,
                "digest": digests[item],
                "text": text,
                "hits": int(finding.hits),
                "ruled": finding.verdict,
                "ruled_by": finding.by,
                "verdict": finding.verdict,
                "by": finding.by,
            }
        )
    if rows:
        connection.execute(_insert_new(connection), rows)
        told = [{"item": item, "digest": digests[item]} for item in texts]
        connection.execute(_answer(run), told)
        _revive(connection, run)


def drop_unused(connection: Connection, ids: Iterable[int]) -> None:
    """Delete those of the outputs that no run has; what people said something of stays."""
    for batch in batches(ids):
        unused = outputs.c.id.in_(batch), ~exists().where(answers.c.output_id == outputs.c.id)
        noticed = exists().where(decisions.c.output_id == outputs.c.id) | exists().where(
            changes.c.output_id == outputs.c.id
        )
        connection.execute(delete(outputs).where(*unused, ~noticed))
        connection.execute(
            update(outputs)
            .where(*unused)
            .values(hits=int(Hits.NONE), ruled="not tested", ruled_by=None)
        )
        settle(connection, batch)


def _insert_new(connection: Connection) -> Insert:
    """An insertion that passes over outputs that are there."""
    same = ["item_id", "digest"]
    if connection.dialect.name == "postgresql":
        return postgresql.insert(outputs).on_conflict_do_nothing(index_elements=same)
    return sqlite.insert(outputs).on_conflict_do_nothing(index_elements=same)


def _answer(run: int) -> Insert:
    """An insertion that looks the output of an item up by its digest."""
    found = select(literal(run), outputs.c.item_id, outputs.c.id).where(
        outputs.c.item_id == bindparam("item"), outputs.c.digest == bindparam("digest")
    )
    return insert(answers).from_select(["run_id", "item_id", "output_id"], found)


def _revive(connection: Connection, run: int) -> None:
    """Judge those outputs of a run again that nobody had for a while."""
    asked = (
        select(outputs.c.id, outputs.c.item_id)
        .join(answers, answers.c.output_id == outputs.c.id)
        .where(answers.c.run_id == run, outputs.c.ruled == "not tested", outputs.c.text != "")
    )
    asleep = pairs(connection, asked)
    if asleep:
        recheck(connection, set(asleep.values()), only=list(asleep))


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
                f"{did_you_mean(name, ids)}."
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
