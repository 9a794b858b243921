"""Items that systems fail or that flipped, with what systems wrote and the words that decided."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

import numpy as np

from assay.results import CellValue, Span, Table, Words
from assay.suites.check import FAIL, PASS, OutOfTime, Verdicts, pattern_of
from assay.suites.model import Item
from assay.suites.versions import Flip, Step

__all__ = [
    "FailingExample",
    "changed_words",
    "examples",
    "examples_table",
    "flips_table",
    "in_turn",
    "marked",
    "runs_of",
]

FAILING = "Failing examples"
NAMED = 3
"""Up to so many systems are named; of more, the number is told."""


class FailingExample(NamedTuple):
    """An item, the most common output that fails it, who fails, and one that passes, if any."""

    item: Item
    failed: tuple[str, ...]
    failing: Words
    passing: Words
    systems: int


def examples(verdicts: Verdicts, count: int) -> list[FailingExample]:
    """Per category up to `count` items that most systems fail, best those that some pass.

    Every phenomenon of a category has its turn before one comes again.
    """
    fails = (verdicts.codes == FAIL).sum(axis=0)
    passes = (verdicts.codes == PASS).sum(axis=0)
    places = [int(at) for at in np.flatnonzero(fails)]
    places.sort(key=lambda at: (not passes[at], -fails[at], at))
    chosen = []
    for category in dict.fromkeys(item.category for item in verdicts.items):
        within = [at for at in places if verdicts.items[at].category == category]
        chosen += in_turn(verdicts.items, within)[:count]
    return [_example(verdicts, at) for at in chosen]


def examples_table(found: Sequence[FailingExample]) -> Table:
    """The examples as a table; the column of passing outputs only where there are any."""
    passing = any(example.passing for example in found)
    columns = ("phenomenon", "item", "source", "failed by", "failing output")
    rows: list[list[CellValue]] = [
        [
            example.item.phenomenon,
            example.item.id,
            example.item.source,
            _who(example),
            example.failing,
            *([example.passing] if passing else []),
        ]
        for example in found
    ]
    note = "Per category the items that most systems fail; marked is what a rule has found."
    return Table(FAILING, (*columns, *(["passing output"] if passing else [])), rows, note)


def marked(item: Item, output: str, rule: str | None, mark: Literal["good", "bad"]) -> Words:
    """The output, with the words marked in which the rule of this id matches first."""
    found = None
    for own in item.rules:
        if own.id == rule:
            try:
                found = pattern_of(own).search(output)
            except OutOfTime:
                found = None
    start, end = found or (0, 0)
    words = [
        (word[0], mark if word.start() < end and start < word.end() else "")
        for word in re.finditer(r"\S+", output)
    ]
    return tuple(runs_of(words))


def runs_of(words: Iterable[tuple[str, str]]) -> list[Span]:
    """Neighbouring words with the same mark as one."""
    spans: list[Span] = []
    for text, mark in words:
        if spans and spans[-1].mark == mark:
            spans[-1] = spans[-1]._replace(text=f"{spans[-1].text} {text}")
        else:
            spans.append(Span(text, mark))  # type: ignore[arg-type]
    return spans


def in_turn(items: Sequence[Item], places: Sequence[int]) -> list[int]:
    """The first of each phenomenon, then the second of each, and so on."""
    seen: Counter[str] = Counter()
    turns = []
    for at in places:
        turns.append(seen[items[at].phenomenon])
        seen[items[at].phenomenon] += 1
    return [at for _, at in sorted(zip(turns, places, strict=True), key=lambda each: each[0])]


def _example(verdicts: Verdicts, at: int) -> FailingExample:
    codes = verdicts.codes[:, at]
    return FailingExample(
        item=verdicts.items[at],
        failed=tuple(verdicts.systems[system] for system in np.flatnonzero(codes == FAIL)),
        failing=_most_common(verdicts, at, FAIL, "bad"),
        passing=_most_common(verdicts, at, PASS, "good"),
        systems=len(codes),
    )


def _most_common(verdicts: Verdicts, at: int, code: int, mark: Literal["good", "bad"]) -> Words:
    systems = [int(system) for system in np.flatnonzero(verdicts.codes[:, at] == code)]
    if not systems:
        return ()
    outputs = [verdicts.outputs[system][at] for system in systems]
    output = Counter(outputs).most_common(1)[0][0]
    rule = verdicts.by[systems[outputs.index(output)]][at]
    return marked(verdicts.items[at], output, rule, mark)


def _who(example: FailingExample) -> str:
    if len(example.failed) <= NAMED:
        return ", ".join(example.failed)
    return f"{len(example.failed)} of {example.systems}"


FLIPPED = "What flipped"


def flips_table(steps: Sequence[tuple[str, Step]], count: int) -> Table:
    """Per step, each under its heading, up to `count` items that were lost, and that were gained.

    Every phenomenon has its turn before one comes again.
    """
    rows: list[list[CellValue]] = []
    for head, step in steps:
        for gained in (False, True):
            flips = [flip for flip in step.flips if flip.gained == gained]
            order = in_turn([flip.item for flip in flips], range(len(flips)))
            rows += [_row(head, flips[at]) for at in order[:count]]
    columns = ("system", "change", "phenomenon", "item", "source", "before", "after")
    note = f"Per step up to {count} of the items that were lost and of those that were gained."
    return Table(FLIPPED, columns, rows, note)


def changed_words(text: str, other: str, mark: Literal["good", "bad"]) -> Words:
    """The text, with the words marked that are not in the other at that place."""
    words, others = text.split(), other.split()
    matching = SequenceMatcher(None, words, others, autojunk=False)
    blocks = matching.get_matching_blocks()
    same = {at for block in blocks for at in range(block.a, block.a + block.size)}
    return tuple(runs_of((word, "" if at in same else mark) for at, word in enumerate(words)))


def _row(head: str, flip: Flip) -> list[CellValue]:
    item = flip.item
    marks: tuple[Literal["good", "bad"], Literal["good", "bad"]]
    marks = ("bad", "good") if flip.gained else ("good", "bad")
    return [
        head,
        "gained" if flip.gained else "lost",
        item.phenomenon,
        item.id,
        item.source,
        changed_words(flip.before, flip.after, marks[0]),
        changed_words(flip.after, flip.before, marks[1]),
    ]
