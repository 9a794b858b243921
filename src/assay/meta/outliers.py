"""Systems so far from the rest that they alone would make a high correlation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.metrics.base import Array

__all__ = ["CUTOFF", "outliers"]

CUTOFF = 2.5
"""Further from the median than so many robust standard deviations (Mathur et al., 2020)."""

CONSISTENT = 1.483
"""What makes the median absolute deviation a standard deviation, for normal scores."""


def outliers(scores: Array, *, cutoff: float = CUTOFF) -> NDArray[np.bool_]:
    """Which of the systems' human scores lie far from the median.

    Nobody where more than half of the scores are equal: the rule says nothing then. Unknown
    scores are no outliers.

    >>> outliers(np.array([0.1, 0.2, 0.15, 0.12, -2.0])).tolist()
    [False, False, False, False, True]
    """
    known = scores[~np.isnan(scores)]
    if not len(known):
        return np.zeros(len(scores), bool)
    middle = np.median(known)
    deviation = CONSISTENT * float(np.median(np.abs(known - middle)))
    distance = np.abs(np.where(np.isnan(scores), middle, scores) - middle)
    return np.asarray((deviation > 0) & (distance > cutoff * deviation))
