"""Checks of single patterns: whether they can be read, and how long they may search."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from assay.data import DataError
from assay.suite.lint.ambiguity import ambiguous_text
from assay.suite.lint.probing import LONGEST, SENTENCE, probe, probes
from assay.suite.lint.problems import Problem, Severity, quoted
from assay.suite.lint.syntax import Chars, Choice, Node, Repeat, Sequence, parse, walk
from assay.suite.model import Item
from assay.suite.patterns import LIMIT, Pattern, pattern

__all__ = ["pattern_problems"]

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
