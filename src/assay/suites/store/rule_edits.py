"""Changes to rules: edited, retired or restored, with the effect on all runs, and taken back."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

from sqlalchemy import Connection, Row, func, insert, select, update

from assay.data import DataError
from assay.suites.check import Verdict, decide, pattern
from assay.suites.model import Item, Kind, Polarity, Rule
from assay.suites.store.blind import masked, seen_verdict
from assay.suites.store.history import add_change
from assay.suites.store.queue import stored_outputs
from assay.suites.store.records import Change, Decision, Person, StoredOutput
from assay.suites.store.suites import (
    final_verdict,
    free_name,
    load_items,
    recheck,
    rule_row,
)
from assay.suites.store.tables import (
    answers,
    batches,
    changes,
    check_text,
    outputs,
    pairs,
    rules,
    runs,
)
from assay.suites.store.trials import check_length

__all__ = [
    "RULE_CHANGES",
    "Act",
    "RuleEdit",
    "RuleEffect",
    "change_rule",
    "effect",
    "may_change",
    "put_back",
]

Act = Literal["edit rule", "retire", "restore"]

RULE_CHANGES = ("rule", *get_args(Act))
"""The kinds of changes that are about rules."""


@dataclass(frozen=True)
class RuleEdit:
    """A change to a rule; `polarity`, `kind` and `text` are what an edited rule becomes."""

    rule: int
    act: Act
    polarity: Polarity = "positive"
    kind: Kind = "regex"
    text: str = ""


class RunCounts(NamedTuple):
    """How many outputs of a run pass, fail, and are left as warnings."""

    passed: int
    failed: int
    warnings: int

    @property
    def accuracy(self) -> float | None:
        """The share of what is decided that passes, in percent; None where nothing is decided."""
        decided = self.passed + self.failed
        return 100 * self.passed / decided if decided else None


class RunEffect(NamedTuple):
    """What a change does to a run."""

    system: str
    campaign: str
    before: RunCounts
    after: RunCounts


class OutputEffect(NamedTuple):
    """An output whose verdict by the rules changes; `verdict` is what counts then."""

    output: StoredOutput
    before: Verdict
    after: Verdict
    verdict: Verdict

    @property
    def against(self) -> list[Decision]:
        """Decisions of people that the rules would contradict."""
        given = self.output.decisions if self.after in ("pass", "fail") else ()
        return [said for said in given if said.verdict not in ("skip", self.after)]


@dataclass(frozen=True)
class RuleEffect:
    """What a change to a rule does to all runs; `runs` are those whose counts change."""

    outputs: tuple[OutputEffect, ...]
    runs: tuple[RunEffect, ...]
    searched: int

    @property
    def against(self) -> list[OutputEffect]:
        """Outputs of which a person says the opposite."""
        return [line for line in self.outputs if line.against]


def effect(connection: Connection, edit: RuleEdit, person: int | None = None) -> RuleEffect:
    """What a change would do, as far as a person may know what others said.

    A `DataError` for a rule that is wrong, too slow or there already.
    """
    row = _row(connection, edit.rule)
    item = load_items(connection, [row.item_id])[row.item_id]
    after = _rules_after(item, row, edit)
    tested = (outputs.c.item_id == row.item_id, outputs.c.ruled != "not tested")
    asked = select(outputs.c.id).where(*tested).order_by(outputs.c.id)
    every = stored_outputs(connection, connection.execute(asked).scalars().all())
    moved = []
    for output in masked(connection, every, person):
        finding = decide(output.text, after)
        if edit.act == "edit rule":
            _refuse_trouble(finding.trouble)
        if finding.verdict != output.ruled:
            final = final_verdict(finding.verdict, finding.by, output.decisions)
            moved.append(OutputEffect(output, output.ruled, finding.verdict, final.verdict))
    return RuleEffect(tuple(moved), _runs(connection, moved, person), len(every))


def change_rule(connection: Connection, edit: RuleEdit, person: Person) -> Change:
    """Edit, retire or restore a rule; an edited one is replaced by its next version.

    A person's own rules are theirs to change, those of others and of the suite a lead's.
    """
    row = _row(connection, edit.rule, lock=True)
    if not may_change(connection, row.id, person):
        raise DataError("this rule is not yours: only a lead can change it.")
    item = load_items(connection, [row.item_id])[row.item_id]
    after = _rules_after(item, row, edit)
    change = add_change(
        connection, person.id, None, edit.act, _note(row, edit, item), item=row.item_id
    )
    off, on = ([], [row.id]) if edit.act == "restore" else ([row.id], [])
    if edit.act == "edit rule":
        (new,) = [rule for rule in after if rule.id == "new"]
        told = replace(new, author=change.person, time=change.time)
        on = [_add_version(connection, row, told, item, change)]
    _switch(connection, off=off, on=on)
    told_ = json.dumps({"off": off, "on": on})
    connection.execute(update(changes).where(changes.c.id == change.id).values(data=told_))
    recheck(connection, [row.item_id])
    return change


def may_change(connection: Connection, rule: int, person: Person) -> bool:
    """Whether a rule is this person's to change: their own, or any rule where they lead."""
    asked = (
        select(changes.c.annotator_id)
        .join(rules, rules.c.change_id == changes.c.id)
        .where(rules.c.id == rule)
    )
    return person.lead or connection.execute(asked).scalar() == person.id


