"""What can be asked about scores, and what one metric says of all systems."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import Dataset
from assay.metrics.base import Metric
from assay.statistics.arrays import Array
from assay.statistics.significance import (
    ENOUGH,
    BootstrapStatistic,
    Comparison,
    Interval,
    IntervalMethod,
    usual_method,
)

__all__ = [
    "ALPHA",
    "FEWEST",
    "Grouped",
    "MetricScores",
    "Part",
    "ScoreOptions",
    "Test",
    "parts",
]

FEWEST = 20
"""A group or document of fewer segments gets no interval and no p: see docs/significance.md."""

_SACREBLEUS = "sacreBLEU's statistic (approximate: finds too much, see docs)"

Test = Literal["none", "bootstrap", "randomisation", "jackknife"]

ALPHA = 0.05
"""A difference is marked as significant where its corrected p is below this."""


@dataclass(frozen=True)
class ScoreOptions:
    """What to find out about the scores besides the scores themselves."""

    segments: bool = False
    documents: bool = False
    groups: bool = False
    confidence: bool = False
    method: IntervalMethod | None = None  # each metric's own: BCa, or the jackknife for types
    level: float = 0.95
    test: Test = "none"
    statistic: BootstrapStatistic = "two-sided"
    all_pairs: bool = False
    resamples: int | None = None  # as many as it takes
    trials: int | None = None

    def method_for(self, metric: Metric, segments: int) -> IntervalMethod:
        """The kind of interval: the one that was asked for, or the usual one."""
        return self.method or usual_method(metric, segments)

    def test_for(self, metric: Metric, segments: int) -> Test:
        """The test that is done: a jackknife where the bootstrap would find too much."""
        if self.test != "bootstrap" or (self._is_sacrebleus and metric.interval_method == "bca"):
            return self.test
        return "jackknife" if usual_method(metric, segments) == "jackknife" else "bootstrap"

    def test_name(self, metric: Metric, segments: int) -> str:
        """The test in words, with its number of resamples or trials, and how far to trust it."""
        match self.test_for(metric, segments):
            case "jackknife":
                types = metric.interval_method == "jackknife"
                why = "of types" if types else f"of fewer than {ENOUGH} segments"
                return f"jackknife t-test (a bootstrap {why} finds too much)"
            case "randomisation":
                return f"approximate randomisation, {self.trials} trials"
            case "bootstrap":
                own = f" with {_SACREBLEUS}" if self._is_sacrebleus else ""
                return f"paired bootstrap{own}, {self.resamples} resamples"
            case _:
                return "none"

    @property
    def _is_sacrebleus(self) -> bool:
        return self.statistic == "sacrebleu"

    def filled(self, dataset: Dataset) -> ScoreOptions:
        """The same options with enough resamples and trials for all comparisons.

        Usually 1,000 and 10,000, as in sacreBLEU; more where Holm's correction for many pairs
        and parts could not let even the smallest p, 1 / (resamples + 1), be significant.
        """
        systems = len(dataset.systems)
        pairs = math.comb(systems, 2) if self.all_pairs else systems - 1
        labels = [dataset.groups] * self.groups + [dataset.documents] * self.documents
        parts = [sum(n >= FEWEST for n in Counter(each).values()) for each in labels]
        least = math.ceil(2 * pairs * max([1, *parts]) / ALPHA)
        resamples = max(1000, least if self.test == "bootstrap" else 0)
        return replace(
            self,
            resamples=resamples if self.resamples is None else self.resamples,
            trials=max(10_000, least) if self.trials is None else self.trials,
        )


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


def parts(entry: MetricScores) -> Iterator[tuple[str, Grouped]]:
    """The parts of the test set that were asked for, by the name of their kind."""
    if entry.documents is not None:
        yield "document", entry.documents
    if entry.groups is not None:
        yield "group", entry.groups
