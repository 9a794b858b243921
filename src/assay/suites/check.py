"""Outputs checked against the rules of a suite, with patterns searched against the clock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from functools import lru_cache
from typing import Literal

import numpy as np
import regex
from numpy.typing import NDArray

from assay.data import DataError
from assay.progress import Track, untracked
from assay.suites.model import Item, Kind, Rule, Run, Suite
from assay.text import check_repetitions

__all__ = [
    "FAIL",
    "LIMIT",
    "LONG",
    "NOT_TESTED",
    "PASS",
    "SHORT",
    "WARNING",
    "Checked",
    "Checker",
    "Hits",
    "OutOfTime",
    "Pattern",
    "RuleVerdict",
    "Verdict",
    "Verdicts",
    "check",
    "code_of",
    "decide",
    "forget_patterns",
    "hit_of",
    "pattern",
    "verdict_named",
    "verdict_of",
]

LIMIT = 0.25
"""Seconds of the process's own computing that a pattern may search one output.

`regex` does not count the time in which other programs have the processor, so that a busy machine
decides nothing.
"""

SHORT, LONG = 500, 20_000
"""Patterns of up to so many characters count as short and as long; very few are longer."""


class OutOfTime(Exception):
    """A search that took longer than it may."""


class Pattern:
    """A rule's pattern: `search` says whether an output has it.

    A regular expression is searched anywhere, case-sensitively; a fixed string stands somewhere
    in the output, blanks around it aside, and an empty one stands nowhere.
    """

    def __init__(self, text: str, kind: Kind) -> None:
        self._fixed = text.strip() if kind == "fixed" else None
        self._regex = None if kind == "fixed" else _compiled(text)

    def search(self, output: str, *, limit: float | None = LIMIT) -> tuple[int, int] | None:
        """Where the first match begins and ends, or None; raises `OutOfTime`.

        A search without a `limit` is faster, and goes on for ever with some patterns.
        """
        if self._regex is None:
            return self._find(output)
        if limit is None:  # to say timeout=None takes longer than most searches
            found = self._regex.search(output)
            return found.span() if found else None
        try:
            found = self._regex.search(output, timeout=limit)
        except TimeoutError:
            raise OutOfTime from None
        return found.span() if found else None

    def _find(self, output: str) -> tuple[int, int] | None:
        at = output.find(self._fixed) if self._fixed else -1
        return None if at < 0 else (at, at + len(self._fixed or ""))


def pattern(text: str, kind: Kind) -> Pattern:
    """The pattern, compiled at its first use; a `DataError` says what is wrong with it.

    Compiled patterns are kept, of the long ones fewer, so that memory is bounded whatever people
    try. A large suite has a few thousand patterns.
    """
    if len(text) <= SHORT:
        return _short_pattern(text, kind)
    return _long_pattern(text, kind) if len(text) <= LONG else _longest_pattern(text, kind)


_short_pattern = lru_cache(20_000)(Pattern)
_long_pattern = lru_cache(500)(Pattern)
_longest_pattern = lru_cache(8)(Pattern)


def forget_patterns() -> None:
    """Compile every pattern anew at its next use."""
    for kept in (_short_pattern, _long_pattern, _longest_pattern):
        kept.cache_clear()


def pattern_of(rule: Rule) -> Pattern:
    """The pattern of a rule."""
    return pattern(rule.text, rule.kind)


def _compiled(text: str) -> regex.Pattern[str]:
    try:
        check_repetitions(text)
        return regex.compile(text, cache_pattern=False)
    except (regex.error, ValueError, RecursionError, OverflowError, MemoryError) as error:
        raise DataError(f"{text[:200]!r} is not a regular expression ({error}).") from None


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
class RuleVerdict:
    """What the rules say of one output.

    `by` is the id of the first rule that decided, None where none did. `matched` are the ids of
    all rules that the output has, `trouble` says which pattern could not be searched, and why.
    """

    verdict: Verdict
    hits: Hits
    by: str | None = None
    matched: tuple[str, ...] = ()
    trouble: tuple[str, ...] = ()


def decide(output: str, rules: Sequence[Rule], *, limit: float = LIMIT) -> RuleVerdict:
    """What the rules say of an output; a pattern may search for `limit` seconds."""
    if not output.strip():
        return RuleVerdict("not tested", Hits.NONE)
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
    return RuleVerdict(verdict, hits, _by(verdict, hits, matched), _ids(matched), tuple(trouble))


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


PASS, FAIL, WARNING, NOT_TESTED = 1, 0, -1, -2

_CODES: dict[Verdict, int] = {
    "pass": PASS,
    "fail": FAIL,
    "warning": WARNING,
    "not tested": NOT_TESTED,
}
_NAMES = {code: name for name, code in _CODES.items()}


@dataclass(frozen=True, eq=False)
class Verdicts:
    """One row per system, one column per item.

    `codes` holds PASS, FAIL, WARNING or NOT_TESTED; `by` names the rule or the person behind
    each, or None; `outputs` holds what was judged ("" where nothing was).
    """

    systems: tuple[str, ...]
    items: tuple[Item, ...]
    codes: NDArray[np.int8]
    by: Sequence[Sequence[str | None]]
    outputs: Sequence[Sequence[str]]


def code_of(verdict: Verdict) -> int:
    """The number of a verdict in the matrix."""
    return _CODES[verdict]


def verdict_named(code: int) -> Verdict:
    """The verdict of a number in the matrix."""
    return _NAMES[int(code)]


@dataclass(frozen=True)
class Checked:
    """The verdicts of the rules, and what could not be searched."""

    verdicts: Verdicts
    trouble: tuple[str, ...]


@dataclass
class Checker:
    """Decides outputs one by one; a pattern that ran out of time once is not tried again."""

    limit: float = LIMIT
    trouble: list[str] = field(default_factory=list)
    _slow: dict[str, list[str]] = field(default_factory=dict)

    def judge(self, item: Item, output: str) -> RuleVerdict:
        """What the item's rules say of an output; after trouble it is a warning.

        Outputs of retired items are not tested.
        """
        if item.retired:
            return RuleVerdict("not tested", Hits.NONE)
        known = self._slow.get(item.id)
        if known and output.strip():
            return RuleVerdict("warning", Hits.TROUBLE, trouble=tuple(known))
        finding = decide(output, item.rules, limit=self.limit)
        if finding.trouble:
            self._slow[item.id] = list(finding.trouble)
            self.trouble.extend(f"item {item.id}: {problem}" for problem in finding.trouble)
        return finding


def check(
    suite: Suite,
    runs: Sequence[Run],
    *,
    limit: float = LIMIT,
    track: Track = untracked,
) -> Checked:
    """The verdict on every output of every run.

    Items that no run has an output for are left out, and so are retired ones.
    """
    checker = Checker(limit)
    wanted = set().union(*(run.outputs for run in runs))
    items, columns = [], []
    for item in track(suite.items, total=len(suite)):
        if item.id in wanted and not item.retired:
            items.append(item)
            columns.append(list(_decided(checker, item, runs)))
    codes = [[code_of(finding.verdict) for finding in column] for column in columns]
    shape = (len(items), len(runs))
    verdicts = Verdicts(
        systems=tuple(run.system for run in runs),
        items=tuple(items),
        codes=np.array(codes, np.int8).reshape(shape).T,
        by=[[column[at].by for column in columns] for at in range(len(runs))],
        outputs=[[run.outputs.get(item.id, "") for item in items] for run in runs],
    )
    return Checked(verdicts, tuple(checker.trouble))


def _decided(checker: Checker, item: Item, runs: Sequence[Run]) -> Iterator[RuleVerdict]:
    known: dict[str, RuleVerdict] = {}
    for run in runs:
        output = run.outputs.get(item.id, "")
        if output not in known:
            known[output] = checker.judge(item, output)
        yield known[output]
