"""Which of the stored runs to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from assay.data import DataError
from assay.settings import nearest
from assay.suite.store.records import StoredRun
from assay.suite.verdicts import Verdicts

__all__ = ["Chosen", "as_versions", "campaigns", "choose"]


class Chosen(NamedTuple):
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
) -> Chosen:
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
    return Chosen(tuple(chosen), tuple(names), _about(named, known, latest=not wanted))


def as_versions(verdicts: Verdicts, order: Sequence[str] = ()) -> dict[str, Verdicts]:
    """Each system as a campaign of its own, in this order: versions of one without a name."""
    places = [verdicts.systems.index(name) for name in order or verdicts.systems]
    return {
        verdicts.systems[at]: Verdicts(
            systems=("",),
            items=verdicts.items,
            codes=verdicts.codes[[at]],
            by=[verdicts.by[at]],
            outputs=[verdicts.outputs[at]],
        )
        for at in places
    }


def _check(what: str, wanted: Sequence[str], known: Sequence[str]) -> None:
    for name in wanted:
        if name not in known:
            there = ", ".join(repr(each) for each in known)[:300]
            raise DataError(f"there is no {what} {name!r}{nearest(name, known)}. Stored: {there}.")


def _about(named: Sequence[str], known: Sequence[str], *, latest: bool) -> str:
    names = ", ".join(each or "without a name" for each in named)
    if len(known) == 1:
        return f"Campaign: {names}." if any(named) else ""
    if latest:
        return f"Campaign: {names}, the latest of {len(known)}; --runs names others."
    return f"{'Campaigns' if len(named) > 1 else 'Campaign'}: {names}."
