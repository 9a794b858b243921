"""Rules that would settle the most of the warnings that are left, over the whole suite."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from time import thread_time
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, delete, func, insert, or_, select

from assay.data import DataError
from assay.suites.check import Hits, OutOfTime, Verdict, hit_of, pattern, verdict_of
from assay.suites.model import Item, Kind, Polarity, Rule
from assay.suites.store.common_words import WORD, common_words, is_common
from assay.suites.store.drafts import runs_of_words, written
from assay.suites.store.queue import hidden_from_somebody
from assay.suites.store.records import Draft, Preview, Scope
from assay.suites.store.suites import load_items
from assay.suites.store.tables import changes, digest, facts, outputs, plain_rows, rules
from assay.suites.store.trials import preview

__all__ = ["Suggestion", "count_dismissed", "dismiss_suggestion", "offer_again", "suggestions"]

BUDGET = 6.0
"""Seconds of work in which rules are looked for; what is found by then is offered."""

SHARE = 0.5
"""A string stands in at least this share of the outputs that have its verdict."""

ENOUGH, BY_PEOPLE = 2, 2
"""What the outputs with the same verdict have to be worth: 1 by a rule, more by a person."""

LITTLE = 4
"""A word of fewer letters is offered alone only where nothing longer does the same."""

WHOLE = 0.8
"""A rule that matches this share of an output is about the output as a whole."""

OFFERED = 40
"""How many suggestions are tried on all outputs and offered."""

DISMISSED = "dismissed suggestions"
"""The fact that holds what people do not want to see again."""


@dataclass(frozen=True)
class Suggestion:
    """A rule to accept or dismiss: `key` names it, `effect` is what it does.

    `source` is that of an example; `evidence` is how many outputs it matches that have its verdict
    already, and `against` how many outputs with the other verdict it does not match.
    """

    key: str
    draft: Draft
    item: str
    phenomenon: str
    source: str
    evidence: int
    against: int
    effect: Preview


def suggestions(connection: Connection) -> list[Suggestion]:
    """The rules that would settle the most warnings, and contradict no person and no other rule."""
    kept = _KEPT.setdefault(connection.engine, {})
    stamp = _stamp(connection)
    if stamp not in kept:
        kept.clear()
        kept[stamp] = _found(connection)
    hidden = set(_dismissed(connection))
    return [found for found in kept[stamp] if found.key not in hidden]


def dismiss_suggestion(connection: Connection, key: str) -> None:
    """Do not offer a suggestion again."""
    _set_dismissed(connection, [*_dismissed(connection), key])


def count_dismissed(connection: Connection) -> int:
    """How many suggestions were dismissed."""
    return len(set(_dismissed(connection)))


def offer_again(connection: Connection) -> None:
    """Offer what was dismissed."""
    _set_dismissed(connection, [])


_KEPT: WeakKeyDictionary[Engine, dict[Any, list[Suggestion]]] = WeakKeyDictionary()


def _stamp(connection: Connection) -> Any:
    """What changes when people, rules or outputs do."""
    asked: tuple[Any, ...] = (
        select(func.max(changes.c.id), func.max(changes.c.undone)),
        select(func.max(rules.c.id), func.count()).where(~rules.c.retired),
        select(func.max(outputs.c.id), func.sum(outputs.c.version)),
        select(outputs.c.ruled, outputs.c.verdict, func.count()).group_by(
            outputs.c.ruled, outputs.c.verdict
        ),
    )
    return tuple(tuple(sorted(map(str, plain_rows(connection, one)))) for one in asked)


def _dismissed(connection: Connection) -> list[str]:
    asked = select(facts.c.value).where(facts.c.name == DISMISSED)
    return list(json.loads(connection.execute(asked).scalar() or "[]"))


def _set_dismissed(connection: Connection, keys: Sequence[str]) -> None:
    connection.execute(delete(facts).where(facts.c.name == DISMISSED))
    connection.execute(insert(facts).values(name=DISMISSED, value=json.dumps(list(keys))))


class _Output(NamedTuple):
    """An output of an item, and what is said of it; `open` where it is a warning for people."""

    id: int
    item: int
    text: str
    hits: int
    verdict: Verdict
    by: str | None
    ruled_by: str | None

    @property
    def open(self) -> bool:
        return self.verdict == "warning"


class _PossibleRule(NamedTuple):
    """A rule that may be worth offering; `chance` is how likely its evidence is by chance."""

    output: int
    polarity: Polarity
    kind: Kind
    text: str
    scope: Scope
    settles: int
    evidence: int
    against: int
    chance: float


def _found(connection: Connection) -> list[Suggestion]:
    known = load_items(connection)
    by_item = _outputs(connection)
    end = thread_time() + BUDGET
    candidates = list(_strings(known, by_item, common_words(connection), end))
    candidates += _borrowed(known, by_item, end)
    candidates.sort(key=lambda one: (-one.settles, one.chance, -one.evidence, -len(one.text)))
    return list(_checked(connection, known, by_item, candidates, end))


def _outputs(connection: Connection) -> dict[int, list[_Output]]:
    """The outputs of the items that have open warnings.

    What one person said of an output that another is still to judge, too, tells nobody anything.
    """
    told = outputs.c.hits, outputs.c.verdict, outputs.c.by, outputs.c.ruled_by
    columns = outputs.c.id, outputs.c.item_id, outputs.c.text, *told
    waiting = select(outputs.c.item_id).where(outputs.c.verdict == "warning", ~outputs.c.disputed)
    tested = outputs.c.ruled != "not tested", ~outputs.c.disputed
    told_to_all = or_(outputs.c.verdict == "warning", ~hidden_from_somebody())
    asked = select(*columns).where(*tested, told_to_all, outputs.c.item_id.in_(waiting.distinct()))
    found: dict[int, list[_Output]] = defaultdict(list)
    for row in plain_rows(connection, asked.order_by(outputs.c.id)):
        found[row[1]].append(_Output(*row))
    return found


_WANTED: dict[Polarity, tuple[Verdict, Verdict]] = {
    "positive": ("pass", "fail"),
    "negative": ("fail", "pass"),
}


_KINDS: tuple[Kind, ...] = ("fixed", "regex")


def _strings(
    known: dict[int, Item], by_item: dict[int, list[_Output]], common: frozenset[str], end: float
) -> Iterator[_PossibleRule]:
    """For each item the strings that tell its outputs with one verdict from those with the other.

    Only strings that stand in most outputs of the one verdict, in none of the other, and where
    there are outputs of the other; without these, every word would tell. Strings of words that are
    common in the suite tell nothing of an item.
    """
    for id_, lines in by_item.items():
        if thread_time() > end:
            return
        for polarity, (wanted, opposite) in _WANTED.items():
            same = [line for line in lines if line.verdict == wanted]
            against = [line.text for line in lines if line.verdict == opposite]
            open_ = [line for line in lines if line.open]
            if same and against and open_:
                reasons = [_reason(known[id_], line) for line in same]
                yield from _telling(polarity, reasons, against, open_, common)


class _Reason(NamedTuple):
    """The strings of an output that may be why it has its verdict, and how much that is worth."""

    strings: frozenset[str]
    weight: int


def _reason(item: Item, line: _Output) -> _Reason:
    """What may be the reason of a verdict.

    Where a rule gave it, the reason is where the rule matched: words elsewhere are there by
    chance. A rule that is nearly the whole output is a verdict on this output, as a person's is,
    and says nothing of the place.
    """
    rule = next((rule for rule in item.rules if rule.id == line.ruled_by == line.by), None)
    if rule is None:
        return _Reason(frozenset(runs_of_words(line.text)), BY_PEOPLE)
    try:
        span = pattern(rule.text, rule.kind).search(line.text)
    except (DataError, OutOfTime):
        span = None
    if span is None:
        return _Reason(frozenset(), 0)
    part = span[1] - span[0] < WHOLE * len(line.text)
    return _Reason(frozenset(runs_of_words(line.text, touching=span if part else None)), 1)


def _telling(
    polarity: Polarity,
    reasons: Sequence[_Reason],
    against: Sequence[str],
    open_: Sequence[_Output],
    common: frozenset[str],
) -> Iterator[_PossibleRule]:
    """The best string of an item, for each set of warnings that strings would settle."""
    best: dict[frozenset[int], _PossibleRule] = {}
    words = {line.id: set(runs_of_words(line.text)) for line in open_}
    for string in dict.fromkeys(word for line in open_ for word in runs_of_words(line.text)):
        having = [line for line in open_ if string in words[line.id]]
        found = [reason.weight for reason in reasons if string in reason.strings]
        evidence = len(found)
        if evidence < SHARE * len(reasons) or sum(found) < ENOUGH or is_common(string, common):
            continue
        if any(string in text for text in against):
            continue
        # As a fixed string, "a pen" would stand in "a pencil", too.
        whole = all(string in words[line.id] for line in open_ if string in line.text)
        for kind in _KINDS if whole else _KINDS[1:]:
            settled = [line for line in having if _settles(line.hits, polarity, kind)]
            if not settled:
                continue
            text = written(string, kind)
            ids = frozenset(line.id for line in settled)
            chance = _chance(evidence, len(reasons), len(against))
            about = len(settled), evidence, len(against), chance
            new = _PossibleRule(settled[0].id, polarity, kind, text, "item", *about)
            if ids not in best or _better(new, best[ids]):
                best[ids] = new
            break
    yield from best.values()


def _chance(evidence: int, same: int, against: int) -> float:
    """How likely so many of the outputs that have a string are all of one verdict by chance.

    >>> round(_chance(3, 4, 4), 3), _chance(2, 2, 1) > _chance(2, 2, 5)
    (0.071, True)
    """
    return comb(same, evidence) / comb(same + against, evidence)


def _better(new: _PossibleRule, old: _PossibleRule) -> bool:
    return _worth(new) > _worth(old)


def _worth(one: _PossibleRule) -> tuple[Any, ...]:
    """Few words, but no little one alone, which may stand anywhere."""
    little = max(map(len, WORD.findall(one.text))) < LITTLE
    return one.evidence, not little, -one.text.count(" "), len(one.text)


def _settles(hits: int, polarity: Polarity, kind: Kind) -> bool:
    wanted = _WANTED[polarity][0]
    return verdict_of(Hits(hits) | hit_of(Rule("new", polarity, kind, ""))) == wanted


def _borrowed(
    known: dict[int, Item], by_item: dict[int, list[_Output]], end: float
) -> Iterator[_PossibleRule]:
    """Rules of some items that would settle warnings of others of the same phenomenon."""
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for id_, item in known.items():
        groups[item.category, item.phenomenon].append(id_)
    for ids in groups.values():
        waiting = {id_: by_item[id_] for id_ in ids if id_ in by_item}
        if not waiting:
            continue
        for content in _distinct(known, ids):
            if thread_time() > end:
                return
            candidate = _tried(content, known, waiting)
            if candidate:
                yield candidate


_Content = tuple[Polarity, Kind, str]


def _distinct(known: dict[int, Item], ids: Sequence[int]) -> list[_Content]:
    return list(
        dict.fromkeys(
            (rule.polarity, rule.kind, rule.text) for id_ in ids for rule in known[id_].rules
        )
    )


def _tried(
    content: _Content, known: dict[int, Item], waiting: dict[int, list[_Output]]
) -> _PossibleRule | None:
    """What a rule does in items without it; None where it settles nothing or turns something."""
    polarity, kind, text = content
    wanted = _WANTED[polarity][0]
    settled: list[_Output] = []
    alike: list[_Output] = []
    try:
        search = pattern(text, kind).search
        for id_, lines in waiting.items():
            if not any(line.open and search(line.text) for line in lines):
                continue
            if any((rule.polarity, rule.kind, rule.text) == content for rule in known[id_].rules):
                continue
            for line in lines:
                if not search(line.text):
                    continue
                if line.open and _settles(line.hits, polarity, kind):
                    settled.append(line)
                elif line.verdict == wanted:
                    alike.append(line)
                elif not line.open:
                    return None
    except (DataError, OutOfTime):
        return None
    if not settled:
        return None
    # What is like something in each item that it settles comes before what is but borrowed.
    borrowed = {line.item for line in settled} - {line.item for line in alike}
    about = len(settled), len(alike), 0, 1.0 if borrowed else 0.0
    return _PossibleRule(settled[0].id, polarity, kind, text, "phenomenon", *about)


def _checked(
    connection: Connection,
    known: dict[int, Item],
    by_item: dict[int, list[_Output]],
    candidates: Sequence[_PossibleRule],
    end: float,
) -> Iterator[Suggestion]:
    """The first candidates that contradict nobody when they are tried on all outputs in scope."""
    where = {line.id: line.item for lines in by_item.values() for line in lines}
    taken: set[int] = set()
    offered = 0
    for one in candidates:
        if offered == OFFERED or (offered and thread_time() > end):
            return
        draft = Draft(one.output, one.polarity, one.kind, one.text, one.scope)
        try:
            effect = preview(connection, draft)
        except DataError:
            continue
        new = {line.output for line in effect.settles} - taken
        if not new or effect.contradicts_count or effect.unsettles_count:
            continue
        taken |= new
        offered += 1
        item = known[where[one.output]]
        yield Suggestion(
            key=digest(json.dumps([item.id, one.polarity, one.kind, one.text, one.scope])),
            draft=draft,
            item=item.id,
            phenomenon=item.phenomenon,
            source=item.source,
            evidence=one.evidence,
            against=one.against,
            effect=effect,
        )
