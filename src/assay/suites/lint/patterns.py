"""What a problem is, and checks of single patterns: can they be read, how long may they search."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

import regex

from assay.data import DataError
from assay.suites.check import LIMIT, OutOfTime, Pattern, pattern
from assay.suites.model import Item

__all__ = [
    "LONGEST",
    "SENTENCE",
    "PatternPart",
    "Problem",
    "Severity",
    "outline",
    "pattern_problems",
    "probe",
    "probes",
    "quoted",
    "walk",
]

Severity = Literal["error", "warning", "info"]
"""Verdicts are wrong or missing; probably a slip; worth knowing, often meant so."""

SENTENCE = 300
"""Characters of a long sentence, which every pattern must get through."""

LONGEST = 1000
"""Characters of what a system writes that repeats itself without end."""

MANY = 12
"""Optional parts that are suspicious even without a loop."""

TAILS = ("", "!", "§")
"""What may make a match fail after all that was read."""

BRANCHES = 6
"""Alternatives of a loop that are tried."""

QUOTED = 90
"""Characters of a quotation."""

Complaint = tuple[Severity, str, str]
"""Severity, check and message of a problem, wherever the pattern stands."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong or odd; `item` and `rule` are None where it concerns the suite."""

    severity: Severity
    check: str
    message: str
    item: str | None = None
    rule: str | None = None


def pattern_problems(item: Item, *, limit: float = LIMIT) -> Iterator[Problem]:
    """What is wrong with the regular expressions of an item."""
    for rule in item.rules:
        if rule.kind == "regex":
            for severity, check, message in _complaints(rule.text, limit):
                yield Problem(severity, check, message, item.id, rule.id)


@lru_cache(100_000)
def _complaints(text: str, limit: float) -> tuple[Complaint, ...]:
    """The complaints about a pattern; many items have the same."""
    try:
        compiled = pattern(text, "regex")
    except DataError as error:
        return (("error", "broken", str(error).removesuffix(".")),)
    complaints = (
        _explosive(text, compiled, limit),
        _everything(text),
        _dialect(text),
        _blank(text),
    )
    return tuple(complaint for complaint in complaints if complaint)


def _explosive(text: str, compiled: Pattern, limit: float) -> Complaint | None:
    """Error: it takes too long in a long sentence. Warning: only in a very long output.

    A loop within a loop is an error even then: in a longer output it never ends.
    """
    rounds: list[tuple[Severity, int]] = [("error", SENTENCE), ("warning", LONGEST)]
    if _nests(outline(text)):
        rounds = [("error", LONGEST)]
    for severity, length in rounds:
        worn = probe(compiled, probes(text, length=length), limit=limit)
        if worn is not None:
            told = f"searches longer than {limit:g} s in {len(worn)} characters such as"
            return severity, "explosive", f"{quoted(text)} {told} {quoted(worn, longest=24)}"
    return None


def _nests(branches: Branches) -> bool:
    """Whether a loop stands within a loop."""
    return any(
        part.loops and any(inner.loops for inner in walk(part.branches)) for part in walk(branches)
    )


def _everything(text: str) -> Complaint | None:
    branches = outline(text)
    if not branches or not _needs_nothing(branches):
        return None
    message = f"{quoted(text)} needs nothing in particular, so it always matches"
    return "error", "everything", message


def _needs_nothing(branches: Branches) -> bool:
    """Whether any output has one of the branches; anchors and looks around may need something."""
    return any(all(map(_is_free, branch)) for branch in branches)


def _is_free(part: PatternPart) -> bool:
    if part.least != 1:
        return part.least == 0
    return _needs_nothing(part.branches) if part.is_group else part.text == "."


def _dialect(text: str) -> Complaint | None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            re.compile(text)
        except (re.error, ValueError, RecursionError, OverflowError) as error:
            return "info", "dialect", f"{quoted(text)} is not for Python's re ({error})"
    if caught:
        reason = str(caught[0].message)
        return "info", "dialect", f"{quoted(text)} is not safe with Python's re ({reason})"
    return None


