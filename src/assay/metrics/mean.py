"""Metrics that compare no texts: the mean of given scores, and the random baseline."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.data import Array, DataError, Segment, divide
from assay.metrics.base import Metric, Rows, Statistics
from assay.registry import setting

__all__ = ["Mean", "RandomMetric"]


@dataclass(frozen=True)
class Mean(Metric):
    """The mean of given segment scores; `nan` is unrated and left out.

    It has no rows of its own: `Mean("comet").of(values)` gives its statistics.
    """

    name: ClassVar[str] = "mean"
    needs_references: ClassVar[bool] = False
    scale: ClassVar[str] = "as given"

    label: str = setting("scores", key="label")

    @property
    def title(self) -> str:
        """The name of whoever gave the scores."""
        return self.label

    def of(self, values: Sequence[float] | Array) -> Statistics:
        """The statistics of one score per segment."""
        scores = np.asarray(values, float)
        known = ~np.isnan(scores)
        return Statistics(self, np.column_stack([np.where(known, scores, 0.0), known]))

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """Not from text: these scores are given."""
        raise DataError(f"{self}: imported scores cannot be computed from text; use `Mean.of`.")

    def aggregate(self, sums: Array) -> Array:
        """The mean, and `nan` where nothing is rated."""
        total, count = sums.T
        return np.where(count > 0, divide(total, count), np.nan)


@dataclass(frozen=True)
class RandomMetric(Metric):
    """A number from 0 to 1, drawn from the seed and the segment's texts and nothing else.

    The same texts have the same score, wherever they stand; with any other word it is another.
    """

    name: ClassVar[str] = "random"
    needs_references: ClassVar[bool] = False
    scale: ClassVar[str] = "0-1"

    random_seed: int = setting(12345, key="random_seed")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.random_seed < 0:
            raise DataError(
                f"random:random_seed={self.random_seed}: give a whole number of at least 0."
            )

    @property
    def title(self) -> str:
        """Random."""
        return "Random"

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """The number of every segment, and 1."""
        scores = [_draw(self.random_seed, segment) for segment in segments]
        return np.column_stack([np.array(scores, float), np.ones(len(segments))])

    def aggregate(self, sums: Array) -> Array:
        """The mean of the segments' numbers."""
        total, count = sums.T
        return divide(total, count)


def _draw(seed: int, segment: Segment) -> float:
    # References are a set: their order is no part of the text.
    parts = (segment.hypothesis, segment.source, *sorted(segment.references))
    text = f"{seed} {parts!r}"
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return (int.from_bytes(digest) >> 11) / 2**53
