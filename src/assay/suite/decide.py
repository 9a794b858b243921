"""The decision on one output: a pure function of the patterns that it has.

Regular expressions are searched first. Only if none of them matched, the fixed strings are
tried. What speaks only for the output passes it, what speaks only against it fails it; both or
neither is a warning, for a person to resolve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import Literal

from assay.data import DataError
from assay.suite.model import Rule
from assay.suite.patterns import LIMIT, OutOfTime, pattern

__all__ = ["Finding", "Hits", "Verdict", "decide", "hit_of", "verdict_of"]

Verdict = Literal["pass", "fail", "warning", "not tested"]


class Hits(IntFlag):
    """Which kinds of rules matched an output; `TROUBLE` where one could not be searched."""

    NONE = 0
    POSITIVE_REGEX = 1
    NEGATIVE_REGEX = 2
    POSITIVE_FIXED = 4
    NEGATIVE_FIXED = 8
    TROUBLE = 16


@dataclass(frozen=True)
class Finding:
    """What the rules say of one output.

    `by` is the id of the first rule that decided, None where none did. `matched` are the ids of
    all rules that the output has, `trouble` says which pattern could not be searched, and why.
    """

    verdict: Verdict
    hits: Hits
    by: str | None = None
    matched: tuple[str, ...] = ()
    trouble: tuple[str, ...] = ()


def decide(output: str, rules: Sequence[Rule], *, limit: float = LIMIT) -> Finding:
    """What the rules say of an output; a pattern may search for `limit` seconds."""
    if not output.strip():
        return Finding("not tested", Hits.NONE)
    hits, matched, trouble = Hits.NONE, [], []
    for rule in rules:
        try:
            found = pattern(rule.text, rule.kind).search(output, limit=limit)
        except OutOfTime:
            trouble.append(f"rule {rule.id} took longer than {limit:g} s: {rule.text!r}")
        except DataError as error:
            trouble.append(f"rule {rule.id}: {error}")
        else:
            if found:
                hits |= hit_of(rule)
                matched.append(rule)
    if trouble:
        hits |= Hits.TROUBLE
    verdict = verdict_of(hits)
    return Finding(verdict, hits, _by(verdict, hits, matched), _ids(matched), tuple(trouble))


def verdict_of(hits: Hits) -> Verdict:
    """The verdict on an output that has these hits and is not empty.

    >>> verdict_of(Hits.POSITIVE_REGEX | Hits.NEGATIVE_FIXED)
    'pass'
    """
    if hits & Hits.TROUBLE:
        return "warning"
    regexes = hits & (Hits.POSITIVE_REGEX | Hits.NEGATIVE_REGEX)
    match regexes or hits:
        case Hits.POSITIVE_REGEX | Hits.POSITIVE_FIXED:
            return "pass"
        case Hits.NEGATIVE_REGEX | Hits.NEGATIVE_FIXED:
            return "fail"
    return "warning"


def hit_of(rule: Rule) -> Hits:
    """The hit that a rule makes where it matches."""
    if rule.kind == "regex":
        return Hits.POSITIVE_REGEX if rule.polarity == "positive" else Hits.NEGATIVE_REGEX
    return Hits.POSITIVE_FIXED if rule.polarity == "positive" else Hits.NEGATIVE_FIXED


def _by(verdict: Verdict, hits: Hits, matched: Sequence[Rule]) -> str | None:
    """The first rule that decided: a regular expression, where one matched."""
    if verdict not in ("pass", "fail"):
        return None
    regexes = hits & (Hits.POSITIVE_REGEX | Hits.NEGATIVE_REGEX)
    return next(rule.id for rule in matched if not regexes or rule.kind == "regex")


def _ids(rules: Sequence[Rule]) -> tuple[str, ...]:
    return tuple(rule.id for rule in rules)