def put_back(connection: Connection, entry: Row[Any]) -> None:
    """Take a change to rules back; a `DataError` where a rule was changed again since."""
    told = json.loads(entry.data or "{}")
    added = select(rules.c.id).where(rules.c.change_id == entry.id)
    on = told.get("on", list(connection.execute(added).scalars()) if not told else [])
    off = told.get("off", [])
    retired = _retired(connection, [*on, *off])
    if retired.keys() != {*on, *off}:
        raise DataError("the rule is gone: the suite was imported again without it.")
    moved = told and (any(retired[id_] for id_ in on) or not all(retired[id_] for id_ in off))
    if moved or _has_newer(connection, on):
        raise DataError("the rule was changed again since: undo that first.")
    recheck(connection, _switch(connection, off=on, on=off))


def _retired(connection: Connection, ids: Sequence[int]) -> dict[int, bool]:
    """Whether each of these rules is retired; those that are there no more are left out."""
    asked = select(rules.c.id, rules.c.retired)
    found: dict[int, bool] = {}
    for batch in batches(ids):
        found |= pairs(connection, asked.where(rules.c.id.in_(batch)))
    return found


def _has_newer(connection: Connection, ids: Sequence[int]) -> bool:
    """Whether one of these rules has a newer version in use."""
    newer = select(rules.c.id).where(~rules.c.retired).limit(1)
    return any(
        connection.execute(newer.where(rules.c.replaces.in_(batch))).first()
        for batch in batches(ids)
    )


def _row(connection: Connection, number: int, *, lock: bool = False) -> Row[Any]:
    asked = select(rules).where(rules.c.id == number)
    row = connection.execute(asked.with_for_update() if lock else asked).first()
    if row is None:
        raise DataError(f"there is no rule {number} in the database.")
    return row


def _rules_after(item: Item, row: Row[Any], edit: RuleEdit) -> tuple[Rule, ...]:
    """The rules of the item after the change; an edited one is called "new"."""
    if row.retired != (edit.act == "restore"):
        state = "retired" if row.retired else "in use"
        raise DataError(f"the rule is {state} already: somebody was faster. Reload the page.")
    others = [rule for rule in item.rules if rule.id != row.name]
    if edit.act == "retire":
        return tuple(others)
    if edit.act == "restore":
        changed = Rule(row.name, row.polarity, row.kind, row.text)
    else:
        changed = _edited(row, edit)
    if changed.content in [rule.content for rule in others]:
        raise DataError(f"item {item.id} has this rule already.")
    at = next((at for at, rule in enumerate(item.rules) if rule.id == row.name), len(others))
    return (*others[:at], changed, *others[at:])


