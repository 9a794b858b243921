"""Rules that people are about to add: tried on all outputs, and saved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from time import thread_time
from typing import Any, NamedTuple

import regex
from sqlalchemy import Connection, Select, false, func, insert, null, select, true, update

from assay.data import DataError
from assay.suites.check import (
    LIMIT,
    Hits,
    OutOfTime,
    Verdict,
    hit_of,
    needed_string,
    pattern,
    verdict_of,
)
from assay.suites.model import Rule
from assay.suites.store.blind import hidden_from, masked
from assay.suites.store.history import add_change, sent_before
from assay.suites.store.queue import stored_outputs
from assay.suites.store.records import Change, Draft, Preview, PreviewLine
from assay.suites.store.suites import free_name, load_items, mark_open, rule_row
from assay.suites.store.tables import (
    batches,
    check_text,
    decisions,
    items,
    outputs,
    pairs,
    plain_rows,
    rules,
)

__all__ = ["LONGEST_TEXT", "check_length", "preview", "save_rule", "try_out"]

SHOWN = 30
"""How many outputs of each kind a preview lists."""


def preview(connection: Connection, draft: Draft, *, person: int | None = None) -> Preview:
    """What a draft would do, as far as a `person` may see what others say.

    A `DataError` for a pattern that is wrong or too slow.
    """
    trial = try_out(connection, draft)
    settles = [effect for effect in trial.effects if effect.settles]
    unsettles = [effect for effect in trial.effects if effect.unsettles]
    contradicts = _contradicting(connection, trial, person)
    return Preview(
        settles=_lines(connection, settles, trial, person),
        unsettles=_lines(connection, unsettles, trial, person),
        contradicts=_lines(connection, contradicts, trial, person),
        settles_count=len(settles),
        unsettles_count=len(unsettles),
        contradicts_count=len(contradicts),
        searched=trial.searched,
        items=len(trial.items),
    )


def save_rule(
    connection: Connection, draft: Draft, person: int, *, key: str | None = None
) -> Change:
    """Add the rule to the item of its output, and to others in scope where it settles something.

    It is one change, and taking it back retires the rule in all items. What people said of
    outputs counts before what the rule says. `key` is the page's own name for the request: sent
    once more, it changes nothing.
    """
    if done := sent_before(connection, person, key, "rule"):
        return done
    trial = try_out(connection, draft, new=True)
    own = load_items(connection, [trial.item])[trial.item]
    text = draft.text.strip() if draft.kind == "fixed" else draft.text
    if any((draft.polarity, draft.kind, text) == rule.content for rule in own.rules):
        raise DataError(f"item {own.id} has this rule already.")
    others = f" and {len(trial.items) - 1} more" if len(trial.items) > 1 else ""
    note = f"{draft.polarity} {draft.kind} {text!r} for item {own.id}{others}"
    change = add_change(connection, person, draft.output, "rule", note, key=key)
    provenance = f"resolving a warning of {own.id}"
    new = Rule("new", draft.polarity, draft.kind, text, change.person, change.time, provenance)
    _add(connection, trial.items, new, change)
    _apply(connection, trial.touched, hit_of(new), change)
    return change


def _contradicting(
    connection: Connection, trial: DraftTrial, person: int | None
) -> list[DraftEffect]:
    """Effects on outputs of which a person has said the opposite."""
    changed = [
        effect
        for effect in trial.effects
        if effect.after != effect.before and effect.after in ("pass", "fail")
    ]
    said = _words(connection, [effect.output for effect in changed], person)
    return [effect for effect in changed if said.get(effect.output, set()) - {effect.after}]


def _words(connection: Connection, ids: Sequence[int], person: int | None) -> dict[int, set[str]]:
    """What people say of these outputs, and perhaps of others, where it is not hidden."""
    asked = select(decisions.c.output_id, decisions.c.verdict).where(
        ~decisions.c.withdrawn, decisions.c.verdict != "skip"
    )
    hidden = hidden_from(connection, person)
    if hidden is not false():
        asked = asked.join(outputs, outputs.c.id == decisions.c.output_id).where(~hidden)
    if len(ids) <= MANY:
        asked = asked.where(decisions.c.output_id.in_(ids))
    said: dict[int, set[str]] = defaultdict(set)
    for output, verdict in plain_rows(connection, asked):
        said[output].add(verdict)
    return said


def _lines(
    connection: Connection,
    effects: Sequence[DraftEffect],
    trial: DraftTrial,
    person: int | None,
) -> tuple[PreviewLine, ...]:
    """The first of the effects, those on the draft's own item before the others."""
    shown = sorted(effects, key=lambda effect: effect.item != trial.item)[:SHOWN]
    known = load_items(connection, {effect.item for effect in shown})
    every = stored_outputs(connection, [effect.output for effect in shown])
    stored = masked(connection, every, person)
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


