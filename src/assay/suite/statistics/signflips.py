"""McNemar's test of an average over groups: discordant items count by the size of their group."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.metrics.base import Array
from assay.suite.statistics.proportions import Exactness, chance_of, mcnemar

__all__ = ["sign_flips"]

LIMIT = 2**16
"""So many sums are worked out one by one; beyond it, the normal distribution is near enough."""

TIE = 1e-9
"""Sums that differ by less than this share of the largest are equal, but for rounding."""


def sign_flips(won: Array, lost: Array, items: Array, *, method: Exactness = "exact") -> float:
    """One-tailed p of the first system being no better on average over groups of items.

    Each group gives how many of its `items` only the first system passes (`won`), and only the
    second (`lost`). Groups of no items are left out. The difference of the averages is the sum
    of 1 / items over all wins, minus that over all losses; if the systems were equal, each win
    could as well be a loss. p is the share of all such signs with a sum as high or higher ("midp"
    counts those as high by half). With one group, or groups of one size, it is McNemar's p.

    Where there are more than 65,536 different sums, it is that of the normal distribution with
    the same variance.
    """
    from scipy.special import ndtr

    known = items > 0
    weights, where = np.unique(1 / items[known], return_inverse=True)
    if len(weights) < 2:
        return float(mcnemar(won[known].sum(), lost[known].sum(), method=method))
    gain = float((won - lost)[known] @ weights[where])
    # Groups of one size flip like one group.
    flips = np.bincount(where, (won + lost)[known], minlength=len(weights)).astype(int)
    if np.log2(flips + 1).sum() <= np.log2(LIMIT) + TIE:
        return _exact(gain, weights, flips, method)
    return float(ndtr(-gain / np.sqrt(flips @ weights**2)))


def _exact(gain: float, weights: Array, flips: NDArray[np.int_], method: Exactness) -> float:
    """By all sums and their chances: the wins among a group's flips are binomial."""
    sums, chances = np.zeros(1), np.ones(1)
    for weight, count in zip(weights, flips, strict=True):
        wins = np.arange(count + 1)
        sums = np.add.outer(sums, weight * (2 * wins - count)).ravel()
        chances = np.multiply.outer(chances, chance_of(wins, count - wins)).ravel()
    slack = TIE * float(flips @ weights)
    above, tied = sums > gain + slack, np.abs(sums - gain) <= slack
    share = 1 if method == "exact" else 0.5
    return min(1.0, float(chances[above].sum() + share * chances[tied].sum()))
