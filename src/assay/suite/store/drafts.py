"""Rules that people think of adding: tried on all outputs, and saved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection, func, insert, select

from assay.data import DataError
from assay.suite.model import Item, Rule
from assay.suite.store.asking import plain_rows
from assay.suite.store.cases import stored_outputs
from assay.suite.store.changing import add_change
from assay.suite.store.checking import recheck
from assay.suite.store.reading import load_items
from assay.suite.store.records import Change, Draft, Preview, PreviewLine
from assay.suite.store.saving_rules import free_name, rule_row
from assay.suite.store.suggesting import suggest
from assay.suite.store.tables import decisions, rules
from assay.suite.store.texts import batches
from assay.suite.store.trying import MANY, Effect, Trial, try_out

__all__ = ["preview", "save_rule", "suggest"]

SHOWN = 30
"""How many outputs of each kind a preview lists."""


def preview(connection: Connection, draft: Draft) -> Preview:
    """What a draft would do; a `DataError` for a pattern that is wrong or too slow."""
    trial = try_out(connection, draft)
    settles = [effect for effect in trial.effects if effect.settles]
    unsettles = [effect for effect in trial.effects if effect.unsettles]
    contradicts = _contradicting(connection, trial)
    return Preview(
        settles=_lines(connection, settles, trial),
        unsettles=_lines(connection, unsettles, trial),
        contradicts=_lines(connection, contradicts, trial),
        settles_count=len(settles),
        unsettles_count=len(unsettles),
        contradicts_count=len(contradicts),
        searched=trial.searched,
        items=len(trial.items),
    )


def save_rule(connection: Connection, draft: Draft, annotator: int) -> Change:
    """Add the rule to the item of its output, and to others in scope where it settles something.

    It is one change, and taking it back retires the rule in all items. What people said of
    outputs counts before what the rule says.
    """
    trial = try_out(connection, draft)
    known = load_items(connection, trial.items)
    own = known[trial.item]
    text = draft.text.strip() if draft.kind == "fixed" else draft.text
    if any((draft.polarity, draft.kind, text) == _content(rule) for rule in own.rules):
        raise DataError(f"item {own.id} has this rule already.")
    others = f" and {len(known) - 1} more" if len(known) > 1 else ""
    note = f"{draft.polarity} {draft.kind} {text!r} for {own.id}{others}"
    change = add_change(connection, annotator, draft.output, "rule", note)
    provenance = f"resolving a warning of {own.id}"
    new = Rule("new", draft.polarity, draft.kind, text, change.annotator, change.time, provenance)
    _add(connection, known, new, change)
    recheck(connection, trial.items, only=trial.matched)
    return change


def _contradicting(connection: Connection, trial: Trial) -> list[Effect]:
    """Effects on outputs of which a person has said the opposite."""
    changed = [
        effect
        for effect in trial.effects
        if effect.after != effect.before and effect.after in ("pass", "fail")
    ]
    said = _words(connection, [effect.output for effect in changed])
    return [effect for effect in changed if said.get(effect.output, set()) - {effect.after}]


def _words(connection: Connection, ids: Sequence[int]) -> dict[int, set[str]]:
    """What people say of these outputs, and perhaps of others."""
    asked = select(decisions.c.output_id, decisions.c.verdict).where(
        ~decisions.c.withdrawn, decisions.c.verdict != "skip"
    )
    if len(ids) <= MANY:
        asked = asked.where(decisions.c.output_id.in_(ids))
    said: dict[int, set[str]] = defaultdict(set)
    for output, verdict in plain_rows(connection, asked):
        said[output].add(verdict)
    return said


def _lines(
    connection: Connection, effects: Sequence[Effect], trial: Trial
) -> tuple[PreviewLine, ...]:
    """The first of the effects, those on the draft's own item before the others."""
    shown = sorted(effects, key=lambda effect: effect.item != trial.item)[:SHOWN]
    known = load_items(connection, {effect.item for effect in shown})
    stored = stored_outputs(connection, [effect.output for effect in shown])
    return tuple(
        PreviewLine(
            item=known[effect.item].id,
            output=output.id,
            text=output.text,
            systems=output.systems,
            span=effect.span,
            before=effect.before,
            after=effect.after,
            said=output.decisions,
        )
        for effect, output in zip(shown, stored, strict=True)
    )


def _content(rule: Rule) -> tuple[str, str, str]:
    return rule.polarity, rule.kind, rule.text


def _add(connection: Connection, known: Mapping[int, Item], new: Rule, change: Change) -> None:
    """Give each of the items the rule, behind its others."""
    taken = set(connection.execute(select(rules.c.name)).scalars())
    behind = _next_positions(connection, known)
    rows = []
    for id_, item in known.items():
        name = free_name(item.id, new.polarity, taken)
        taken.add(name)
        row = rule_row(replace(new, id=name), id_, behind.get(id_, 0))
        rows.append({**row, "change_id": change.id})
    connection.execute(insert(rules), rows)


def _next_positions(connection: Connection, ids: Collection[int]) -> dict[int, int]:
    asked = select(rules.c.item_id, func.max(rules.c.position) + 1).group_by(rules.c.item_id)
    found: dict[int, int] = {}
    for batch in batches(ids):
        rows = connection.execute(asked.where(rules.c.item_id.in_(batch)))
        found.update({item: position for item, position in rows})
    return found