def _add(connection: Connection, ids: Collection[int], new: Rule, change: Change) -> None:
    """Give each of the items the rule, behind its others."""
    taken = {name for (name,) in plain_rows(connection, select(rules.c.name))}
    named = pairs(connection, select(items.c.id, items.c.name).order_by(items.c.position))
    behind = _next_positions(connection, ids)
    shared = {**rule_row(new, 0, 0), "change_id": change.id}
    rows = []
    for id_ in filter(frozenset(ids).__contains__, named):
        name = free_name(named[id_], new.polarity, taken)
        taken.add(name)
        own = {"name": name, "item_id": id_, "position": behind.get(id_, 0)}
        rows.append(shared | own)
    connection.execute(insert(rules), rows)


def _next_positions(connection: Connection, ids: Collection[int]) -> dict[int, int]:
    asked = select(rules.c.item_id, func.max(rules.c.position) + 1).group_by(rules.c.item_id)
    found: dict[int, int] = {}
    for batch in batches(ids):
        rows = connection.execute(asked.where(rules.c.item_id.in_(batch)))
        found.update({item: position for item, position in rows})
    return found


def _apply(connection: Connection, touched: Sequence[_Touched], hit: Hits, change: Change) -> None:
    """Write what a new rule says of outputs that it matches, and no rule of its kind before it.

    The other rules need not be searched again: this one stands behind them, and adds its hit.
    """
    judged = _judged(connection)
    alike: dict[tuple[int, bool], list[int]] = defaultdict(list)
    # Item by item, as the database's indices go.
    for row in sorted(touched, key=itemgetter(1)):
        alike[row.hits, row.output in judged].append(row.output)
    # A sum, so that databases find the rule by its item: thousands may be of this one change.
    name = select(rules.c.name).where(
        rules.c.item_id == outputs.c.item_id, rules.c.change_id + 0 == change.id
    )
    for (hits, said), ids in alike.items():
        after = _after(Hits(hits), hit)
        by = name.scalar_subquery() if after.decides else null()
        values: dict[str, Any] = {"hits": hits | hit}
        if after.changes:
            values |= {"ruled": after.verdict, "ruled_by": by}
            values |= {} if said else {"verdict": after.verdict, "by": by}
        for batch in batches(ids):
            connection.execute(update(outputs).where(outputs.c.id.in_(batch)).values(values))
        if after.changes and not said:
            mark_open(connection, ids)


def _judged(connection: Connection) -> set[int]:
    """The outputs that people have judged: their word counts, whatever the rules say."""
    asked = select(decisions.c.output_id).where(
        ~decisions.c.withdrawn, decisions.c.verdict != "skip"
    )
    return {output for (output,) in plain_rows(connection, asked)}


class _After(NamedTuple):
    """What the rules say when one more has matched behind the others.

    It `decides` where it is the first that counts. Nothing `changes` where others count for more.
    """

    verdict: Verdict
    decides: bool
    changes: bool


