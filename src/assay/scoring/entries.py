"""What one metric says of all systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.metrics.base import Array, Metric
from assay.significance import Comparison, Interval

__all__ = ["Grouped", "MetricScores", "Part", "labels", "parts"]


class Part(NamedTuple):
    """What a metric says of all systems on a part of the test set: a group or a document.

    `segments` is how many it has. What was not asked for, or cannot be said of so few segments,
    is None. The comparisons' `p_holm` is corrected over all parts.
    """

    name: str
    segments: int
    scores: Array
    intervals: list[Interval] | None = None
    comparisons: list[Comparison] | None = None


Grouped = tuple[Part, ...]
"""The parts of the test set, all of one kind."""


@dataclass(frozen=True, eq=False)
class MetricScores:
    """What one metric says of all systems; what was not asked for is None."""

    metric: Metric
    signature: str
    length: int
    """The number of segments."""
    corpus: Array
    intervals: list[Interval] | None = None
    segments: Array | None = None
    documents: Grouped | None = None
    groups: Grouped | None = None
    comparisons: list[Comparison] | None = None
    clusters: list[int] | None = None
    winners: NDArray[np.intp] | None = None
    """By system and segment the number of the reference that counts, from 0."""
    by_segment: SegmentMetric | None = None
    """What scored the segments, where the metric's settings leave that open."""

    @property
    def segment_metric(self) -> SegmentMetric:
        """What scored the segments."""
        return self.by_segment or SegmentMetric(self.metric, self.signature)


class SegmentMetric(NamedTuple):
    """A metric as it scores single segments, with its signature."""

    metric: Metric
    signature: str


def labels(metrics: Sequence[Metric]) -> list[str]:
    """The metrics' titles; those that share a title as they were asked for, if that tells."""
    titles = [metric.title for metric in metrics]
    shared = [title for title in titles if titles.count(title) > 1]
    words = [metric.requested for metric in metrics if metric.title in shared]
    tell = len(set(words)) == len(words) and not any("|" in text for text in words)
    return [
        title if title not in shared else metric.requested if tell else str(metric)
        for metric, title in zip(metrics, titles, strict=True)
    ]


def parts(entry: MetricScores) -> Iterator[tuple[str, Grouped]]:
    """The parts of the test set that were asked for, by the name of their kind."""
    if entry.documents is not None:
        yield "document", entry.documents
    if entry.groups is not None:
        yield "group", entry.groups