def _blank(text: str) -> Complaint | None:
    branches = outline(text)
    which = "an alternative of it" if len(branches) > 1 else "it"
    if any(branch[:1] == (BLANK,) for branch in branches):
        told = f"{quoted(text)}: {which} begins with a blank that must be there"
        slip = "; is a parenthesis in the wrong place?" if len(branches) > 1 else ""
        return "info", "blank", told + slip
    if any(branch[-1:] == (BLANK,) for branch in branches):
        return "info", "blank", f"{quoted(text)}: {which} ends with a blank that must be there"
    if any((BLANK, BLANK) in pairwise(branch) for branch in _every_branch(branches)):
        return "info", "blank", f"{quoted(text)}: two blanks in a row"
    return None


def quoted(text: str, *, longest: int = QUOTED) -> str:
    """The text in quotation marks, with the middle of a long one left out.

    >>> quoted("Hold the line, please.", longest=11)
    '"Hold ... ease."'
    """
    if len(text) > longest:
        head, tail = (longest - 1) // 2, longest // 2
        text = f"{text[:head].rstrip()} ... {text[-tail:].lstrip()}"
    return f'"{text}"'


def probe(pattern: Pattern, texts: Iterable[str], *, limit: float) -> str | None:
    """The first text that the pattern does not get through in time, or None."""
    for text in texts:
        try:
            pattern.search(text, limit=limit)
        except OutOfTime:
            return text
    return None


