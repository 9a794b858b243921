"""A suite in and out of the database, and the verdicts of its rules and of people on outputs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    exists,
    insert,
    select,
    update,
)

from assay.suites.check import Checker, Verdict
from assay.suites.model import Item, Polarity, Rule, Suite, rule_id
from assay.suites.store.opening import open_store
from assay.suites.store.records import Decision, SavedSuite
from assay.suites.store.tables import (
    annotators,
    answers,
    assignments,
    batches,
    changes,
    check_text,
    decisions,
    facts,
    items,
    now,
    outputs,
    pairs,
    rules,
)

__all__ = [
    "OPEN",
    "FinalVerdict",
    "final_verdict",
    "free_name",
    "load_decisions",
    "load_items",
    "load_suite",
    "mark_open",
    "read_stored_suite",
    "recheck",
    "rule_row",
    "save_facts",
    "save_rules",
    "save_suite",
    "settle",
]


def save_suite(connection: Connection, suite: Suite) -> SavedSuite:
    """Add the items of a suite to the database, and update those that it has.

    Decisions stay, and so do rules that people added in the page, behind those of the suite, and
    items that the suite does not have, behind the others. Outputs whose rules have changed are
    judged anew.
    """
    for item in suite.items:
        _check_item(item)
    save_facts(connection, suite)
    added, changed = _save_items(connection, suite)
    ids = _ids(connection)
    touched = save_rules(connection, {ids[item.id]: item for item in suite.items})
    rechecked = recheck(connection, touched) if touched else 0
    names = {name for name, id_ in ids.items() if id_ in touched}
    return SavedSuite(len(added), len((changed | names) - added), rechecked)


def read_stored_suite(where: str | Path) -> Suite:
    """The suite of a database, with the rules that people added."""
    with closing(open_store(where)) as store, store.read() as connection:
        return load_suite(connection)


def load_suite(connection: Connection) -> Suite:
    """The suite as it stands now, with the rules that people added."""
    known = pairs(connection, select(facts.c.name, facts.c.value))
    return Suite(
        items=tuple(load_items(connection).values()),
        name=known.get("name", ""),
        extra=MappingProxyType(json.loads(known.get("extra", "{}"))),
    )


def save_facts(connection: Connection, suite: Suite) -> None:
    """Keep what is known of the suite as a whole, in place of what was."""
    check_text(suite.name, "the name of the suite")
    stored = connection.execute(select(facts.c.value).where(facts.c.name == "extra")).scalar()
    # What people wrote on phenomena stays, unless the file says something itself.
    kept = {
        name: value for name, value in json.loads(stored or "{}").items() if name == "phenomena"
    }
    connection.execute(delete(facts).where(facts.c.name.in_(["name", "extra", "saved"])))
    told = {"name": suite.name, "extra": _json(kept | dict(suite.extra)), "saved": now()}
    connection.execute(insert(facts), [{"name": key, "value": told[key]} for key in told])


def _save_items(connection: Connection, suite: Suite) -> tuple[set[str], set[str]]:
    """Write the items; the names of those that are new, and of those that differ."""
    stored = {row["name"]: dict(row) for row in connection.execute(select(items)).mappings()}
    new, changed = [], []
    _move_back(connection, set(stored) - set(suite.by_id), len(suite))
    for position, item in enumerate(suite.items):
        wanted = _row(item, position)
        if item.id not in stored:
            new.append(wanted)
        elif any(stored[item.id][key] != value for key, value in wanted.items()):
            changed.append({"which": stored[item.id]["id"], **wanted})
    if new:
        connection.execute(insert(items), new)
    if changed:
        connection.execute(update(items).where(items.c.id == bindparam("which")), changed)
    return {row["name"] for row in new}, {row["name"] for row in changed}


def _move_back(connection: Connection, names: set[str], length: int) -> None:
    """Let items stand behind the first `length` positions, in their order."""
    asked = select(items.c.id, items.c.name).order_by(items.c.position, items.c.id)
    left = [id_ for id_, name in connection.execute(asked) if name in names]
    moved = [{"which": id_, "position": length + at} for at, id_ in enumerate(left)]
    if moved:
        connection.execute(update(items).where(items.c.id == bindparam("which")), moved)


def _row(item: Item, position: int) -> dict[str, Any]:
    return {
        "name": item.id,
        "position": position,
        "languages": item.languages,
        "category": item.category,
        "phenomenon": item.phenomenon,
        "source": item.source,
        "extra": _json(item.extra),
    }


def _ids(connection: Connection) -> dict[str, int]:
    return pairs(connection, select(items.c.name, items.c.id))


def _check_item(item: Item) -> None:
    for text in (item.id, item.languages, item.category, item.phenomenon, item.source):
        check_text(text, f"item {item.id!r}")
    for rule in item.rules:
        for text in (rule.id, rule.text, rule.author, rule.time, rule.provenance):
            check_text(text, f"rule {rule.id!r}")


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(dict(value))


def load_items(connection: Connection, ids: Collection[int] | None = None) -> dict[int, Item]:
    """Items by their numbers in the database, all of them or these, in their order.

    Rules that were taken back are left out.
    """
    known = defaultdict(list)
    for row in _rows(connection, _RULES.order_by(rules.c.position), rules.c.item_id, ids):
        known[row.item_id].append(_rule(row))
    rows = _rows(connection, select(items), items.c.id, ids)
    return {
        row.id: _item(row, tuple(known[row.id]))
        for row in sorted(rows, key=lambda row: (row.position, row.id))
    }


_RULES = select(rules).where(~rules.c.retired)


def _rows(
    connection: Connection,
    asked: Select[Any],
    column: ColumnElement[int],
    ids: Collection[int] | None,
) -> Iterator[Row[Any]]:
    if ids is None:
        yield from connection.execute(asked)
        return
    for batch in batches(ids):
        yield from connection.execute(asked.where(column.in_(batch)))


def _rule(row: Row[Any]) -> Rule:
    return Rule(
        id=row.name,
        polarity=row.polarity,
        kind=row.kind,
        text=row.text,
        author=row.author,
        time=row.time,
        provenance=row.provenance,
    )


def _item(row: Row[Any], known: tuple[Rule, ...]) -> Item:
    return Item(
        id=row.name,
        languages=row.languages,
        category=row.category,
        phenomenon=row.phenomenon,
        source=row.source,
        rules=known,
        extra=MappingProxyType(json.loads(row.extra)),
    )


RuleRow = dict[str, Any]


def save_rules(connection: Connection, by_id: Mapping[int, Item]) -> set[int]:
    """Give the items their rules; the numbers of the items whose rules have changed.

    A rule that a person added stays, whatever the suite says; one that came from a suite and is
    no longer in it goes. One that a person retired, or replaced by another version, is kept for
    the history and does not come back with the suite.
    """
    away = _put_away(connection)
    stored = {
        row["name"]: {**row, "ours": row["change_id"] is not None or row["id"] in away}
        for row in connection.execute(select(rules)).mappings()
    }
    retired = {_content(row): row["name"] for row in stored.values() if row["id"] in away}
    wanted = {
        rule.id: row
        for id_, item in by_id.items()
        for position, rule in enumerate(item.rules)
        if _content(row := rule_row(rule, id_, position)) not in retired
    }
    renamed = _make_way(stored, wanted)
    gone = [
        row
        for row in stored.values()
        if row["item_id"] in by_id and row["name"] not in wanted and not row["ours"]
    ]
    moved = [*renamed, *_behind(stored, wanted, by_id)]
    changed = [
        _updated(stored[row["name"]], row) for row in wanted.values() if _differs(stored, row)
    ]
    new = [row for name, row in wanted.items() if name not in stored]
    touched = {stored[row["name"]]["item_id"] for row in changed}
    _delete(connection, gone)
    _update(connection, [*moved, *changed])
    if new:
        connection.execute(insert(rules), new)
    return touched | {row["item_id"] for row in [*gone, *renamed, *changed, *new]}


def _put_away(connection: Connection) -> set[int]:
    """The rules that people retired, or replaced by another version."""
    kinds = changes.c.kind.in_(("retire", "edit rule"))
    told = connection.execute(select(changes.c.data).where(kinds, changes.c.undone == "")).scalars()
    named = {number for data in told for number in json.loads(data)["off"]}
    retired = connection.execute(select(rules.c.id).where(rules.c.retired)).scalars()
    return named & set(retired)


def _content(row: RuleRow) -> tuple[Any, ...]:
    return row["item_id"], row["polarity"], row["kind"], row["text"]


def rule_row(rule: Rule, item: int, position: int) -> RuleRow:
    """A rule as the table has it."""
    return {
        "name": rule.id,
        "item_id": item,
        "position": position,
        "polarity": rule.polarity,
        "kind": rule.kind,
        "text": rule.text,
        "author": rule.author,
        "time": rule.time,
        "provenance": rule.provenance,
        "retired": False,
    }


def free_name(item: str, polarity: Polarity, taken: Collection[str]) -> str:
    """The first name of a rule that is not taken."""
    number = 1
    while (name := rule_id(item, polarity, number)) in taken:
        number += 1
    return name


def _make_way(stored: dict[str, RuleRow], wanted: Mapping[str, RuleRow]) -> list[RuleRow]:
    """Rename people's rules whose names the suite uses for something else."""
    renamed = []
    for name in [name for name in stored if name in wanted]:
        row = stored[name]
        if not row["ours"] or _content(row) == _content(wanted[name]):
            continue
        del stored[name]
        taken = stored.keys() | wanted.keys()
        base = name.rstrip("0123456789").rstrip("+-")
        row["name"] = free_name(base or name, row["polarity"], taken)
        stored[row["name"]] = row
        renamed.append(row)
    return renamed


