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


def labels(metrics: Sequence[Metric]) -> list[str]:
    """The metrics' titles; the settings of those that share a title."""
    titles = [metric.title for metric in metrics]
    return [
        str(metric) if titles.count(title) > 1 else title
        for metric, title in zip(metrics, titles, strict=True)
    ]


def parts(entry: MetricScores) -> Iterator[tuple[str, Grouped]]:
    """The parts of the test set that were asked for, by the name of their kind."""
    if entry.documents is not None:
        yield "document", entry.documents
    if entry.groups is not None:
        yield "group", entry.groups
