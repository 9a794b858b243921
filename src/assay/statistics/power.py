"""Power: the smallest change that a test or a limit notices with a given probability.

Whoever draws a line should know what can pass below it. All of this is about one test set of the
size at hand, drawn anew from the same source; what varies from draw to draw is estimated from the
data (a standard error) or follows from counting (a binomial).
"""

from __future__ import annotations

import math

__all__ = [
    "POWER",
    "noticeable_count_rate",
    "noticeable_loss",
    "noticeable_new_rate",
    "noticeable_shift",
]

POWER = 0.8
"""The probability with which a change is noticed, unless told: the usual one."""


def noticeable_shift(error: float, reach: float = 0.0, *, power: float = POWER) -> float:
    """How far beyond a line the truth must lie, so that an estimate is `reach` beyond it.

    `error` is the standard error of the estimate; `reach` is 0 where the estimate itself must be
    beyond the line, or half the length of its interval where all of the interval must.

    >>> round(noticeable_shift(1.0), 2), round(noticeable_shift(1.0, 1.96), 2)
    (0.84, 2.8)
    """
    return reach + _quantile(power) * error


def noticeable_loss(error: float, count: int, *, alpha: float, power: float = POWER) -> float:
    """The smallest true loss that a two-sided sign-flip test of so many segments notices.

    The sum of contributions has this standard error around the loss d. Random signs vary by
    error² + d² / count, so the test notices d where d = z sqrt(error² + d² / count) + q error,
    with the normal quantiles z of the test and q of the power: a quadratic equation. Infinite
    where there are too few segments for any loss to be significant.

    >>> round(noticeable_loss(1.0, 1000, alpha=0.05), 2)
    2.81
    >>> noticeable_loss(1.0, 5, alpha=0.05)
    inf
    """
    z, q = _quantile(1 - alpha / 2), _quantile(power)
    if math.ldexp(1.0, 1 - count) >= alpha or count <= z * z:
        return math.inf
    rest = 1 - z * z / count
    return error * (q + math.sqrt(q * q + rest * (z * z - q * q))) / rest


def noticeable_count_rate(most: int, count: int, *, power: float = POWER) -> float:
    """The smallest true rate at which more than `most` of so many segments are hit.

    >>> round(noticeable_count_rate(0, 120), 4)  # 1 - (1 - 0.0133) ** 120 = 0.8
    0.0133
    >>> noticeable_count_rate(120, 120)
    inf
    """
    from scipy.special import betaincinv

    return float(betaincinv(most + 1, count - most, power)) if most < count else math.inf


def noticeable_new_rate(
    count: int, background: int, *, alpha: float, power: float = POWER
) -> float:
    """The smallest rate of newly hit segments that a two-sided sign test notices.

    `background` are the segments hit in one system only that each of the two has by chance.

    >>> round(noticeable_new_rate(120, 0, alpha=0.05), 3)  # six new ones, all to one side
    0.065
    """
    from scipy.special import bdtrc

    for new in range(1, count + 1):
        all_of_them = 2 * background + new
        if 2 * float(bdtrc(background + new - 1, all_of_them, 0.5)) < alpha:
            return noticeable_count_rate(new - 1, count, power=power)
    return math.inf


def _quantile(probability: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(probability))
