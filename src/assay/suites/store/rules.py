"""Rules on record: what each settles, contradicts and costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from time import thread_time
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, Row, func, select

from assay.data import DataError
from assay.suites.check import OutOfTime, pattern
from assay.suites.model import Rule
from assay.suites.store.tables import (
    batches,
    decisions,
    items,
    outputs,
    pairs,
    plain_rows,
    rules,
)

__all__ = [
    "Origin",
    "RuleFilters",
    "RuleOrder",
    "RuleUse",
    "State",
    "StoredRule",
    "find_rules",
    "stored_rule",
]

Origin = Literal["", "imported", "people"]
State = Literal["", "retired", "all", "unmatched", "contradicted"]
RuleOrder = Literal["item", "settles", "contradicted", "seconds", "newest"]

BUDGET = 5.0
"""Seconds of work for measuring rules that were not measured yet; the others wait."""

KEPT = 200_000
"""How many measurements of a database are kept."""


@dataclass(frozen=True)
class RuleFilters:
    """Which rules to look at; an empty field asks for all, an empty state for those in use.

    "unmatched" are rules that match no output of their item, "contradicted" those that decide
    an output of which a person says the opposite.
    """

    text: str = ""
    item: str = ""
    author: str = ""
    phenomenon: str = ""
    polarity: str = ""
    kind: str = ""
    origin: Origin = ""
    state: State = ""


class RuleUse(NamedTuple):
    """How many of its item's outputs a rule matches, and the seconds that searching them takes."""

    matches: int
    searched: int
    seconds: float
    slow: bool = False


@dataclass(frozen=True)
class StoredRule:
    """A rule in the database: `settles` outputs by itself, `contradicted` by people on some.

    It is `imported` where it came with a suite; `replaces` is the number of the version before.
    `use` is None where there was no time to measure it.
    """

    id: int
    rule: Rule
    item: str
    category: str
    phenomenon: str
    imported: bool
    retired: bool
    replaces: int | None
    settles: int = 0
    contradicted: int = 0
    use: RuleUse | None = None


class RulePage(NamedTuple):
    """Some of the rules that were asked for, and how many there are."""

    rules: list[StoredRule]
    total: int


def find_rules(
    connection: Connection,
    filters: RuleFilters,
    *,
    order: RuleOrder = "item",
    offset: int = 0,
    limit: int = 50,
) -> RulePage:
    """The rules that pass the filters, and what they do to the outputs in the database."""
    found = _counted(connection, _chosen(connection, filters))
    if filters.state == "contradicted":
        found = [rule for rule in found if rule.contradicted]
    if filters.state == "unmatched" or order == "seconds":
        found = _measured(connection, found)
    if filters.state == "unmatched":
        found = [rule for rule in found if rule.use and rule.use.searched and not rule.use.matches]
    found.sort(key=_ORDERS[order])
    page = list(islice(found, offset, offset + limit))
    return RulePage(_measured(connection, page), len(found))


def stored_rule(connection: Connection, number: int) -> StoredRule:
    """One rule; a `DataError` where there is none."""
    rows = connection.execute(_RULES.where(rules.c.id == number)).all()
    if not rows:
        raise DataError(f"there is no rule {number} in the database.")
    return _measured(connection, _counted(connection, [_stored(rows[0])]))[0]


_ORDERS: dict[RuleOrder, Any] = {
    "item": lambda rule: 0,
    "settles": lambda rule: -rule.settles,
    "contradicted": lambda rule: -rule.contradicted,
    "seconds": lambda rule: -rule.use.seconds if rule.use else 0.0,
    "newest": lambda rule: -rule.id,
}

_RULES = (
    select(rules, items.c.name.label("item"), items.c.category, items.c.phenomenon)
    .join(items, items.c.id == rules.c.item_id)
    .order_by(items.c.position, rules.c.position, rules.c.id)
)


def _chosen(connection: Connection, filters: RuleFilters) -> list[StoredRule]:
    asked = _RULES
    columns = {
        "item": items.c.name,
        "author": rules.c.author,
        "phenomenon": items.c.phenomenon,
        "polarity": rules.c.polarity,
        "kind": rules.c.kind,
    }
    for name, column in columns.items():
        if value := getattr(filters, name):
            asked = asked.where(column == value)
    if filters.origin:
        imported = filters.origin == "imported"
        asked = asked.where(rules.c.change_id.is_(None) == imported)
    if filters.state != "all":
        asked = asked.where(rules.c.retired == (filters.state == "retired"))
    wanted = filters.text.casefold()
    rows = connection.execute(asked)
    return [
        _stored(row)
        for row in rows
        if wanted in row.text.casefold() or wanted in row.name.casefold()
    ]


