"""The suite as a whole: what there is, and what is missing; its name, languages and imports."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlalchemy import Connection, select

from assay.data import DataError
from assay.suites.check import Verdict
from assay.suites.model import Suite
from assay.suites.store.blind import seen_verdict
from assay.suites.store.history import add_change, counted
from assay.suites.store.items import difference
from assay.suites.store.records import Change, SavedSuite, StoredRun
from assay.suites.store.runs import stored_runs
from assay.suites.store.suites import load_suite, save_facts, save_suite
from assay.suites.store.tables import answers, items, outputs

__all__ = [
    "RunOverview",
    "SuiteOverview",
    "has_items",
    "import_suite",
    "name_suite",
    "overview",
    "take_back_suite_name",
]

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


def overview(connection: Connection, *, person: int | None = None) -> SuiteOverview:
    """What the suite has, and what is missing, as far as a `person` may see verdicts."""
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
        runs=_runs(connection, {item.id for item in used}, person),
    )


def name_suite(connection: Connection, name: str, languages: str, *, person: int) -> Change | None:
    """Give the suite a name, and the languages that new items have; None where it has them."""
    suite = load_suite(connection)
    before, after = (suite.name, _languages(suite)), (name.strip(), languages.strip())
    if before == after:
        return None
    _set_names(connection, suite, *after)
    told = zip(("name", "languages"), before, after, strict=True)
    parts = [
        f"{what} {_quoted(old)} is now {_quoted(new)}" for what, old, new in told if old != new
    ]
    note = f"changed the suite: {'; '.join(parts)}"
    return add_change(
        connection, person, None, "suite", note, data={"before": before, "after": after}
    )


def take_back_suite_name(connection: Connection, data: str) -> None:
    """Undo that the suite was renamed; `data` is that of the change."""
    told, suite = json.loads(data), load_suite(connection)
    if [suite.name, _languages(suite)] != told["after"]:
        raise DataError("the suite was renamed again since: undo that first.")
    _set_names(connection, suite, *told["before"])


def _set_names(connection: Connection, suite: Suite, name: str, languages: str) -> None:
    extra = {key: value for key, value in suite.extra.items() if key != "languages"}
    told = {"languages": languages} if languages else {}
    save_facts(connection, replace(suite, name=name, extra=extra | told))


def _quoted(text: str) -> str:
    return repr(text) if text else "(none)"


LISTED = 50
"""How many items the history names of an import."""


def import_suite(
    connection: Connection, suite: Suite, *, file: str, person: int | None = None
) -> SavedSuite:
    """Save a suite that was read from a file (`save_suite`), and tell the history what changed.

    Without a `person`, a command imports it.
    """
    before = load_suite(connection)
    saved = save_suite(connection, suite)
    after = load_suite(connection)
    note = f"imported {file}: {counted(saved.added, 'item')} added, {saved.changed:,} changed"
    told = _changes(before, after)
    more = [f"and {counted(len(told) - LISTED, 'more item')}"] if len(told) > LISTED else []
    lines = "; ".join([*told[:LISTED], *more])
    if lines:
        add_change(connection, person, None, "import", f"{note}. {lines}")
    return saved


def _changes(before: Suite, after: Suite) -> list[str]:
    """What is different, in a line for the suite's name and one for each item."""
    named = [f"the suite is called {after.name!r}"] if before.name != after.name else []
    return named + [
        f"item {item.id}: {difference(before.by_id[item.id], item)}"
        if item.id in before.by_id
        else f"new item {item.id}: {item.source}"
        for item in after.items
        if item != before.by_id.get(item.id)
    ]


_ANSWERED = select(items.c.name).join(answers, answers.c.item_id == items.c.id).distinct()


def _languages(suite: Suite) -> str:
    told = suite.extra.get("languages", "")
    return told if isinstance(told, str) else ""


def _runs(connection: Connection, used: set[str], person: int | None) -> tuple[RunOverview, ...]:
    seen = seen_verdict(connection, person)
    asked = (
        select(answers.c.run_id, items.c.name, seen)
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
