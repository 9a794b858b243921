"""Which words of two outputs make the difference, marked for people to see."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from assay.results import Span, Words
from assay.text import tokenize

__all__ = ["MarkedTexts", "mark_differences"]

_EDGES = string.punctuation + "“”„‚‘’«»…–—¿¡。，、！？：；"


class MarkedTexts(NamedTuple):
    """A reference and two outputs with their telling words marked."""

    reference: Words
    first: Words
    second: Words


def mark_differences(
    reference: str, first: str, second: str, *, tokenizer: str = "none"
) -> MarkedTexts:
    """Mark what only one output has right, and what an output has that the reference has not.

    In the outputs a good word is in the reference but not in the other output, a bad word is not
    in the reference. In the reference a noted word is one that a single output has. Words are
    compared without the punctuation at their edges and as often as they occur.

    >>> mark_differences("the cat", "the cat", "the dog").second
    (Span(text='the', mark='', remark=''), Span(text='dog', mark='bad', remark=''))
    """
    wanted, one, other = tokenize([reference, first, second], tokenizer)
    goal, mine, theirs = (Counter(map(_bare, words)) for words in (wanted, one, other))
    only_mine, only_theirs = (mine & goal) - theirs, (theirs & goal) - mine
    return MarkedTexts(
        _mark(wanted, note=only_mine + only_theirs),
        _mark(one, good=only_mine, bad=mine - goal),
        _mark(other, good=only_theirs, bad=theirs - goal),
    )


def _bare(word: str) -> str:
    return word.strip(_EDGES) or word


def _mark(words: Sequence[str], **kinds: Counter[str]) -> Words:
    """Each kind marks as many occurrences of a word as it counts, from the last one back."""
    left = {kind: Counter(counts) for kind, counts in kinds.items()}
    marks = []
    for word in reversed(words):
        kind = next((kind for kind, counts in left.items() if counts[_bare(word)] > 0), "")
        if kind:
            left[kind][_bare(word)] -= 1
        marks.append((kind, word))
    runs = groupby(reversed(marks), key=itemgetter(0))
    return tuple(Span(" ".join(word for _, word in run), kind) for kind, run in runs)
