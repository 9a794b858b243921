"""The suite as a whole: what there is, and what is missing; its name and languages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlalchemy import Connection, select

from assay.suites.check import Verdict
from assay.suites.model import Suite
from assay.suites.store.records import StoredRun
from assay.suites.store.runs import stored_runs
from assay.suites.store.suites import load_suite, save_facts
from assay.suites.store.tables import answers, items, outputs

__all__ = ["RunOverview", "SuiteOverview", "has_items", "name_suite", "overview"]

FEW = 20
"""A phenomenon with fewer items is too small to compare systems by."""


@dataclass(frozen=True)
class RunOverview:
    """A run, how many of its outputs have each verdict, and how many items it has none for."""

    run: StoredRun
    counts: Mapping[Verdict, int]
    missing: int


@dataclass(frozen=True)
class SuiteOverview:
    """What a suite has: `phenomena` are the numbers of items by phenomenon, by category.

    Retired items count as `retired` only.
    """

    name: str
    languages: tuple[str, ...]
    items: int
    rules: int
    retired: int
    without_rules: int
    without_outputs: int
    phenomena: Mapping[str, Mapping[str, int]]
    runs: tuple[RunOverview, ...]

    @property
    def few(self) -> int:
        """How many phenomena have too few items to compare systems by."""
        return sum(count < FEW for names in self.phenomena.values() for count in names.values())


def has_items(connection: Connection) -> bool:
    """Whether there is anything to work on."""
    return connection.execute(select(items.c.id).limit(1)).first() is not None


def overview(connection: Connection) -> SuiteOverview:
    """What the suite has, and what is missing."""
    suite = load_suite(connection)
    used = [item for item in suite.items if not item.retired]
    answered = set(connection.execute(_ANSWERED).scalars())
    phenomena: dict[str, Counter[str]] = defaultdict(Counter)
    for item in used:
        phenomena[item.category][item.phenomenon] += 1
    told = [_languages(suite), *(item.languages for item in used)]
    return SuiteOverview(
        name=suite.name,
        languages=tuple(dict.fromkeys(name for name in told if name)),
        items=len(used),
        rules=sum(len(item.rules) for item in used),
        retired=len(suite) - len(used),
        without_rules=sum(not item.rules for item in used),
        without_outputs=sum(item.id not in answered for item in used),
        phenomena=phenomena,
        runs=_runs(connection, {item.id for item in used}),
    )


def name_suite(connection: Connection, name: str, languages: str) -> None:
    """Give the suite a name, and the languages that new items have."""
    suite = load_suite(connection)
    extra = {key: value for key, value in suite.extra.items() if key != "languages"}
    told = {"languages": languages.strip()} if languages.strip() else {}
    save_facts(connection, replace(suite, name=name.strip(), extra=extra | told))


_ANSWERED = select(items.c.name).join(answers, answers.c.item_id == items.c.id).distinct()


def _languages(suite: Suite) -> str:
    told = suite.extra.get("languages", "")
    return told if isinstance(told, str) else ""


def _runs(connection: Connection, used: set[str]) -> tuple[RunOverview, ...]:
    asked = (
        select(answers.c.run_id, items.c.name, outputs.c.verdict)
        .join(outputs, outputs.c.id == answers.c.output_id)
        .join(items, items.c.id == answers.c.item_id)
    )
    counts: dict[int, Counter[Verdict]] = defaultdict(Counter)
    for run, name, verdict in connection.execute(asked):
        if name in used:
            counts[run][verdict] += 1
    return tuple(
        RunOverview(run, counts[run.id], len(used) - counts[run.id].total())
        for run in stored_runs(connection)
    )
