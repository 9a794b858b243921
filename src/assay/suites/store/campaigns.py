"""Stored runs by campaign and system, with the verdicts that count: people's before the rules'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace as replaced
from typing import NamedTuple

from assay.data import DataError
from assay.progress import Track, untracked
from assay.settings import did_you_mean
from assay.suites.check import Checker
from assay.suites.model import Run
from assay.suites.report import RunResult
from assay.suites.store.opening import Store
from assay.suites.store.records import StoredRun
from assay.suites.store.runs import load_verdicts, save_run, stored_runs

__all__ = ["ChosenRuns", "campaigns", "choose", "read_campaigns", "read_run", "save_runs"]


def read_run(store: Store, campaigns: Sequence[str] = (), systems: Sequence[str] = ()) -> RunResult:
    """The stored runs of these campaigns, by default of the latest, and of these systems, or all.

    It is what `suite_report` takes.
    """
    with store.read() as connection:
        chosen = choose(stored_runs(connection), campaigns, systems)
        verdicts = load_verdicts(connection, [run.id for run in chosen.runs])
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
                f"{' '.join(found) or 'the database'}: one campaign only. Name two with --runs, or "
                "two systems of it with --systems."
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
        for run in track(runs, total=len(runs)):
            save_run(connection, run, checker, replace=replace)
    with store.read() as connection:
        numbers = {(run.system, run.campaign): run.id for run in stored_runs(connection)}
        wanted = [numbers[run.system, run.campaign] for run in runs]
        return RunResult(load_verdicts(connection, wanted), trouble=tuple(checker.trouble))


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
