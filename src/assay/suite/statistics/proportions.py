"""Intervals and tests of proportions; all take arrays, element by element."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from assay.data import DataError
from assay.metrics.base import Array, divide

__all__ = [
    "Exactness",
    "Limits",
    "chance_of",
    "mcnemar",
    "mover",
    "stratified_z_test",
    "wilson",
    "z_test",
]

Exactness = Literal["exact", "midp"]
"""Whether what is as extreme as the observed counts in full, or by half ("midp")."""


class Limits(NamedTuple):
    """Both ends of intervals, as shares."""

    low: Array
    high: Array


def wilson(passed: Any, items: Any, *, level: float = 0.95) -> Limits:
    """Wilson's score interval of a proportion; `nan` where there are no items.

    >>> low, high = wilson(8, 10)
    >>> round(float(low), 3), round(float(high), 3)
    (0.49, 0.943)
    """
    from scipy.special import ndtri

    if not 0 < level < 1:
        raise DataError(f"level {level:g}: give a share between 0 and 1, such as 0.95.")
    k, n = np.broadcast_arrays(np.asarray(passed, float), np.asarray(items, float))
    z2 = ndtri((1 + level) / 2) ** 2
    centre = (k + z2 / 2) / (n + z2)
    half = np.sqrt(z2 * (divide(k * (n - k), n) + z2 / 4)) / (n + z2)
    # The ends are exact where nothing or everything passed; rounding must not move them.
    low = np.where(k == 0, 0, centre - half)
    high = np.where(k == n, 1, centre + half)
    return Limits(np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan))


def mover(passed: Any, items: Any, *, level: float = 0.95) -> Limits:
    """The interval of the mean of several proportions, which stand along the last axis.

    Wilson's limits of each are put together by squaring and adding their distances (MOVER, Zou
    and Donner, 2008). Proportions of no items are left out; `nan` where none is left. Over one
    proportion it is Wilson's interval.
    """
    k, n = np.asarray(passed, float), np.asarray(items, float)
    known = n > 0
    share = divide(k, n)
    low, high = wilson(k, n, level=level)
    count = np.where(known.any(axis=-1), known.sum(axis=-1), np.nan)
    mean = share.sum(axis=-1) / count
    down = np.sqrt((np.where(known, share - low, 0) ** 2).sum(axis=-1)) / count
    up = np.sqrt((np.where(known, high - share, 0) ** 2).sum(axis=-1)) / count
    return Limits(np.maximum(mean - down, 0), np.minimum(mean + up, 1))


def z_test(better: Any, better_items: Any, worse: Any, worse_items: Any) -> Array:
    """One-tailed p of the first proportion being no higher than the second: the pooled Z-test.

    The first two are passed and all items of the one, the others those of the other. Where
    nothing varies, or there are no items, p is 0.5.
    """
    counts = (better, better_items, worse, worse_items)
    return stratified_z_test(*(np.asarray(each, float)[..., None] for each in counts))


def stratified_z_test(better: Any, better_items: Any, worse: Any, worse_items: Any) -> Array:
    """The same of the means of several proportions, which stand along the last axis.

    Each proportion is pooled by itself, and its variance is added: z is the sum of differences
    over the root of the sum of their variances. Proportions of no items are left out.
    """
    from scipy.special import ndtr

    a, n, b, m = (np.asarray(each, float) for each in (better, better_items, worse, worse_items))
    known = (n > 0) & (m > 0)
    pooled = divide(a + b, n + m)
    variance = pooled * (1 - pooled) * (divide(1, n) + divide(1, m))
    difference = np.where(known, divide(a, n) - divide(b, m), 0).sum(axis=-1)
    spread = np.sqrt(np.where(known, variance, 0).sum(axis=-1))
    return np.asarray(ndtr(-divide(difference, spread)), float)


def mcnemar(won: Any, lost: Any, *, method: Exactness = "exact") -> Array:
    """One-tailed p of winning no more often than losing: McNemar's test on discordant items.

    `won` are the items that only the first passes, `lost` those that only the second passes.
    "exact" is the chance of as many wins or more, 1 without any item; "midp" counts the observed
    number by half, 0.5 without any item.

    >>> float(mcnemar(5, 0))
    0.03125
    """
    from scipy.special import bdtr

    b, c = np.broadcast_arrays(np.asarray(won, float), np.asarray(lost, float))
    # As many wins or more is as many losses or fewer.
    p = np.asarray(bdtr(c, (b + c).astype(int), 0.5), float)
    if method == "exact":
        return p
    return p - chance_of(b, c) / 2


def chance_of(wins: Any, losses: Any) -> Array:
    """The chance of just so many wins and losses where both are as likely."""
    from scipy.special import betaln

    b, c = np.asarray(wins, float), np.asarray(losses, float)
    return np.asarray(np.exp(-np.log1p(b + c) - betaln(b + 1, c + 1) - (b + c) * np.log(2)), float)
