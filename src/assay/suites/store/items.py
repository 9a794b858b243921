"""Items in the page: found, tried on the stored outputs, saved as one change, and taken back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from time import thread_time
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import Connection, exists, func, insert, select, update

from assay.data import DataError
from assay.suites.check import Checker, Verdict, pattern
from assay.suites.files.items import checked_id
from assay.suites.model import Item, Rule
from assay.suites.store.blind import seen_verdict
from assay.suites.store.history import add_change, sent_before
from assay.suites.store.queue import stored_outputs
from assay.suites.store.records import Change, StoredOutput
from assay.suites.store.suites import free_name, load_items, recheck, rule_row
from assay.suites.store.tables import answers, changes, check_text, items, outputs, rules
from assay.suites.store.trials import check_length

__all__ = [
    "ItemEffect",
    "ItemPreview",
    "ListedItem",
    "difference",
    "find_items",
    "item_numbered",
    "restore_item",
    "retire_item",
    "save_item",
    "try_item",
]


@dataclass(frozen=True)
class ListedItem:
    """An item with its number in the database, its distinct outputs and those that are warnings."""

    number: int
    item: Item
    outputs: int
    warnings: int


def find_items(
    connection: Connection,
    *,
    text: str = "",
    category: str = "",
    phenomenon: str = "",
    lacking: str = "",
    person: int | None = None,
) -> list[ListedItem]:
    """The items that pass the filters, in their order.

    `text` stands in the id, the source or a rule, upper or lower case. `lacking` may be "rules",
    "outputs" or "use" (retired items). A `person` sees warnings where verdicts are hidden.
    """
    judged = _judged(connection, person)
    listed = [
        ListedItem(number, item, *judged.get(number, (0, 0)))
        for number, item in load_items(connection).items()
    ]
    wanted = text.strip().casefold()
    return [
        each
        for each in listed
        if category in ("", each.item.category)
        and phenomenon in ("", each.item.phenomenon)
        and _lacks(each, lacking)
        and (not wanted or any(wanted in part.casefold() for part in _texts(each.item)))
    ]


def item_numbered(connection: Connection, number: int) -> Item:
    """The item of this number."""
    found = load_items(connection, [number])
    if number not in found:
        raise DataError(f"there is no item with the number {number}.")
    return found[number]


class ItemEffect(NamedTuple):
    """An output, and what the rules say of it before and after a change of its item."""

    output: StoredOutput
    before: Verdict
    after: Verdict


@dataclass(frozen=True)
class ItemPreview:
    """What a change of an item would do to all of its stored outputs, those that change first."""

    effects: tuple[ItemEffect, ...]

    @property
    def changed(self) -> int:
        """How many outputs get another verdict."""
        return sum(effect.before != effect.after for effect in self.effects)

    @property
    def counts(self) -> Mapping[str, int]:
        """How many outputs have each verdict afterwards."""
        return Counter(effect.after for effect in self.effects)


BUDGET = 2.0
"""Seconds of work that trying an item on its outputs may take."""


def try_item(connection: Connection, number: int | None, item: Item) -> ItemPreview:
    """What the item's rules would say of its outputs; a `DataError` for what cannot be saved."""
    before = () if number is None else item_numbered(connection, number).rules
    _check(item, {rule.text for rule in before})
    if number is None:
        return ItemPreview(())
    stored = stored_outputs(connection, _outputs(connection, number))
    checker, end = Checker(), thread_time() + BUDGET
    effects = []
    for output in stored:
        after = checker.judge(item, output.text)
        if after.trouble or thread_time() > end:
            raise DataError(
                "the rules are too slow: they take seconds to search the outputs. Make them "
                "simpler, above all where something repeated is repeated, as in (a+)+."
            )
        effects.append(ItemEffect(output, output.ruled, after.verdict))
    effects.sort(key=lambda effect: effect.before == effect.after)
    return ItemPreview(tuple(effects))


def save_item(
    connection: Connection,
    number: int | None,
    item: Item,
    person: int,
    *,
    key: str | None = None,
) -> Change:
    """Keep an item as it should be, as one change; outputs are judged anew.

    Without a number it is a new item, behind the others, and an empty id becomes the next free
    number. Rules are those of `item.rules`: one with the id of a rule that the item has takes its
    place, one without an id is new, and those that are missing are retired. `key` is the page's own
    name for the request: sent once more, it changes nothing.
    """
    if done := sent_before(connection, person, key, "item"):
        return done
    try_item(connection, number, item)
    if number is None:
        return _add(connection, item, person, key)
    before = item_numbered(connection, number)
    item = replace(item, id=before.id, extra=item.extra or before.extra)
    if (_about(before), before.rules) == (_about(item), item.rules):
        raise DataError(f"item {item.id} is as it was: there is nothing to save.")
    note = f"changed item {item.id}: {difference(before, item)}"
    gone = _gone(connection, number, item)
    data = {"before": _about(before), "retired": gone}
    change = add_change(connection, person, None, "item", note, item=number, data=data, key=key)
    _write(connection, number, _about(item))
    _write_rules(connection, number, item, change, gone)
    recheck(connection, [number])
    return change


