"""Patterns tried on texts that could make them search for ever."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

import regex

from assay.suite.lint.ambiguity import loops
from assay.suite.lint.syntax import Chars, Choice, Edge, Node, Repeat, Sequence, accepts, walk
from assay.suite.patterns import OutOfTime, Pattern

__all__ = ["LONGEST", "SENTENCE", "probe", "probes"]

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
