"""A draft tried on stored outputs: which it matches, and what their rules would say then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import thread_time
from typing import Any, NamedTuple

import regex
from sqlalchemy import Connection, Select, func, select

from assay.data import DataError
from assay.suites.check import LIMIT, Hits, OutOfTime, Verdict, hit_of, pattern, verdict_of
from assay.suites.model import Rule
from assay.suites.store.records import Draft
from assay.suites.store.tables import items, outputs
from assay.suites.store.texts import batches, check_text, plain_rows

__all__ = ["MANY", "Effect", "Trial", "try_out"]

BUDGET = 2.0
"""Seconds of work that a draft may take to search all outputs in its scope."""

MANY = 10_000
"""So many outputs are faster found by reading all than by asking for each."""

SHORT = 500
"""Characters of an output that a harmless pattern searches without a clock."""

_Row = tuple[Any, ...]


class Effect(NamedTuple):
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
class Trial:
    """What a draft does to the outputs that it matches.

    `item` is the draft's own. `items` are those that would get the rule: the draft's own, and the
    others in which it settles something. `effects` and `matched` are about their outputs alone;
    `searched` is how many outputs the draft was tried on.
    """

    item: int
    items: frozenset[int]
    effects: tuple[Effect, ...]
    matched: tuple[int, ...]
    searched: int


def try_out(connection: Connection, draft: Draft) -> Trial:
    """What a draft would do; a `DataError` for a pattern that is wrong or too slow."""
    rule = _rule(draft)
    own = _own_item(connection, draft)
    scope = _scope(connection, draft, own)
    texts, searched = _candidates(connection, rule, scope)
    spans = _search(rule, texts)
    touched = _state(connection, list(spans), scope)
    effects = _effects(touched, spans, hit_of(rule))
    reached = {own.id} | {effect.item for effect in effects if effect.settles}
    return Trial(
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
) -> list[Effect]:
    """What changes for the outputs that a rule hits, in their order."""
    afterwards = {hits: verdict_of(Hits(hits) | hit) for hits in {row[2] for row in touched}}
    return [
        Effect(id_, item, spans[id_], ruled, after, verdict == ruled and not disputed)
        for id_, item, hits, ruled, verdict, disputed in sorted(touched)
        if (after := afterwards[hits]) != ruled
    ]
