"""The sign-flip test: how often chance alone makes a difference as large as the observed one.

Where two systems do not differ, each segment might as well have come from the other one: its
contribution to the difference keeps its size and has either sign. The test asks how often random
signs give a sum at least as far from 0. It is exact whatever the contributions look like, also far
out in the tails, where many tests at once are decided.
"""

from __future__ import annotations

import math

import numpy as np

from assay.data import Array

__all__ = ["least_p", "sign_flip_p"]

EXACT = 24
"""Up to so many contributions, all combinations of signs are counted."""

TOLERANCE = 1e-9
"""A sum that falls short of the observed one by this share still reaches it."""

SMALLEST = 1e-300
"""No p is smaller, and none is 0."""

STEPS = 60
"""Halvings of the interval in which the saddlepoint lies; Newton's steps make most of them idle."""


def least_p(contributions: int) -> float:
    """The smallest p that so many contributions can have: all of one sign.

    >>> least_p(5)
    0.0625
    """
    return math.ldexp(1.0, 1 - contributions) if contributions else 1.0


def sign_flip_p(contributions: Array) -> float:
    """The two-sided p of a sum, under random signs of its contributions.

    Contributions of 0 say nothing and are left out; without any other, p is 1. Few are worked out
    in full, equal sizes are a binomial, and everything else is a saddlepoint approximation
    (Lugannani and Rice, 1980), which holds in the tails as well: off by a few percent of p, and by
    up to a half of it where few contributions, or almost all of one sign, make the sum.

    >>> sign_flip_p(np.array([1.0, 2.0, 4.0]))
    0.25
    >>> sign_flip_p(np.array([1.0, 1.0, -1.0, 0.0]))
    1.0
    """
    sizes = np.abs(contributions)
    largest = float(sizes.max(initial=0.0))
    if not largest > 0:
        return 1.0
    sizes = sizes[sizes > TOLERANCE * largest] / largest
    observed = abs(float(contributions.sum())) / largest
    if observed <= TOLERANCE * len(sizes):
        return 1.0
    if float(sizes.min()) > 1 - TOLERANCE:
        return _binomial_p(len(sizes), observed)
    if len(sizes) <= EXACT:
        return _exact_p(sizes, observed)
    least = max(SMALLEST, least_p(len(sizes)))
    if observed >= float(sizes.sum()) * (1 - TOLERANCE):
        return least
    tail = _saddlepoint_tail(sizes, observed - _half_step(sizes))
    return min(1.0, max(least, 2 * tail))


def _binomial_p(count: int, observed: float) -> float:
    """All contributions have the same size: the sign test."""
    from scipy.special import bdtrc

    wins = round((count + observed) / 2)
    least = max(SMALLEST, least_p(count))
    return min(1.0, max(least, 2 * float(bdtrc(wins - 1, count, 0.5))))


def _exact_p(sizes: Array, observed: float) -> float:
    """All signs of one half of the contributions meet all signs of the other, which are sorted.

    The sums lie around 0, so those below the observed one's mirror image are as many again.
    """
    half = len(sizes) // 2
    sorted_sums = np.sort(_all_sums(sizes[:half]))
    wanted = observed * (1 - TOLERANCE) - _all_sums(sizes[half:])
    below = np.searchsorted(sorted_sums, wanted)
    reached = int((len(sorted_sums) - below).sum())
    return min(1.0, math.ldexp(reached, 1 - len(sizes)))


def _all_sums(sizes: Array) -> Array:
    """The sums with all combinations of signs."""
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums + size, sums - size])
    return sums


def _half_step(sizes: Array) -> float:
    """Half the step between possible sums, where they are whole multiples of one size; or else 0.

    A sum that is reached exactly counts in full, and a smooth curve would count half of it.
    """
    unit = float(sizes.min())
    multiples = sizes / unit
    is_lattice = bool((np.abs(multiples - np.round(multiples)) < 1e-6).all())
    return unit if is_lattice else 0.0


def _saddlepoint_tail(sizes: Array, observed: float) -> float:
    """The probability that the sum reaches what was observed."""
    from scipy.special import ndtr

    if observed <= 0:
        return 0.5
    at = _saddlepoint(sizes, observed)
    scaled = at * sizes
    # log cosh x, without overflow
    cumulant = float((scaled + np.log1p(np.exp(-2 * scaled)) - math.log(2)).sum())
    spread = float((sizes**2 * (1 - np.tanh(scaled) ** 2)).sum())
    w = math.sqrt(max(0.0, 2 * (at * observed - cumulant)))
    u = at * math.sqrt(spread)
    if w < 1e-4 or u < 1e-300:
        return 0.5
    density = math.exp(-w * w / 2) / math.sqrt(2 * math.pi)
    return float(ndtr(-w)) + density * (1 / u - 1 / w)


def _saddlepoint(sizes: Array, observed: float) -> float:
    """Where the slope of the cumulants' function is what was observed: Newton, kept in bounds."""
    low, high, at = 0.0, math.inf, observed / float((sizes**2).sum())
    for _ in range(STEPS):
        slopes = np.tanh(at * sizes)
        gap = float(sizes @ slopes) - observed
        if abs(gap) <= 1e-10 * observed:
            break
        low, high = (low, at) if gap > 0 else (at, high)
        curvature = float((sizes**2 * (1 - slopes**2)).sum())
        step = at - gap / curvature if curvature > 0 else math.inf
        inside = low < step < high and step < 4 * at
        at = step if inside else (low + high) / 2 if math.isfinite(high) else 2 * at
    return at
