"""Scores that came from elsewhere, averaged: people's, a neural metric's, a test suite's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.data import DataError, Segment
from assay.metrics.base import Metric, Rows, Statistics
from assay.settings import setting
from assay.statistics.arrays import Array, divide

__all__ = ["Mean"]


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
