"""What MuLER says of one feature in one system's output."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from assay.features.annotation import Feature

__all__ = ["ENOUGH", "FEW", "MANY", "FeatureScore", "is_few"]

FEW = 30
"""Fewer sentences than this have no p: the t-test's errors are off there (docs/muler.md)."""

ENOUGH = 100
"""Fewer have no interval: where most sentences are right, one in six would miss the truth."""

MANY = 300
"""Fewer have an approximate interval: it covers 88 to 97 %, and from here on 92 to 98 %."""


def is_few(n: int) -> bool:
    """Whether so many sentences are too few for a test."""
    return n < FEW


@dataclass(frozen=True)
class FeatureScore:
    """Scores on the sentences of I, those in which both sides have the feature; `nan` is unknown.

    `plain`, `oracle` and `anti` are the metric's scores of the texts as they are and masked for
    the best and the worst; `muler` is (oracle - plain) / (oracle - anti), lower is better; `abl`
    its numerator. `per_sentence`, `negative` and `undefined` look at each sentence by itself.
    `under`, `over` and `equal` are the shares of I in which the output has the feature less often
    than the reference, more often, or just as often. `frequency` is the share of all words,
    `uniqueness` that of distinct words among those with the feature. `p` compares with the first
    system; `p_bh` is corrected over the features. There is no p where either system has few
    sentences (`FEW`), and no interval of fewer than `ENOUGH`.
    """

    feature: Feature
    system: str
    n: int
    plain: float
    oracle: float
    anti: float
    muler: float
    low: float
    high: float
    abl: float
    under: float
    over: float
    equal: float
    frequency_ref: float
    frequency_sys: float
    uniqueness_ref: float
    uniqueness_sys: float
    per_sentence: float
    negative: int
    undefined: int
    p: float = math.nan
    p_bh: float = math.nan

    @property
    def is_thin(self) -> bool:
        """Whether there are too few sentences to say anything."""
        return is_few(self.n)

    @property
    def is_approximate(self) -> bool:
        """Whether there is an interval, but of too few sentences to be sure of it."""
        return self.n < MANY and not math.isnan(self.low)

    def with_correction(self, p: float) -> FeatureScore:
        """The same with its corrected p."""
        return replace(self, p_bh=p)
