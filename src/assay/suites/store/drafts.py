"""Rules that people may want to add, proposed from the outputs of an item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import NamedTuple

import regex

from assay.suites.check import Hits, hit_of, verdict_of
from assay.suites.model import Kind, Polarity, Rule
from assay.suites.store.common_words import WORD, is_common
from assay.suites.store.queue import rule_matches
from assay.suites.store.records import Case, Draft, StoredOutput

__all__ = ["best_draft", "runs_of_words", "suggest", "written"]

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
