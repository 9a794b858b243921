"""Items that passed only once of two times, with both outputs and the words that changed."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal

from assay.results import Cell, Table, Words
from assay.suite.showing.examples import in_turn, runs_of
from assay.suite.statistics.versions import Flip, Step

__all__ = ["changed_words", "flips_table"]

FLIPPED = "What flipped"


def flips_table(steps: Sequence[tuple[str, Step]], count: int) -> Table:
    """Per step, each under its heading, up to `count` items that were lost, and that were gained.

    Every phenomenon has its turn before one comes again.
    """
    rows: list[list[Cell]] = []
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


def _row(head: str, flip: Flip) -> list[Cell]:
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