def retire_item(
    connection: Connection, number: int, person: int, *, retired: bool, key: str | None = None
) -> Change:
    """Leave an item out of queues and reports, or bring it back; nothing of it is lost."""
    if done := sent_before(connection, person, key, "item"):
        return done
    item = item_numbered(connection, number)
    extra = {key: value for key, value in item.extra.items() if key != "retired"}
    if item.retired == retired:
        raise DataError(f"item {item.id} is {'' if retired else 'not '}retired already.")
    note = f"{'retired' if retired else 'restored'} item {item.id}"
    data = {"before": _about(item), "retired": []}
    change = add_change(connection, person, None, "item", note, item=number, data=data, key=key)
    after = replace(item, extra=extra | ({"retired": True} if retired else {}))
    _write(connection, number, _about(after))
    recheck(connection, [number])
    return change


def restore_item(connection: Connection, change: int) -> None:
    """Take a change of an item back: what it was before counts again.

    A new item is retired. A `DataError` where the item was changed again since.
    """
    row = connection.execute(select(changes).where(changes.c.id == change)).one()
    later = select(func.max(changes.c.id)).where(
        changes.c.item_id == row.item_id, changes.c.kind == "item", changes.c.undone == ""
    )
    if connection.execute(later).scalar() != change:
        raise DataError("the item was changed again since. Undo the later change first.")
    data = json.loads(row.data)
    _write(connection, row.item_id, data["before"])
    _restore_rules(connection, change, data["retired"])
    recheck(connection, [row.item_id])


def _judged(connection: Connection, person: int | None) -> dict[int, tuple[int, int]]:
    used = exists().where(answers.c.output_id == outputs.c.id)
    seen = seen_verdict(connection, person)
    asked = select(outputs.c.item_id, seen, func.count()).where(used)
    found: dict[int, tuple[int, int]] = {}
    rows = connection.execute(asked.group_by(outputs.c.item_id, seen))
    for item, verdict, count in rows:
        every, warnings = found.get(item, (0, 0))
        found[item] = every + count, warnings + count * (verdict == "warning")
    return found


def _lacks(listed: ListedItem, what: str) -> bool:
    match what:
        case "rules":
            return not listed.item.rules
        case "outputs":
            return not listed.outputs
        case "use":
            return listed.item.retired
    return True


def _texts(item: Item) -> Sequence[str]:
    return item.id, item.source, *(rule.text for rule in item.rules)


def _outputs(connection: Connection, number: int) -> list[int]:
    used = exists().where(answers.c.output_id == outputs.c.id)
    asked = select(outputs.c.id).where(outputs.c.item_id == number, used).order_by(outputs.c.id)
    return list(connection.execute(asked).scalars())


def _check(item: Item, known: Collection[str]) -> None:
    """Raise a `DataError` for an item that cannot be kept; the texts of `known` rules may stay."""
    for name in ("source", "category", "phenomenon"):
        if not getattr(item, name).strip():
            raise DataError(f"the {name} is empty; every item needs one.")
    for text in (item.id, item.languages, item.category, item.phenomenon, item.source):
        check_text(text, "the item")
    seen = set()
    for rule in item.rules:
        check_text(rule.text, "the rule")
        if rule.text not in known:
            check_length(rule.text)
        pattern(rule.text, rule.kind)
        if (rule.polarity, rule.kind, rule.text) in seen:
            raise DataError(f"the {rule.polarity} rule {rule.text!r} stands twice. Remove one.")
        seen.add((rule.polarity, rule.kind, rule.text))


_FIELDS = ("languages", "category", "phenomenon", "source")


def _about(item: Item) -> dict[str, Any]:
    return {name: getattr(item, name) for name in _FIELDS} | {"extra": dict(item.extra)}