def _after(hits: Hits, hit: Hits) -> _After:
    verdict = verdict_of(hits | hit)
    regexes = Hits.POSITIVE_REGEX | Hits.NEGATIVE_REGEX
    first = not hits & regexes if hit & regexes else not hits
    decides = first and verdict in ("pass", "fail")
    return _After(verdict, decides, decides or verdict != verdict_of(hits))


BUDGET = 2.0
"""Seconds of work that a draft may take to search all outputs in its scope."""

MANY = 10_000
"""So many outputs are faster found by reading all than by asking for each."""

SHORT = 500
"""Characters of an output that a harmless pattern searches without a clock."""

_Row = tuple[Any, ...]


class DraftEffect(NamedTuple):
    """An output that a draft changes, and what the rules say of it before and after.

    It is `open` where nobody has judged it.
    """

    output: int
    item: int
    span: tuple[int, int]
    before: Verdict
    after: Verdict
    open: bool

    @property
    def settles(self) -> bool:
        """A warning that nobody has judged becomes a verdict."""
        return self.open and self.before == "warning"

    @property
    def unsettles(self) -> bool:
        """A verdict of the rules becomes another one, or a warning."""
        return self.before != "warning"


class _Touched(NamedTuple):
    """An output that a draft matches; `open` where it stands as the rules leave it."""

    output: int
    item: int
    hits: int
    open: bool
    span: tuple[int, int]


@dataclass(frozen=True)
class DraftTrial:
    """What a draft does to the outputs that it matches.

    `item` is the draft's own. `items` are those that would get the rule: the draft's own, and the
    others in which it settles something. `effects` and `touched` are about their outputs alone;
    `searched` is how many outputs the draft was tried on.
    """

    item: int
    items: frozenset[int]
    touched: tuple[_Touched, ...]
    hit: Hits
    searched: int

    @cached_property
    def effects(self) -> list[DraftEffect]:
        """What changes, in the order of the outputs."""
        words = {
            hits: (verdict_of(Hits(hits)), verdict_of(Hits(hits) | self.hit))
            for hits in {row.hits for row in self.touched}
        }
        return [
            DraftEffect(row.output, row.item, row.span, *words[row.hits], row.open)
            for row in sorted(self.touched)
            if len(set(words[row.hits])) > 1
        ]


LONGEST_TEXT = 2000
"""How many characters a rule that is written in a page may have; long ones take long to search."""


def check_length(text: str) -> None:
    """Raise a `DataError` for a rule that is too long to be written in a page."""
    if len(text) > LONGEST_TEXT:
        raise DataError(
            f"a rule has at most {LONGEST_TEXT:,} characters, and this one has {len(text):,}: "
            "make several rules of it."
        )


def try_out(connection: Connection, draft: Draft, *, new: bool = False) -> DraftTrial:
    """What a draft would do; a `DataError` for a pattern that is wrong, too long or too slow.

    With `new`, outputs that a rule of its polarity and kind matches already are left out: one
    more changes nothing there.
    """
    check_length(draft.text)
    rule = _rule(draft)
    own = _own_item(connection, draft)
    scope = _scope(connection, draft, own)
    rows, searched = _candidates(connection, rule, scope, new=new)
    touched = _search(rule, rows)
    hit = hit_of(rule)
    settled = {hits for hits in range(Hits.TROUBLE) if _settles(Hits(hits), hit)}
    reached = {own.id} | {row.item for row in touched if row.open and row.hits in settled}
    return DraftTrial(
        item=own.id,
        items=frozenset(reached),
        touched=tuple(row for row in touched if row.item in reached),
        hit=hit,
        searched=searched,
    )


def _settles(hits: Hits, hit: Hits) -> bool:
    return verdict_of(hits) == "warning" != verdict_of(hits | hit)


