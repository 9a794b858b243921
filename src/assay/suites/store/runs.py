"""Runs in and out of the database: every distinct output of an item is kept and judged once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace as replaced
from typing import NamedTuple, cast

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Connection,
    Insert,
    and_,
    bindparam,
    case,
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
from assay.progress import Track, untracked
from assay.registry import did_you_mean
from assay.suites.check import NOT_TESTED, Checker, Hits, Verdict, Verdicts, code_of
from assay.suites.model import Run
from assay.suites.report import RunResult
from assay.suites.store.blind import hidden_from
from assay.suites.store.history import add_change, counted
from assay.suites.store.opening import Store
from assay.suites.store.records import StoredRun
from assay.suites.store.suites import load_items, recheck, settle
from assay.suites.store.tables import (
    answers,
    assignments,
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
    "ChosenRuns",
    "add_runs",
    "campaigns",
    "choose",
    "drop_unused",
    "load_verdicts",
    "read_campaigns",
    "read_run",
    "save_answers",
    "save_run",
    "save_runs",
    "stored_runs",
]


def read_run(
    store: Store,
    campaigns: Sequence[str] = (),
    systems: Sequence[str] = (),
    *,
    person: int | None = None,
) -> RunResult:
    """The stored runs of these campaigns, by default of the latest, and of these systems, or all.

    It is what `suite_report` takes. A `person` sees warnings where others' verdicts are hidden.
    """
    with store.read() as connection:
        chosen = choose(stored_runs(connection), campaigns, systems)
        verdicts = load_verdicts(connection, [run.id for run in chosen.runs], person=person)
    return RunResult(replaced(verdicts, systems=chosen.names), about=chosen.about)


def read_campaigns(
    store: Store, names: Sequence[str] = (), systems: Sequence[str] = ()
) -> Mapping[str, RunResult] | RunResult:
    """The stored runs by campaign, the earliest first unless `names` gives the order.

    It is what `suite_compare` takes: where there is but one campaign, the named systems of it are
    versions of one, in the order in which they are named.
    """
    with store.read() as connection:
        stored = stored_runs(connection)
        wanted = names or campaigns(stored)
        chosen = choose(stored, wanted, systems).runs
        ids = {name: [run.id for run in chosen if run.campaign == name] for name in wanted}
        found = {
            name: RunResult(load_verdicts(connection, numbers))
            for name, numbers in ids.items()
            if numbers
        }
        if len(found) > 1:
            return found
        if len(systems) < 2:
            raise DataError(
                f"{' '.join(found) or 'the database'}: one campaign only. Name two, or two "
                "systems of it."
            )
        numbers = {run.system: run.id for run in chosen}
        return RunResult(load_verdicts(connection, [numbers[system] for system in systems]))


def save_runs(
    store: Store, runs: Sequence[Run], *, replace: bool = False, track: Track = untracked
) -> RunResult:
    """Store runs, judge what is new in them, and give back the verdicts that count.

    Other outputs of the same system in the same campaign are a `DataError`, unless they shall
    `replace` those that are there.
    """
    checker = Checker()
    with store.write() as connection:
        add_runs(connection, runs, checker, replace=replace, track=track)
    with store.read() as connection:
        numbers = {(run.system, run.campaign): run.id for run in stored_runs(connection)}
        wanted = [numbers[run.system, run.campaign] for run in runs]
        return RunResult(load_verdicts(connection, wanted), trouble=tuple(checker.trouble))


def add_runs(
    connection: Connection,
    runs: Sequence[Run],
    checker: Checker,
    *,
    person: int | None = None,
    replace: bool = False,
    track: Track = untracked,
) -> None:
    """Keep runs (`save_run`), each as an entry of the history; without a `person`, a command's."""
    for run in track(runs, total=len(runs)):
        before = _stored_texts(connection, run)
        save_run(connection, run, checker, replace=replace)
        if before != dict(run.outputs):
            add_change(connection, person, None, "run", _told(run, before))


def _told(run: Run, before: Mapping[str, str] | None) -> str:
    campaign = f" in {run.campaign}" if run.campaign else ""
    if before is None:
        return f"added {counted(len(run.outputs), 'output')} of {run.system}{campaign}"
    replaced_ = f"replaced the outputs of {run.system}{campaign}, now {len(run.outputs):,}"
    return f"{replaced_}: {counted(_differing(run, before), 'item')} differ"


class ChosenRuns(NamedTuple):
    """Runs in the order of the database, the names to show, and a line that says which they are."""

    runs: tuple[StoredRun, ...]
    names: tuple[str, ...]
    about: str


