"""Checks of the rules of one item against each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from assay.data import DataError
from assay.suites.check import LIMIT, Hits, OutOfTime, RuleVerdict, decide, pattern_of
from assay.suites.lint.patterns import PatternPart, outline, walk
from assay.suites.lint.problems import Problem, quoted
from assay.suites.model import Item, Rule

__all__ = ["rule_problems"]

_REFERENCE = re.compile(r"\\[1-9]|\\g<|\(\?(?:P=|[R&(]|P>|\d)")
"""What means a group that was read before, and so depends on where it stands."""

Branch = tuple[PatternPart, ...]


def rule_problems(item: Item, *, limit: float = LIMIT) -> Iterator[Problem]:
    """What is wrong with the rules of an item, the single patterns aside."""
    for problem in (
        *_sides(item),
        *_empty(item),
        *_both_sides(item),
        *_duplicates(item),
        *_judged(item, limit),
        *_branches(item),
    ):
        yield replace(problem, item=item.id)


def _sides(item: Item) -> Iterator[Problem]:
    sides = {rule.polarity for rule in item.rules if _says_something(rule)}
    if not sides:
        yield Problem("error", "no-rule", f"nothing judges the outputs of {quoted(item.source)}")
    elif sides == {"positive"}:
        told = f"no negative rule: only a person can fail an output of {quoted(item.source)}"
        yield Problem("info", "one-sided", told)
    elif sides == {"negative"}:
        told = f"no positive rule: only a person can pass an output of {quoted(item.source)}"
        yield Problem("warning", "one-sided", told)


def _empty(item: Item) -> Iterator[Problem]:
    for rule in item.rules:
        if not _says_something(rule):
            message = f"a {rule.polarity} rule without text matches nothing; delete it"
            yield Problem("warning", "empty", message, rule=rule.id)


def _both_sides(item: Item) -> Iterator[Problem]:
    positive = {_key(rule): rule for rule in item.rules if rule.polarity == "positive"}
    for rule in _saying(item):
        if rule.polarity == "negative" and _key(rule) in positive:
            message = f"{quoted(rule.text)} is also positive ({positive[_key(rule)].id})"
            yield Problem("error", "both-sides", message, rule=rule.id)


def _duplicates(item: Item) -> Iterator[Problem]:
    known: dict[tuple[str, str, str], Rule] = {}
    for rule in _saying(item):
        first = known.setdefault((rule.polarity, *_key(rule)), rule)
        if first is not rule:
            message = f"{quoted(rule.text)} stands there already ({first.id})"
            yield Problem("info", "duplicate", message, rule=rule.id)


def _judged(item: Item, limit: float) -> Iterator[Problem]:
    """What the rules of an item say of each of its fixed strings, taken as an output."""
    rules = _searchable(item, limit)
    for rule in rules:
        if rule.kind == "regex":
            continue
        finding = decide(rule.text, rules, limit=limit)
        if finding.hits & Hits.TROUBLE:
            return
        if finding.verdict != _wanted(rule):
            yield _contradiction(rule, finding, item)
        elif others := [name for name in finding.matched if name != rule.id]:
            yield from _shadowed(rule, [other for other in rules if other.id in others])


def _contradiction(rule: Rule, finding: RuleVerdict, item: Item) -> Problem:
    told = f"{rule.polarity}, but {quoted(rule.text)}"
    others = [other for other in item.rules if other.id in finding.matched and other.id != rule.id]
    if finding.verdict == "warning":
        names = ", ".join(other.id for other in others)
        told += f" stays a warning, since rules of both sides match ({names})"
        return Problem("warning", "contradiction", told, rule=rule.id)
    by = next(other for other in others if other.id == finding.by)
    verb = "passes" if finding.verdict == "pass" else "fails"
    told += f" {verb} by {by.id}: {quoted(by.text)}"
    return Problem("error", "contradiction", told, rule=rule.id)


def _shadowed(rule: Rule, others: list[Rule]) -> Iterator[Problem]:
    """By the first rule of the same side that finds the string as well, copies of it aside."""
    same = [other for other in others if other.polarity == rule.polarity]
    by = next((other for other in same if _key(other) != _key(rule)), None)
    if by:
        message = f"{quoted(rule.text)} is found by {by.id} anyway: {quoted(by.text)}"
        yield Problem("info", "shadowed", message, rule=rule.id)


def _branches(item: Item) -> Iterator[Problem]:
    """Branches of a regular expression that others in it make superfluous."""
    for rule in _saying(item):
        if rule.kind == "regex" and "|" in rule.text and not _REFERENCE.search(rule.text):
            for message in dict.fromkeys([*_twice(rule.text), *_longer(rule.text)]):
                told = f"{message}, in {quoted(rule.text)}"
                yield Problem("info", "shadowed", told, rule=rule.id)


def _twice(text: str) -> Iterator[str]:
    """Branches that stand twice in their group."""
    whole = outline(text)
    for branches in (whole, *(part.branches for part in walk(whole))):
        for at, branch in enumerate(branches):
            if branch in branches[:at]:
                yield f"the alternative {_written(branch)} stands twice"


def _longer(text: str) -> Iterator[str]:
    """Whole alternatives that contain another one: where they match, that one does."""
    branches = outline(text)
    for branch in dict.fromkeys(branches):
        others = (other for other in branches if other != branch and _contains(branch, other))
        if shorter := next(others, None):
            yield f"the alternative {_written(branch)} adds nothing to {_written(shorter)}"


def _contains(branch: Branch, other: Branch) -> bool:
    starts = range(len(branch) - len(other) + 1)
    return bool(other) and any(branch[at : at + len(other)] == other for at in starts)


def _written(branch: Branch) -> str:
    return quoted("".join(map(str, branch)))


def _searchable(item: Item, limit: float) -> list[Rule]:
    """The rules that can be searched at all; others are reported as patterns."""
    return [rule for rule in _saying(item) if _answers(rule, limit)]


def _answers(rule: Rule, limit: float) -> bool:
    try:
        pattern_of(rule).search("", limit=limit)
    except (DataError, OutOfTime):
        return False
    return True


def _saying(item: Item) -> list[Rule]:
    return [rule for rule in item.rules if _says_something(rule)]


def _says_something(rule: Rule) -> bool:
    return bool(rule.text.strip() if rule.kind == "fixed" else rule.text)


def _key(rule: Rule) -> tuple[str, str]:
    """What makes two rules match alike."""
    return rule.kind, rule.text.strip() if rule.kind == "fixed" else rule.text


def _wanted(rule: Rule) -> str:
    return "pass" if rule.polarity == "positive" else "fail"
