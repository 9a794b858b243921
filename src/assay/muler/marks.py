"""A feature's words in a text, marked for people to see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Literal

from assay.features.annotation import Annotation, Feature
from assay.results import Span, Words

__all__ = ["judge_words", "note_words"]

_Mark = Literal["", "good", "bad", "note"]


def note_words(text: Annotation, feature: Feature) -> Words:
    """The text with the feature's words noted."""
    return _marked(text, {at: "note" for at in _places(text, feature)})


def judge_words(output: Annotation, references: Sequence[Annotation], feature: Feature) -> Words:
    """The feature's words in the output: good as often as they are in a reference, else bad.

    Only the reference's words with the same feature count, without regard to case.
    """
    left: Counter[str] = Counter()
    for text in references:
        left |= Counter(text.tokens[at].casefold() for at in _places(text, feature))
    marks: dict[int, _Mark] = {}
    for at in _places(output, feature):
        word = output.tokens[at].casefold()
        marks[at] = "good" if left[word] else "bad"
        left[word] -= left[word] > 0
    return _marked(output, marks)


def _places(text: Annotation, feature: Feature) -> list[int]:
    spans = feature.spans(text)
    return sorted({at for span in spans for at in range(span.start, span.end)})


def _marked(text: Annotation, marks: Mapping[int, _Mark]) -> Words:
    """Runs of equally marked words become one span."""
    pairs = [(marks.get(at, ""), token) for at, token in enumerate(text.tokens)]
    runs = groupby(pairs, key=itemgetter(0))
    return tuple(Span(" ".join(token for _, token in run), mark) for mark, run in runs)