def campaigns(runs: Sequence[StoredRun]) -> list[str]:
    """All campaigns, from the earliest to the latest: by date, then as they were stored."""
    last: dict[str, tuple[str, int]] = {}
    for run in runs:
        last[run.campaign] = max(last.get(run.campaign, ("", 0)), (run.date, run.id))
    return sorted(last, key=last.__getitem__)


def choose(
    runs: Sequence[StoredRun], wanted: Sequence[str] = (), systems: Sequence[str] = ()
) -> ChosenRuns:
    """The runs of these campaigns, by default of the latest, and of these systems, or of all.

    A system that is in several of the campaigns is shown as `system (campaign)`.
    """
    if not runs:
        raise DataError("the database has no runs yet: assay suite run --db DB -i SYS ...")
    known = campaigns(runs)
    _check("campaign", wanted, known)
    named = wanted or known[-1:]
    within = [run for run in runs if run.campaign in named]
    _check("system", systems, list(dict.fromkeys(run.system for run in within)))
    chosen = [run for run in within if run.system in systems or not systems]
    several = len(dict.fromkeys(run.campaign for run in chosen)) > 1
    names = [f"{run.system} ({run.campaign or '-'})" if several else run.system for run in chosen]
    return ChosenRuns(tuple(chosen), tuple(names), _about(named, known, latest=not wanted))


def _check(what: str, wanted: Sequence[str], known: Sequence[str]) -> None:
    for name in wanted:
        if name not in known:
            stored = ", ".join(map(repr, known))[:300]
            hint = did_you_mean(name, known)
            raise DataError(f"there is no {what} {name!r}{hint}. Stored: {stored}.")


def _about(named: Sequence[str], known: Sequence[str], *, latest: bool) -> str:
    names = ", ".join(name or "without a name" for name in named)
    if len(known) == 1:
        return f"Campaign: {names}." if any(named) else ""
    if latest:
        return f"Campaign: {names}, the latest of {len(known)}; --runs names others."
    return f"{'Campaigns' if len(named) > 1 else 'Campaign'}: {names}."


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
        gone = select(outputs.c.id).where(*unused, ~noticed)
        connection.execute(delete(assignments).where(assignments.c.output_id.in_(gone)))
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


def load_verdicts(
    connection: Connection, numbers: Sequence[int], *, person: int | None = None
) -> Verdicts:
    """The verdicts that count of these runs, on all items that one of them has an output for.

    Retired items are left out.

    A system is named with its campaign where several of its runs are asked for. A `person` sees
    warnings where others' verdicts are hidden.
    """
    rows = {row: at for at, row in enumerate(numbers)}
    hidden = hidden_from(connection, person)
    verdict = case((hidden, outputs.c.ruled), else_=outputs.c.verdict)
    who = case((hidden, outputs.c.ruled_by), else_=outputs.c.by)
    asked = (
        select(answers.c.run_id, answers.c.item_id, verdict, who, outputs.c.text)
        .join(outputs, outputs.c.id == answers.c.output_id)
        .where(answers.c.run_id.in_(numbers))
    )
    found = connection.execute(asked).all()
    wanted = {row.item_id for row in found}
    known = {
        id_: item
        for id_, item in load_items(connection).items()
        if id_ in wanted and not item.retired
    }
    columns = {id_: at for at, id_ in enumerate(known)}
    codes = np.full((len(numbers), len(known)), NOT_TESTED, np.int8)
    by: list[list[str | None]] = [[None] * len(known) for _ in numbers]
    texts = [[""] * len(known) for _ in numbers]
    for run, item, verdict, who, text in found:
        if item not in columns:
            continue
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


def _differing(run: Run, before: Mapping[str, str]) -> int:
    names = before.keys() | run.outputs.keys()
    return sum(before.get(name) != run.outputs.get(name) for name in names)


def _clash(run: Run, before: Mapping[str, str]) -> str:
    differing = _differing(run, before)
    campaign = f" in {run.campaign}" if run.campaign else ""
    return (
        f"{run.system}{campaign} is in the database with other outputs on {differing} items. "
        "Store the new run in a campaign of its own, with campaign=NAME, or replace the old one, "
        "with replace=True."
    )


def _forget(connection: Connection, number: int) -> list[int]:
    """Take all answers of a run away; the outputs that it had."""
    gone = delete(answers).where(answers.c.run_id == number).returning(answers.c.output_id)
    return list(connection.execute(gone).scalars())