def probes(text: str, *, length: int = LONGEST) -> Iterator[str]:
    """Texts of about that length that wear out the pattern `text`, if any do.

    What the pattern repeats is repeated, after the least that leads there. A pattern that
    repeats hardly anything is not tried, nor is one whose least match is far longer than that:
    `regex` looks for thousands of letters in a row without minding its time limit.
    """
    branches = outline(text)
    repeated = [part for part in walk(branches) if part.times]
    if not any(part.loops for part in repeated) and len(repeated) < MANY:
        return
    whole = _sample(branches)
    # Without the rest of a match somewhere, a good engine gives up before it begins.
    tails = (*TAILS, f"! {whole}", f"§{whole[-1:]}")
    for before, turn in dict.fromkeys(_loops(branches, "")):
        pumped = before + turn * max(1, length // len(turn))
        yield from (pumped + tail for tail in tails if len(pumped + tail) <= 4 * length)


def _loops(branches: Branches, before: str) -> Iterator[tuple[str, str]]:
    """What leads to each repetition in a pattern, and what one turn of it may read."""
    for branch in branches:
        lead = before
        for part in branch:
            if part.times:
                yield from ((lead, turn) for turn in _turns(part))
            yield from _loops(part.branches, lead)
            lead += _sample(((part,),))


def _turns(part: PatternPart) -> list[str]:
    """Texts that one turn reads: with its optional parts and without, by several alternatives."""
    once = part._replace(times="")
    choices = [(branch,) for branch in part.branches[:BRANCHES]] or [((once,),)]
    turns = [_sample(choice, full=full) for choice in choices for full in (False, True)]
    return [turn for turn in turns if turn]


def _sample(branches: Branches, *, full: bool = False) -> str:
    """A short text that the first branch reads; with `full`, optional parts are read, too."""
    texts = []
    for part in branches[0] if branches else ():
        times = min(max(part.least, int(full)), LONGEST)
        one = _sample(part.branches, full=full) if part.branches else _character(part.text)
        texts.append((one * times)[:LONGEST] if not part.looks else "")
    return "".join(texts)


@lru_cache(10_000)
def _character(text: str) -> str:
    """A character that this part of a pattern reads, "" for what reads none, such as an anchor."""
    try:
        one = regex.compile(text, cache_pattern=False)
    except regex.error:
        return ""
    return next((sign for sign in ["a", *text, *"0 A_-"] if one.fullmatch(sign)), "")


class PatternPart(NamedTuple):
    r"""What stands in a pattern between two others: a character, `\w`, `[a-z]`, `^`, or a group.

    `text` is as written, but "(" for every group that only groups; `times` is "*", "+", "?",
    "{2,3}" or "", greedy or lazy alike.
    """

    text: str
    times: str = ""
    branches: Branches = ()

    def __str__(self) -> str:
        inside = "|".join("".join(map(str, branch)) for branch in self.branches)
        return f"{self.text}{inside}{')' if self.branches else ''}{self.times}"

    @property
    def is_group(self) -> bool:
        """Whether it is a group that only groups."""
        return bool(self.branches) and self.text == "("

    @property
    def looks(self) -> bool:
        """Whether it looks ahead or behind, and reads nothing itself."""
        return self.text in ("(?=", "(?!", "(?<=", "(?<!")

    @property
    def least(self) -> int:
        """How often it must be there."""
        numbers = regex.match(r"\{([0-9]*)", self.times)
        return int(numbers[1] or 0) if numbers else int(self.times[:1] not in ("*", "?"))

    @property
    def loops(self) -> bool:
        """Whether it may be there ten times or more."""
        most = regex.match(r"\{[0-9]*,?([0-9]*)\}", self.times)
        return int(most[1] or LOOP) >= LOOP if most else self.times[:1] in ("*", "+")


Branches = tuple[tuple[PatternPart, ...], ...]
"""The alternatives of a pattern or of a group, each as its parts in order."""

LOOP = 10
"""Something that may stand this often counts as a loop."""

BLANK = PatternPart(" ")

_TOKEN = regex.compile(
    r"""(?:\(\?\#[^)]*\))
    |(?<open>\((?:\?(?:<?[=!]|P?<\w+>|[a-zA-Z]*:|[>|]))?(?![?*]))
    |(?<bar>\|)
    |(?:(?<close>\))|(?<one>\\(?:[pPN]\{[^}]*\}|x[\da-fA-F]{2}|u[\da-fA-F]{4}|g<\w+>|.)
      |\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\(\?[^)]*\)|.))
     (?<times>(?:(?:[*+?]|\{(?:[0-9]+,?[0-9]*|,[0-9]*)\})\+?)?)\??""",
    regex.VERBOSE | regex.DOTALL,
)
_GROUPING = regex.compile(r"\((?:\?(?:P?<\w+>|:))?")


@lru_cache(100_000)
def outline(text: str) -> Branches:
    """The alternatives of a valid regular expression and what they are made of.

    It is a sketch, good enough to find texts worth trying; () where it cannot be made.

    >>> ["".join(map(str, branch)) for branch in outline("(?:say|tell) me+?|so")]
    ['(say|tell) me+', 'so']
    """
    open_groups: list[tuple[str, list[list[PatternPart]]]] = [("", [[]])]
    for token in _TOKEN.finditer(text):
        branches = open_groups[-1][1]
        if token["open"]:
            open_groups.append((token["open"], [[]]))
        elif token["bar"]:
            branches.append([])
        elif token["one"]:
            branches[-1].append(PatternPart(token["one"], token["times"]))
        elif token["close"] and len(open_groups) > 1:
            head, inside = open_groups.pop()
            open_groups[-1][1][-1].extend(_group(head, token["times"], tuple(map(tuple, inside))))
    return _bare(tuple(map(tuple, open_groups[0][1]))) if len(open_groups) == 1 else ()


def _group(head: str, times: str, branches: Branches) -> tuple[PatternPart, ...]:
    """A group; where it changes nothing, what is in it."""
    plain = _GROUPING.fullmatch(head) is not None
    if plain and not times and len(branches) == 1:
        return branches[0]
    return (PatternPart("(" if plain else head, times, branches),)


def _bare(branches: Branches) -> Branches:
    """The alternatives without a group around all of them."""
    match branches:
        case ((PatternPart(text="(", times="", branches=inside),),) if inside:
            return _bare(inside)
    return branches


def walk(branches: Branches) -> Iterator[PatternPart]:
    """All parts, and those inside groups."""
    for branch in branches:
        for part in branch:
            yield part
            yield from walk(part.branches)


def _every_branch(branches: Branches) -> Iterator[tuple[PatternPart, ...]]:
    yield from branches
    for part in walk(branches):
        yield from part.branches