def _behind(
    stored: Mapping[str, RuleRow], wanted: Mapping[str, RuleRow], by_id: Mapping[int, Item]
) -> list[RuleRow]:
    """People's rules that the suite does not have, moved behind those that it has."""
    kept = defaultdict(list)
    for name, row in stored.items():
        if row["item_id"] in by_id and name not in wanted and row["ours"]:
            kept[row["item_id"]].append(row)
    moved = []
    for item, rows in kept.items():
        start = len(by_id[item].rules)
        for position, row in enumerate(sorted(rows, key=lambda row: row["position"]), start):
            if row["position"] != position:
                row["position"] = position
                moved.append(row)
    return moved


def _differs(stored: Mapping[str, RuleRow], row: RuleRow) -> bool:
    before = stored.get(row["name"])
    return before is not None and any(before[key] != value for key, value in row.items())


def _updated(before: RuleRow, row: RuleRow) -> RuleRow:
    # A rule that was taken back, and that the suite has again, is the suite's.
    return {**before, **row, "change_id": None if before["retired"] else before["change_id"]}


def _delete(connection: Connection, rows: list[RuleRow]) -> None:
    for batch in batches(row["id"] for row in rows):
        connection.execute(delete(rules).where(rules.c.id.in_(batch)))


def _update(connection: Connection, rows: list[RuleRow]) -> None:
    changed = [
        {"which": row["id"], **{key: row[key] for key in row if key not in ("id", "ours")}}
        for row in rows
    ]
    if changed:
        connection.execute(update(rules).where(rules.c.id == bindparam("which")), changed)


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
            mark_open(connection, [row["which"] for row in moved])


OPEN = and_(outputs.c.ruled == "warning", outputs.c.verdict == "warning", ~outputs.c.disputed)
"""An output waits for the first person to judge it."""


def mark_open(connection: Connection, ids: Iterable[int]) -> None:
    """Note in people's shares whether these outputs are open, after their verdicts have changed."""
    waits = exists().where(outputs.c.id == assignments.c.output_id, OPEN)
    for batch in batches(ids):
        these = assignments.c.output_id.in_(batch)
        connection.execute(update(assignments).where(these).values(open=waits))


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