def _rule(draft: Draft) -> Rule:
    """The rule that a draft would become; a `DataError` where it is no rule."""
    check_text(draft.text, "the rule")
    if not draft.text.strip():
        raise DataError("the rule is empty: write what the output has to have.")
    rule = Rule("draft", draft.polarity, draft.kind, draft.text)
    pattern(rule.text, rule.kind)
    return rule


class _Own(NamedTuple):
    """The item that a draft was written for."""

    id: int
    category: str
    phenomenon: str


def _own_item(connection: Connection, draft: Draft) -> _Own:
    asked = (
        select(items.c.id, items.c.category, items.c.phenomenon)
        .join(outputs, outputs.c.item_id == items.c.id)
        .where(outputs.c.id == draft.output)
    )
    row = connection.execute(asked).first()
    if row is None:
        raise DataError(f"there is no output {draft.output} any more: its run was replaced.")
    return _Own(*row)


def _scope(connection: Connection, draft: Draft, own: _Own) -> list[int] | None:
    """The items to try the draft on; None stands for all."""
    if draft.scope == "suite":
        return None
    if draft.scope == "item":
        return [own.id]
    within = select(items.c.id).where(items.c.category == own.category)
    if draft.scope == "phenomenon":
        within = within.where(items.c.phenomenon == own.phenomenon)
    return list(connection.execute(within).scalars())


def _candidates(
    connection: Connection, rule: Rule, scope: Sequence[int] | None, *, new: bool
) -> tuple[list[_Row], int]:
    """Outputs that the rule may match, and how many there are in its scope."""
    tested = outputs.c.ruled != "not tested"
    if new:
        tested &= outputs.c.hits.bitwise_and(int(hit_of(rule))) == 0
    open_ = (outputs.c.verdict == outputs.c.ruled) & ~outputs.c.disputed
    asked = select(outputs.c.id, outputs.c.item_id, outputs.c.hits, open_, outputs.c.text)
    # A database finds a fixed string by itself, and faster than it hands out all texts.
    place = func.strpos if connection.dialect.name == "postgresql" else func.instr
    needed = rule.text.strip() if rule.kind == "fixed" else needed_string(rule.text)
    has = place(outputs.c.text, needed) > 0 if needed else true()
    found = _rows(connection, asked.where(tested, has), scope)
    counts = _rows(connection, select(func.count()).select_from(outputs).where(tested), scope)
    return found, sum(count for (count,) in counts)


def _rows(connection: Connection, asked: Select[Any], scope: Sequence[int] | None) -> list[_Row]:
    """What is asked of the outputs in scope."""
    if scope is None:
        return plain_rows(connection, asked)
    rows = []
    for batch in batches(scope):
        rows += plain_rows(connection, asked.where(outputs.c.item_id.in_(batch)))
    return rows


def _harmless(rule: Rule) -> bool:
    """Whether a search of a short text cannot run away.

    No group is repeated, and there are few repetitions and alternatives.
    """
    if rule.kind == "fixed":
        return True
    few = sum(map(rule.text.count, "*+")) <= 2 and sum(map(rule.text.count, "|?")) <= 8
    return few and not _RISKY.search(rule.text)


_RISKY = regex.compile(r"\)[*+]|\{|\(\?[^:]")


def _search(rule: Rule, rows: Sequence[_Row]) -> list[_Touched]:
    """The outputs that the rule matches."""
    search = pattern(rule.text, rule.kind).search
    # Timing a search takes more than the search itself.
    untimed = SHORT if _harmless(rule) else 0
    found = []
    end = thread_time() + BUDGET
    try:
        for batch in batches(rows, 100):
            for output, item, hits, open_, text in batch:
                if span := search(text, limit=None if len(text) <= untimed else LIMIT):
                    found.append(_Touched(output, item, hits, open_, span))
            if thread_time() > end:
                raise OutOfTime
    except OutOfTime:
        raise DataError(
            "the rule is too slow: it takes seconds to search the outputs. Make it simpler, "
            "above all where something repeated is repeated, as in (a+)+."
        ) from None
    return found
