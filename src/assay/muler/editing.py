"""MuLER for metrics that match words by similarity: the similarities are edited, not the texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Protocol, runtime_checkable

from assay.data import DataError, Segment
from assay.metrics.base import Metric, Rows
from assay.muler.mask import Line, Masks, Spans
from assay.muler.texts import MaskedTexts
from assay.neural.matching import Places, Stretches

__all__ = ["UNMASKED", "Editable", "edited"]

UNMASKED = Masks("word", "", "", "")
"""For texts that stay as they are."""


@runtime_checkable
class Editable(Protocol):
    """A metric that can take words of both sides for equal, or for like nothing else."""

    def masked_rows(
        self, segments: Sequence[Segment], places: Sequence[Places]
    ) -> tuple[Rows, Rows]:
        """One row per place at best, and one at worst."""


def edited(
    metric: Metric, texts: Sequence[MaskedTexts], segments: Sequence[Segment]
) -> Iterator[tuple[MaskedTexts, tuple[Rows, Rows]]]:
    """The rows of the best and the worst, feature by feature; `segments` are those of all systems.

    All features together, so that the words of each segment are compared once.
    """
    if not isinstance(metric, Editable) or not metric.needs_references:
        raise DataError(f"{metric} does not compare with references, which MuLER needs.")
    return _edited(metric, texts, segments)


def _edited(
    metric: Editable, texts: Sequence[MaskedTexts], segments: Sequence[Segment]
) -> Iterator[tuple[MaskedTexts, tuple[Rows, Rows]]]:
    places = [_places(each) for each in texts]
    best, worst = metric.masked_rows(segments, [place for each in places for place in each])
    ends = list(accumulate(map(len, places)))
    for each, start, end in zip(texts, [0, *ends], ends, strict=False):
        yield each, (best[start:end], worst[start:end])


def _places(texts: MaskedTexts) -> list[Places]:
    """Where the chosen segments of all systems have the feature, one system after the other."""
    annotated, feature = texts.found.annotated, texts.feature
    shared = {
        at: [*map(_stretches, annotated.reference_lines[at], spans)]
        for at, spans in texts.found.references[feature].items()
    }
    return [
        Places(
            number * len(annotated) + at,
            _stretches(annotated.lines[name][at], by_feature[feature][at]),
            shared[at],
        )
        for number, (name, by_feature) in enumerate(texts.found.systems.items())
        for at in texts.chosen[name].tolist()
    ]


def _stretches(line: Line, spans: Spans) -> Stretches:
    """The letters of the tokens; the blank after the last one is none of them."""
    return [(line.starts[start], line.starts[end] - 1) for start, end, _ in spans]
