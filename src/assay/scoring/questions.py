"""What can be asked about scores besides the scores themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from assay.significance import BootstrapStatistic, IntervalMethod

__all__ = ["ALPHA", "Questions"]

ALPHA = 0.05
"""A difference is marked as significant where its corrected p is below this."""


@dataclass(frozen=True)
class Questions:
    """What to find out about the scores besides the scores themselves."""

    segments: bool = False
    documents: bool = False
    groups: bool = False
    confidence: bool = False
    method: IntervalMethod | None = None  # each metric's own: BCa, or centred for types
    level: float = 0.95
    test: Literal["none", "bootstrap", "randomisation"] = "none"
    statistic: BootstrapStatistic = "two-sided"
    all_pairs: bool = False
    resamples: int | None = None  # as many as it takes
    trials: int | None = None

    def filled(self, systems: int) -> Questions:
        """The same questions with enough resamples and trials for so many systems.

        Usually 1,000 and 10,000, as in sacreBLEU; more where Holm's correction for many pairs
        could not let even the smallest p, 1 / (resamples + 1), be significant.
        """
        pairs = math.comb(systems, 2) if self.all_pairs else systems - 1
        least = math.ceil(2 * pairs / ALPHA)
        resamples = max(1000, least if self.test == "bootstrap" else 0)
        return replace(
            self,
            resamples=resamples if self.resamples is None else self.resamples,
            trials=max(10_000, least) if self.trials is None else self.trials,
        )