def _stored(row: Row[Any]) -> StoredRule:
    rule = Rule(row.name, row.polarity, row.kind, row.text, row.author, row.time, row.provenance)
    return StoredRule(
        id=row.id,
        rule=rule,
        item=row.item,
        category=row.category,
        phenomenon=row.phenomenon,
        imported=row.change_id is None,
        retired=row.retired,
        replaces=row.replaces,
    )


def _counted(connection: Connection, found: Sequence[StoredRule]) -> list[StoredRule]:
    """The rules with what they settle, and on how much of it a person says the opposite."""
    by = outputs.c.ruled_by
    tested = by.is_not(None), outputs.c.ruled.in_(("pass", "fail"))
    settled = pairs(connection, select(by, func.count()).where(*tested).group_by(by))
    against = (
        select(by, func.count(outputs.c.id.distinct()))
        .join(decisions, decisions.c.output_id == outputs.c.id)
        .where(
            *tested,
            ~decisions.c.withdrawn,
            decisions.c.verdict != "skip",
            decisions.c.verdict != outputs.c.ruled,
        )
    )
    contradicted = pairs(connection, against.group_by(by))
    return [
        rule
        if rule.retired
        else replace(
            rule,
            settles=settled.get(rule.rule.id, 0),
            contradicted=contradicted.get(rule.rule.id, 0),
        )
        for rule in found
    ]


_USES: WeakKeyDictionary[Engine, dict[tuple[str, str, str], tuple[Any, RuleUse]]] = (
    WeakKeyDictionary()
)


def _measured(connection: Connection, found: Sequence[StoredRule]) -> list[StoredRule]:
    """The rules with their uses, as far as there is time."""
    kept = _USES.setdefault(connection.engine, {})
    if len(kept) > KEPT:
        kept.clear()
    stamps = _stamps(connection)
    texts: dict[str, list[str]] = {}
    missing = {rule.item for rule in found if _known(kept, stamps, rule) is None}
    if missing:
        texts = _texts(connection, missing)
    end = thread_time() + BUDGET
    measured = []
    for rule in found:
        use = _known(kept, stamps, rule)
        if use is None and thread_time() < end:
            use = _use(rule.rule, texts.get(rule.item, []))
            kept[_key(rule)] = stamps.get(rule.item), use
        measured.append(replace(rule, use=use))
    return measured


def _key(rule: StoredRule) -> tuple[str, str, str]:
    return rule.item, rule.rule.kind, rule.rule.text


def _known(kept: Mapping[Any, Any], stamps: Mapping[str, Any], rule: StoredRule) -> RuleUse | None:
    stamp, use = kept.get(_key(rule), (None, None))
    return use if use is not None and stamp == stamps.get(rule.item) else None


def _stamps(connection: Connection) -> dict[str, Any]:
    """What changes when the outputs of an item do."""
    ids = outputs.c.id
    asked = (
        select(items.c.name, func.count(ids), func.max(ids), func.sum(ids))
        .join(outputs, outputs.c.item_id == items.c.id)
        .where(outputs.c.ruled != "not tested")
        .group_by(items.c.name)
    )
    return {
        name: (int(count), int(last), int(total))
        for name, count, last, total in plain_rows(connection, asked)
    }


def _texts(connection: Connection, names: Collection[str]) -> dict[str, list[str]]:
    asked = (
        select(items.c.name, outputs.c.text)
        .join(outputs, outputs.c.item_id == items.c.id)
        .where(outputs.c.ruled != "not tested")
    )
    found: dict[str, list[str]] = defaultdict(list)
    for batch in batches(names):
        for name, text in plain_rows(connection, asked.where(items.c.name.in_(batch))):
            found[name].append(text)
    return found


def _use(rule: Rule, texts: Sequence[str]) -> RuleUse:
    start, matches = thread_time(), 0
    try:
        wanted = pattern(rule.text, rule.kind)
        for text in texts:
            matches += wanted.search(text) is not None
    except (DataError, OutOfTime):
        return RuleUse(matches, len(texts), thread_time() - start, slow=True)
    return RuleUse(matches, len(texts), thread_time() - start)
