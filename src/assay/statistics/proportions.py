"""Intervals and tests of proportions and of averages of proportions; all take arrays."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import Array, DataError, divide

__all__ = [
    "Exactness",
    "Limits",
    "chance_of",
    "mcnemar",
    "mean_interval",
    "sign_flips",
    "stratified_z_test",
    "wilson",
    "z_test",
]

Exactness = Literal["exact", "midp"]
"""Whether what is as extreme as the observed counts in full, or by half ("midp")."""


_SHAPES = np.geomspace(0.05, 200, 21)
"""Both parameters of the beta distributions that true proportions may follow."""


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

    _check_level(level)
    k, n = np.broadcast_arrays(np.asarray(passed, float), np.asarray(items, float))
    z2 = ndtri((1 + level) / 2) ** 2
    centre = (k + z2 / 2) / (n + z2)
    half = np.sqrt(z2 * (divide(k * (n - k), n) + z2 / 4)) / (n + z2)
    # The ends are exact where nothing or everything passed; rounding must not move them.
    low = np.where(k == 0, 0, centre - half)
    high = np.where(k == n, 1, centre + half)
    return Limits(np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan))


def mean_interval(passed: Any, items: Any, *, level: float = 0.95) -> Limits:
    """The interval of the mean of several proportions, which stand along the last axis.

    A proportion of few items that all pass seems to vary by nothing. Its variance is therefore
    estimated together with the others': the true proportions follow some beta distribution, of
    which a grid of shapes is weighed by the likelihood of the counts. The sum of the variances
    says how many items of one proportion would leave the mean as uncertain, and the interval is
    Jeffreys' of so many items. Proportions of no items are left out; `nan` where none is left.
    Over one proportion it is Wilson's interval.
    """
    k, n = np.broadcast_arrays(np.asarray(passed, float), np.asarray(items, float))
    _check_level(level)
    ends = np.empty((2, *k.shape[:-1]))
    for at in np.ndindex(k.shape[:-1]):
        known = n[at] > 0
        ends[:, *at] = _mean_interval(k[at][known], n[at][known], level)
    return Limits(*ends)


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


def _mean_interval(k: Array, n: Array, level: float) -> tuple[float, float]:
    """Both ends of the interval of the mean of k / n, of which no n is 0."""
    from scipy.special import betaincinv

    if len(n) < 2:
        ends = wilson(k, n, level=level)
        return (float(ends.low[0]), float(ends.high[0])) if len(n) else (np.nan, np.nan)
    mean, size = float((k / n).mean()), _effective_items(k, n)
    shape = (mean * size + 0.5, (1 - mean) * size + 0.5)
    # The mean itself is never left out, nor the end that nothing speaks against.
    low = min(mean, float(betaincinv(*shape, (1 - level) / 2))) if k.any() else 0.0
    high = max(mean, float(betaincinv(*shape, (1 + level) / 2))) if (k < n).any() else 1.0
    return low, high


def _effective_items(k: Array, n: Array) -> float:
    """How many items of one proportion leave it as uncertain as the mean of k / n is."""
    from scipy.special import betaln

    (k, n), count = np.unique([k, n], axis=1, return_counts=True)
    a, b = (each.reshape(-1, 1) for each in np.meshgrid(_SHAPES, _SHAPES))
    fit = (betaln(a + k, b + n - k) - betaln(a, b)) @ count
    chance = np.exp(fit - fit.max())
    chance /= chance.sum()
    # Each proportion p is now beta(a + k, b + n - k); its share of items varies by p (1 - p) / n.
    total = a + b + n
    means = ((a + k) / total) @ count / count.sum()
    variances = ((a + k) * (b + n - k) / (total * (total + 1) * n)) @ count / count.sum() ** 2
    return float(chance @ (means * (1 - means)) / (chance @ variances))


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise DataError(f"level {level:g}: give a share between 0 and 1, such as 0.95.")


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
