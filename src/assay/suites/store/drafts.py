"""Rules that people think of adding: proposed, tried on all outputs, and saved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from time import thread_time
from typing import Any, NamedTuple

import regex
from sqlalchemy import Connection, Select, false, func, insert, select

from assay.data import DataError
from assay.suites.check import LIMIT, Hits, OutOfTime, Verdict, hit_of, pattern, verdict_of
from assay.suites.model import Item, Kind, Polarity, Rule
from assay.suites.store.blind import hidden_from, masked
from assay.suites.store.common_words import WORD, is_common
from assay.suites.store.history import add_change, sent_before
from assay.suites.store.queue import rule_matches, stored_outputs
from assay.suites.store.records import Case, Change, Draft, Preview, PreviewLine, StoredOutput
from assay.suites.store.suites import free_name, load_items, recheck, rule_row
from assay.suites.store.tables import (
    batches,
    check_text,
    decisions,
    items,
    outputs,
    plain_rows,
    rules,
)

__all__ = [
    "LONGEST_TEXT",
    "best_draft",
    "check_length",
    "preview",
    "runs_of_words",
    "save_rule",
    "suggest",
    "try_out",
    "written",
]

WORDS = 3
"""How many words a proposed string has at most."""

OFFERED = 3
"""How many strings are proposed."""


def suggest(
    case: Case, polarity: Polarity | None = None, *, common: frozenset[str] = frozenset()
) -> tuple[Draft, ...]:
    """Rules that would settle the output of a case, the most telling first.

    Proposed are short strings of the output that stand in no other output with the opposite
    verdict, those first that stand in the most other warnings; each as a fixed string or a
    regular expression, whichever settles the output; and at last the whole output. The polarity
    is that of the output's verdict, and both are tried for a warning. Strings of `common` words
    (`common_words`) are proposed only where there are no others.
    """
    chosen: Sequence[Polarity]
    if polarity is not None:
        chosen = (polarity,)
    elif case.output.verdict == "pass":
        chosen = ("positive",)
    elif case.output.verdict == "fail":
        chosen = ("negative",)
    else:
        chosen = ("positive", "negative")
    return tuple(dict.fromkeys(draft for each in chosen for draft in _drafts(case, each, common)))


class BestDraft(NamedTuple):
    """A draft, and how many other outputs of its item it would settle."""

    draft: Draft
    settles: int


def best_draft(
    case: Case, polarity: Polarity, *, common: frozenset[str] = frozenset()
) -> BestDraft | None:
    """The proposed rule that settles the most other warnings of the item; None where none does."""
    waiting = [
        other
        for other in case.others
        if other.verdict == other.ruled == "warning" and not other.disputed
    ]
    if not waiting:
        return None
    found = suggest(case, polarity, common=common)
    drafts = [BestDraft(draft, _gain(case, draft, waiting)) for draft in found]
    best = max(drafts, key=lambda one: one.settles, default=None)
    return best if best and best.settles else None


def _gain(case: Case, draft: Draft, waiting: Sequence[StoredOutput]) -> int:
    """How many of the outputs a draft would settle."""
    rule = Rule("draft", draft.polarity, draft.kind, draft.text)
    item = replace(case.item, rules=(*case.item.rules, rule))
    settled = 0
    for output in waiting:
        matches, trouble = rule_matches(item, output.text)
        matched = {name for name, _, _ in matches}
        hits = [hit_of(known) for known in item.rules if known.id in matched]
        after = verdict_of(reduce(or_, hits, Hits.TROUBLE if trouble else Hits.NONE))
        settled += "draft" in matched and after != "warning"
    return settled


def _drafts(case: Case, polarity: Polarity, common: frozenset[str]) -> Iterator[Draft]:
    text = case.output.text
    settling = [kind for kind in _KINDS if _settles(case, polarity, kind)]
    if not settling:
        return
    for at, string in enumerate(_telling(case, polarity, common)):
        # The first is offered both ways, so that there is a regular expression to edit.
        for kind in settling if at == 0 else settling[:1]:
            yield Draft(case.output.id, polarity, kind, written(string, kind))
    if settling[0] == "fixed":
        yield Draft(case.output.id, polarity, "fixed", text.strip())
    else:
        yield Draft(case.output.id, polarity, "regex", f"^{_escaped(text)}$")


_KINDS: tuple[Kind, ...] = ("fixed", "regex")


def _settles(case: Case, polarity: Polarity, kind: Kind) -> bool:
    """Whether one more rule of this polarity and kind gives the output its verdict."""
    hits = Hits.TROUBLE if case.trouble else Hits.NONE
    matched = {name for name, _, _ in case.matches}
    for rule in case.item.rules:
        if rule.id in matched:
            hits |= hit_of(rule)
    wanted = "pass" if polarity == "positive" else "fail"
    new = hit_of(Rule("new", polarity, kind, ""))
    return verdict_of(hits) != wanted and verdict_of(hits | new) == wanted


def _telling(case: Case, polarity: Polarity, common: frozenset[str]) -> list[str]:
    """Strings of the output that others with the opposite verdict have not, the best first."""
    wanted, opposite = ("pass", "fail") if polarity == "positive" else ("fail", "pass")
    same = [other.text for other in case.others if other.verdict == wanted]
    against = [other.text for other in case.others if other.verdict == opposite]
    open_ = [other.text for other in case.others if other.verdict == "warning"]

    def rank(string: str) -> tuple[int, ...]:
        shared = _having(string, same)
        # With nothing to compare with, what is rare tells more than what stands everywhere.
        warnings = _having(string, open_)
        return (
            -shared,
            -warnings if same or against else warnings,
            string.count(" "),
            -len(string),
        )

    strings = [string for string in runs_of_words(case.output.text) if not _having(string, against)]
    rare = [string for string in strings if not is_common(string, common)]
    chosen: list[str] = []
    for string in sorted(dict.fromkeys(rare or strings), key=rank):
        if not any(other in string for other in chosen):
            chosen.append(string)
    return chosen[:OFFERED]


def runs_of_words(text: str, *, touching: tuple[int, int] | None = None) -> Iterator[str]:
    """All runs of one to `WORDS` words, as they stand in the text, or those touching a span of it.

    >>> list(runs_of_words("She went home.", touching=(9, 13)))
    ['home', 'went home', 'She went home']
    """
    start, end = touching or (0, len(text))
    words = list(WORD.finditer(text))
    for length in range(1, WORDS + 1):
        for first, last in zip(words, words[length - 1 :], strict=False):
            if first.start() < end and last.end() > start:
                yield text[first.start() : last.end()]


def _having(string: str, texts: Sequence[str]) -> int:
    return sum(string in text for text in texts)


def written(string: str, kind: Kind) -> str:
    """A string of whole words as a rule of this kind."""
    return string if kind == "fixed" else rf"\b{_escaped(string)}\b"


def _escaped(text: str) -> str:
    return str(regex.escape(text, special_only=True, literal_spaces=True))


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
    trial = try_out(connection, draft)
    known = load_items(connection, trial.items)
    own = known[trial.item]
    text = draft.text.strip() if draft.kind == "fixed" else draft.text
    if any((draft.polarity, draft.kind, text) == _content(rule) for rule in own.rules):
        raise DataError(f"item {own.id} has this rule already.")
    others = f" and {len(known) - 1} more" if len(known) > 1 else ""
    note = f"{draft.polarity} {draft.kind} {text!r} for item {own.id}{others}"
    change = add_change(connection, person, draft.output, "rule", note, key=key)
    provenance = f"resolving a warning of {own.id}"
    new = Rule("new", draft.polarity, draft.kind, text, change.person, change.time, provenance)
    _add(connection, known, new, change)
    recheck(connection, trial.items, only=trial.matched)
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


@dataclass(frozen=True)
class DraftTrial:
    """What a draft does to the outputs that it matches.

    `item` is the draft's own. `items` are those that would get the rule: the draft's own, and the
    others in which it settles something. `effects` and `matched` are about their outputs alone;
    `searched` is how many outputs the draft was tried on.
    """

    item: int
    items: frozenset[int]
    effects: tuple[DraftEffect, ...]
    matched: tuple[int, ...]
    searched: int


LONGEST_TEXT = 2000
"""How many characters a rule that is written in a page may have; long ones take long to search."""


def check_length(text: str) -> None:
    """Raise a `DataError` for a rule that is too long to be written in a page."""
    if len(text) > LONGEST_TEXT:
        raise DataError(
            f"a rule has at most {LONGEST_TEXT:,} characters, and this one has {len(text):,}: "
            "make several rules of it."
        )


def try_out(connection: Connection, draft: Draft) -> DraftTrial:
    """What a draft would do; a `DataError` for a pattern that is wrong, too long or too slow."""
    check_length(draft.text)
    rule = _rule(draft)
    own = _own_item(connection, draft)
    scope = _scope(connection, draft, own)
    texts, searched = _candidates(connection, rule, scope)
    spans = _search(rule, texts)
    touched = _state(connection, list(spans), scope)
    effects = _effects(touched, spans, hit_of(rule))
    reached = {own.id} | {effect.item for effect in effects if effect.settles}
    return DraftTrial(
        item=own.id,
        items=frozenset(reached),
        effects=tuple(effect for effect in effects if effect.item in reached),
        matched=tuple(row[0] for row in touched if row[1] in reached),
        searched=searched,
    )


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
    connection: Connection, rule: Rule, scope: Sequence[int] | None
) -> tuple[list[_Row], int]:
    """Outputs that the rule may match, and how many there are in its scope."""
    tested = outputs.c.ruled != "not tested"
    if rule.kind == "regex":
        found = _rows(connection, select(outputs.c.id, outputs.c.text).where(tested), scope)
        return found, len(found)
    # A database finds a fixed string by itself, and faster than it hands out all texts.
    place = func.strpos if connection.dialect.name == "postgresql" else func.instr
    has = place(outputs.c.text, rule.text.strip()) > 0
    found = _rows(connection, select(outputs.c.id, outputs.c.text).where(tested, has), scope)
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


def _search(rule: Rule, texts: Sequence[_Row]) -> dict[int, tuple[int, int]]:
    """Where the rule matches, by output."""
    wanted = pattern(rule.text, rule.kind)
    # Timing a search takes more than the search itself.
    untimed = SHORT if _harmless(rule) else 0
    found = {}
    end = thread_time() + BUDGET
    try:
        for batch in batches(texts, 100):
            for output, text in batch:
                limit = None if len(text) <= untimed else LIMIT
                if span := wanted.search(text, limit=limit):
                    found[output] = span
            if thread_time() > end:
                raise OutOfTime
    except OutOfTime:
        raise DataError(
            "the rule is too slow: it takes seconds to search the outputs. Make it simpler, "
            "above all where something repeated is repeated, as in (a+)+."
        ) from None
    return found


def _state(connection: Connection, ids: Sequence[int], scope: Sequence[int] | None) -> list[_Row]:
    """The numbers of these outputs, those of their items, their hits and what is said of them."""
    columns = outputs.c.id, outputs.c.item_id, outputs.c.hits, outputs.c.ruled
    asked = select(*columns, outputs.c.verdict, outputs.c.disputed)
    if len(ids) > MANY:
        wanted = set(ids)
        return [row for row in _rows(connection, asked, scope) if row[0] in wanted]
    return plain_rows(connection, asked.where(outputs.c.id.in_(ids)))


def _effects(
    touched: Sequence[_Row], spans: Mapping[int, tuple[int, int]], hit: Hits
) -> list[DraftEffect]:
    """What changes for the outputs that a rule hits, in their order."""
    afterwards = {hits: verdict_of(Hits(hits) | hit) for hits in {row[2] for row in touched}}
    return [
        DraftEffect(id_, item, spans[id_], ruled, after, verdict == ruled and not disputed)
        for id_, item, hits, ruled, verdict, disputed in sorted(touched)
        if (after := afterwards[hits]) != ruled
    ]
