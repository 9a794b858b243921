"""Rules that people think of adding: proposed, tried on all outputs, and saved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import regex
from sqlalchemy import Connection, func, insert, select

from assay.data import DataError
from assay.suites.check import Hits, hit_of, verdict_of
from assay.suites.model import Item, Kind, Polarity, Rule
from assay.suites.store.cases import stored_outputs
from assay.suites.store.decisions import add_change
from assay.suites.store.items import free_name, load_items, rule_row
from assay.suites.store.records import Case, Change, Draft, Preview, PreviewLine
from assay.suites.store.runs import recheck
from assay.suites.store.tables import decisions, rules
from assay.suites.store.texts import batches, plain_rows
from assay.suites.store.trying import MANY, Effect, Trial, try_out

__all__ = ["preview", "save_rule", "suggest"]

WORDS = 3
"""How many words a proposed string has at most."""

OFFERED = 3
"""How many strings are proposed."""

_WORD = regex.compile(r"\w+(?:['’\-]\w+)*")


def suggest(case: Case, polarity: Polarity | None = None) -> tuple[Draft, ...]:
    """Rules that would settle the output of a case, the most telling first.

    Proposed are short strings of the output that stand in no other output with the opposite
    verdict, those first that stand in the most other warnings; each as a fixed string or a
    regular expression, whichever settles the output; and at last the whole output. The polarity
    is that of the output's verdict, and both are tried for a warning.
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
    return tuple(dict.fromkeys(draft for each in chosen for draft in _drafts(case, each)))


def _drafts(case: Case, polarity: Polarity) -> Iterator[Draft]:
    text = case.output.text
    settling = [kind for kind in _KINDS if _settles(case, polarity, kind)]
    if not settling:
        return
    for at, string in enumerate(_telling(case, polarity)):
        # The first is offered both ways, so that there is a regular expression to edit.
        for kind in settling if at == 0 else settling[:1]:
            yield Draft(case.output.id, polarity, kind, _written(string, kind))
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


def _telling(case: Case, polarity: Polarity) -> list[str]:
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

    strings = [each for each in _strings(case.output.text) if not _having(each, against)]
    chosen: list[str] = []
    for string in sorted(dict.fromkeys(strings), key=rank):
        if not any(each in string for each in chosen):
            chosen.append(string)
    return chosen[:OFFERED]


def _strings(text: str) -> Iterator[str]:
    """All runs of one to `WORDS` words, as they stand in the text."""
    words = list(_WORD.finditer(text))
    for length in range(1, WORDS + 1):
        for first, last in zip(words, words[length - 1 :], strict=False):
            yield text[first.start() : last.end()]


def _having(string: str, texts: Sequence[str]) -> int:
    return sum(string in text for text in texts)


def _written(string: str, kind: Kind) -> str:
    return string if kind == "fixed" else rf"\b{_escaped(string)}\b"


def _escaped(text: str) -> str:
    return str(regex.escape(text, special_only=True, literal_spaces=True))


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