def _edited(row: Row[Any], edit: RuleEdit) -> Rule:
    check_text(edit.text, "the rule")
    check_length(edit.text)
    text = edit.text.strip() if edit.kind == "fixed" else edit.text
    if not text.strip():
        raise DataError("the rule is empty: write what the output has to have.")
    pattern(text, edit.kind)
    if (edit.polarity, edit.kind, text) == (row.polarity, row.kind, row.text):
        raise DataError("this is the rule as it is: change something first.")
    return Rule("new", edit.polarity, edit.kind, text, provenance=f"edited from {row.name}")


def _refuse_trouble(trouble: Sequence[str]) -> None:
    if any("rule new" in problem for problem in trouble):
        raise DataError(
            "the rule is too slow: it takes too long to search an output. Make it simpler, "
            "above all where something repeated is repeated, as in (a+)+."
        )


def _note(row: Row[Any], edit: RuleEdit, item: Item) -> str:
    old = f"{row.polarity} {row.kind} {row.text!r}"
    if edit.act == "edit rule":
        new = f"{edit.polarity} {edit.kind} {edit.text!r}"
        return f"changed a rule of {item.id}: {old} is now {new}"
    return f"{edit.act}d a rule of {item.id}: {old}"


def _add_version(
    connection: Connection, row: Row[Any], new: Rule, item: Item, change: Change
) -> int:
    taken = set(connection.execute(select(rules.c.name)).scalars())
    name = free_name(item.id, new.polarity, taken)
    values = rule_row(replace(new, id=name), row.item_id, row.position)
    made = insert(rules).values(**values, change_id=change.id, replaces=row.id)
    (number,) = connection.execute(made).inserted_primary_key or (0,)
    return int(number)


def _switch(connection: Connection, *, off: Sequence[int], on: Sequence[int]) -> set[int]:
    """Retire some rules and restore others; the numbers of their items."""
    touched: set[int] = set()
    for ids, retired in ((off, True), (on, False)):
        for batch in batches(ids):
            turned = update(rules).where(rules.c.id.in_(batch)).values(retired=retired)
            touched |= set(connection.execute(turned.returning(rules.c.item_id)).scalars())
    return touched


def _runs(
    connection: Connection, lines: Sequence[OutputEffect], person: int | None
) -> tuple[RunEffect, ...]:
    """The runs whose counts change, before and after, as a person may see them."""
    moved = {line.output.id: line for line in lines if line.verdict != line.output.verdict}
    asked = select(answers.c.run_id, answers.c.output_id).where(answers.c.output_id.in_(moved))
    shifts: dict[int, Counter[str]] = defaultdict(Counter)
    for run, output in connection.execute(asked):
        shifts[run][moved[output].output.verdict] -= 1
        shifts[run][moved[output].verdict] += 1
    totals = _totals(connection, shifts, person)
    named = connection.execute(
        select(runs.c.id, runs.c.system, runs.c.campaign).where(runs.c.id.in_(shifts))
    )
    return tuple(
        RunEffect(system, campaign, _counts(totals[run]), _counts(totals[run], shifts[run]))
        for run, system, campaign in sorted(named)
    )


def _totals(
    connection: Connection, numbers: Collection[int], person: int | None
) -> dict[int, Counter[str]]:
    seen = seen_verdict(connection, person)
    asked = (
        select(answers.c.run_id, seen, func.count())
        .join(outputs, outputs.c.id == answers.c.output_id)
        .where(answers.c.run_id.in_(numbers))
        .group_by(answers.c.run_id, seen)
    )
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for run, verdict, count in connection.execute(asked):
        found[run][verdict] = count
    return found


def _counts(total: Counter[str], shift: Mapping[str, int] | None = None) -> RunCounts:
    moved = shift or {}
    names = ("pass", "fail", "warning")
    return RunCounts(*(total[name] + moved.get(name, 0) for name in names))