def difference(before: Item, after: Item) -> str:
    """What an item has become, with the texts.

    >>> first = Item("1", "de-en", "C", "P", "Der Mann.", (Rule("a", "positive", "regex", "man"),))
    >>> difference(first, replace(first, source="Ihr Mann.", rules=()))
    "source 'Der Mann.' is now 'Ihr Mann.'; without the rule positive regex 'man'"
    """
    told = [
        f"{name} {getattr(before, name)!r} is now {getattr(after, name)!r}"
        for name in _FIELDS
        if getattr(before, name) != getattr(after, name)
    ]
    old, new = ([rule.content for rule in item.rules] for item in (before, after))
    told += [f"without the rule {_told(*rule)}" for rule in old if rule not in new]
    told += [f"with the rule {_told(*rule)}" for rule in new if rule not in old]
    return "; ".join(told) or "further fields"


def _told(polarity: str, kind: str, text: str) -> str:
    return f"{polarity} {kind} {text!r}"


def _add(connection: Connection, item: Item, person: int, key: str | None) -> Change:
    names = set(connection.execute(select(items.c.name)).scalars())
    name = checked_id("item", item.id.strip()) if item.id.strip() else _free_id(names)
    if name in names:
        raise DataError(f"there is an item {name} already; choose another id.")
    last = connection.execute(select(func.max(items.c.position))).scalar()
    row = {"name": name, "position": 0 if last is None else last + 1, **_row(_about(item))}
    (number,) = connection.execute(insert(items).values(row)).inserted_primary_key or (0,)
    about = _about(item) | {"extra": {**item.extra, "retired": True}}
    data = {"before": about, "retired": []}
    rules_ = "; ".join(_told(*rule.content) for rule in item.rules) or "no rules"
    note = f"added item {name}, {item.source!r}: {rules_}"
    change = add_change(connection, person, None, "item", note, item=number, data=data, key=key)
    _write_rules(connection, number, replace(item, id=name), change, [])
    return change


def _free_id(taken: set[str]) -> str:
    number = 1
    while (name := f"{number:03}") in taken:
        number += 1
    return name


def _row(about: Mapping[str, Any]) -> dict[str, Any]:
    return {**about, "extra": json.dumps(about["extra"])}


def _write(connection: Connection, number: int, about: Mapping[str, Any]) -> None:
    connection.execute(update(items).where(items.c.id == number).values(_row(about)))


def _stored_rules(connection: Connection, number: int) -> dict[str, Mapping[str, Any]]:
    asked = select(rules).where(rules.c.item_id == number, ~rules.c.retired)
    rows = connection.execute(asked.order_by(rules.c.position)).mappings()
    return {row["name"]: MappingProxyType(dict(row)) for row in rows}


def _gone(connection: Connection, number: int, item: Item) -> list[int]:
    """The numbers of the item's rules that it shall not have any more, or not so."""
    kept = {rule.id: rule.content for rule in item.rules}
    return [
        row["id"]
        for name, row in _stored_rules(connection, number).items()
        if kept.get(name) != (row["polarity"], row["kind"], row["text"])
    ]


def _write_rules(
    connection: Connection, number: int, item: Item, change: Change, gone: Sequence[int]
) -> None:
    """Retire the rules that are gone, and add those that are new, as the person's."""
    stored = _stored_rules(connection, number)
    connection.execute(update(rules).where(rules.c.id.in_(gone)).values(retired=True))
    taken = set(connection.execute(select(rules.c.name)).scalars())
    behind = max((row["position"] for row in stored.values()), default=-1) + 1
    rows = []
    for at, rule in enumerate(item.rules):
        before = stored.get(rule.id)
        if before is not None and before["id"] not in gone:
            continue
        name = free_name(item.id, rule.polarity, taken)
        taken.add(name)
        place = behind + at if before is None else before["position"]
        new = Rule(name, rule.polarity, rule.kind, rule.text, change.person, change.time)
        replaces = None if before is None else before["id"]
        rows.append(rule_row(new, number, place) | {"change_id": change.id, "replaces": replaces})
    if rows:
        connection.execute(insert(rules), rows)


def _restore_rules(connection: Connection, change: int, gone: Sequence[int]) -> None:
    """Retire the rules that a change added, and bring those back that it retired.

    One whose successor was replaced or retired by somebody since stays retired.
    """
    added = update(rules).where(rules.c.change_id == change)
    since = select(rules.c.replaces).where(rules.c.change_id == change, rules.c.retired)
    passed = set(connection.execute(since).scalars())
    connection.execute(added.values(retired=True))
    back = [number for number in gone if number not in passed]
    connection.execute(update(rules).where(rules.c.id.in_(back)).values(retired=False))
