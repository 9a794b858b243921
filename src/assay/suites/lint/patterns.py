"""Checks of single patterns: whether they can be read, and how long they may search."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

import regex

from assay.data import DataError
from assay.suites.check import LIMIT, OutOfTime, Pattern, pattern
from assay.suites.lint.problems import Problem, Severity, quoted
from assay.suites.lint.syntax import (
    Chars,
    Choice,
    Edge,
    Node,
    Repeat,
    Sequence,
    accepts,
    ambiguous_text,
    loops,
    parse,
    walk,
)
from assay.suites.model import Item

__all__ = ["LONGEST", "SENTENCE", "pattern_problems", "probe", "probes"]

SENTENCE = 300
"""Characters of a long sentence, which every pattern must get through."""

LONGEST = 1000
"""Characters of what a system writes that repeats itself without end."""

MANY = 12
"""Optional parts that are suspicious even without a loop."""

TAILS = ("", "!", "§")
"""What may make a match fail after all that was read."""

BRANCHES = 6
"""Variants of a loop that are tried."""


class Attack(NamedTuple):
    """A text to repeat, and what stands before it."""

    before: str
    repeated: str


def probe(pattern: Pattern, texts: Iterable[str], *, limit: float) -> str | None:
    """The first text that the pattern does not get through in time, or None."""
    for text in texts:
        try:
            pattern.search(text, limit=limit)
        except OutOfTime:
            return text
    return None


def probes(
    text: str, tree: Node | None, *, suspect: str | None = None, length: int = LONGEST
) -> Iterator[str]:
    """Texts of about that length that wear out the pattern `text`, if any do.

    `suspect` is a text that it might be repeating; without a tree, words of the pattern itself
    are repeated.
    """
    if tree is None:
        words = regex.findall(r"[^\W_]+", text)
        attacks, whole = [Attack("", word) for word in _guesses(words)], "".join(words)
    elif suspect or _repeats_much(tree):
        attacks, whole = _attacks(tree, suspect), _sample(tree)
    else:
        return
    # Without the rest of a match somewhere, a good engine gives up before it begins.
    tails = (*TAILS, f"! {whole}", f"§{whole[-1:]}")
    for before, repeated in dict.fromkeys(attacks):
        pumped = before + repeated * max(1, length // len(repeated))
        yield from (pumped + tail for tail in tails)


def _repeats_much(tree: Node) -> bool:
    repeats = [each for each in walk(tree) if isinstance(each, Repeat)]
    return any(map(loops, repeats)) or len(repeats) >= MANY


def _attacks(tree: Node, suspect: str | None) -> list[Attack]:
    attacks = list(_loops(tree, ""))
    if suspect:
        starts = dict.fromkeys(["", *(attack.before for attack in attacks)])
        attacks = [Attack(before, suspect) for before in starts] + attacks
    return [attack for attack in attacks if attack.repeated]


def _loops(node: Node, before: str) -> Iterator[Attack]:
    """All that is repeated in a pattern, after the least that leads there."""
    match node:
        case Sequence(parts):
            for part in parts:
                yield from _loops(part, before)
                before += _sample(part)
        case Choice(branches):
            for branch in branches:
                yield from _loops(branch, before)
        case Repeat(body):
            yield from map(partial(Attack, before), _variants(body))
            yield from _loops(body, before)
        case Edge(_, body) if body:
            yield from _loops(body, before)


def _variants(node: Node) -> list[str]:
    """Texts that the node reads: with its optional parts and without, by several branches."""
    branches = node.branches[:BRANCHES] if isinstance(node, Choice) else (node,)
    texts = [_sample(each, once=once) for each in branches for once in (False, True)]
    return [text for text in dict.fromkeys(texts) if text]


def _sample(node: Node, *, once: bool = False) -> str:
    """A short text that the node reads; with `once`, optional parts are read, too."""
    match node:
        case Chars(text):
            return next((c for c in ["a", *text, *"0 A_-"] if accepts(text, c)), "")
        case Sequence(parts):
            return "".join(_sample(part, once=once) for part in parts)
        case Choice(branches):
            return _sample(branches[0], once=once)
        case Repeat(body, least):
            times = min(max(least, int(once)), LONGEST)
            return (_sample(body, once=once) * times)[:LONGEST]
    return ""


def _guesses(words: list[str]) -> list[str]:
    return list(dict.fromkeys(["a", "0", " ", "a ", "A", *words[:BRANCHES]]))


BLANK = Chars(" ")

Complaint = tuple[Severity, str, str]
"""Severity, check and message of a problem, wherever the pattern stands."""


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
    tree = parse(text)
    found = [
        _explosive(text, tree, compiled, limit),
        _everything(text, tree) if tree else None,
        _dialect(text),
        _blank(text, tree) if tree else None,
    ]
    return tuple(each for each in found if each)


def _explosive(text: str, tree: Node | None, compiled: Pattern, limit: float) -> Complaint | None:
    """Error: it can take for ever. Warning: it may, or takes too long only in very long outputs."""
    suspect = ambiguous_text(tree) if tree else None
    rounds: list[tuple[Severity, int]] = [("error", SENTENCE), ("warning", LONGEST)]
    if suspect:
        rounds = [("error", LONGEST)]
    for severity, length in rounds:
        attacks = probes(text, tree, suspect=suspect, length=length)
        worn = probe(compiled, attacks, limit=limit)
        if worn is not None:
            told = f"searches longer than {limit:g} s in {len(worn)} characters such as"
            told = f"{quoted(text)} {told} {quoted(worn, longest=24)}"
            return severity, "explosive", told + (_reason(suspect) if suspect else "")
    if suspect:
        told = f"{quoted(text)} may search very long, in other tools at least"
        return "warning", "explosive", told + _reason(suspect)
    return None


def _reason(suspect: str) -> str:
    return f": one repetition within another, or two alike, read {quoted(suspect)} in several ways"


def _dialect(text: str) -> Complaint | None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            re.compile(text)
        except (re.error, RecursionError, OverflowError) as error:
            return "info", "dialect", f"{quoted(text)} is not for Python's re ({error})"
    if caught:
        reason = str(caught[0].message)
        return "info", "dialect", f"{quoted(text)} is not safe with Python's re ({reason})"
    return None


def _everything(text: str, tree: Node) -> Complaint | None:
    if not _needs_nothing(tree):
        return None
    return (
        "error",
        "everything",
        f"{quoted(text)} needs nothing in particular, so it always matches",
    )


def _needs_nothing(node: Node) -> bool:
    """Whether any output has it; anchors and looks around may ask for something."""
    match node:
        case Chars(text):
            return text == "."
        case Sequence(parts):
            return all(map(_needs_nothing, parts))
        case Choice(branches):
            return any(map(_needs_nothing, branches))
        case Repeat(body, least):
            return least == 0 or (least == 1 and _needs_nothing(body))
    return False


def _blank(text: str, tree: Node) -> Complaint | None:
    branches = tree.branches if isinstance(tree, Choice) else (tree,)
    parts = [_parts(each) for each in branches]
    which = "an alternative of it" if len(branches) > 1 else "it"
    if any(each and each[0] == BLANK for each in parts):
        told = f"{quoted(text)}: {which} begins with a blank that must be there"
        slip = "; is a parenthesis in the wrong place?" if len(branches) > 1 else ""
        return "info", "blank", told + slip
    if any(each and each[-1] == BLANK for each in parts):
        return "info", "blank", f"{quoted(text)}: {which} ends with a blank that must be there"
    if any((BLANK, BLANK) in pairwise(_parts(node)) for node in walk(tree)):
        return "info", "blank", f"{quoted(text)}: two blanks in a row"
    return None


def _parts(node: Node) -> tuple[Node, ...]:
    return node.parts if isinstance(node, Sequence) else (node,)
