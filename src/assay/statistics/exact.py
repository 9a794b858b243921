"""Sums without rounding: the same to the last bit whatever the order, and however they are split.

Every finite double is a whole multiple of 2**-1074, so a sum of doubles is a whole number of these
units, which Python holds exactly. Rounding comes last, once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from assay.data import Array, are_small_and_whole

__all__ = ["ExactSum", "add", "column_sums", "column_totals", "from_parts", "parts", "rounded"]

ExactSum: TypeAlias = int | float
"""A sum in units of 2**-1074; a float (`nan` or infinite) where something was not finite."""

_UNIT = 1074
_DIGITS = 53
_LOW = 26
_WHOLE = 2.0**_DIGITS

_MOST = 2**25
"""So many rows are summed at once: halves of digits then cannot overflow a double."""


def column_totals(rows: Array) -> Array:
    """The sum of every column, (n, k) to (k,), exact but for one rounding at the end.

    >>> column_totals(np.array([[1e16], [1.0], [-1e16]]))
    array([1.])
    """
    if are_small_and_whole(rows):
        return np.asarray(rows.sum(axis=0), float)
    return np.array([rounded(total) for total in column_sums(rows)])


def column_sums(rows: Array) -> list[ExactSum]:
    """The exact sum of every column."""
    if are_small_and_whole(rows):
        return [int(total) << _UNIT for total in rows.sum(axis=0)]
    return [_sum(rows[:, at]) for at in range(rows.shape[1])]


def add(one: ExactSum, other: ExactSum) -> ExactSum:
    """Both together."""
    if isinstance(one, int) and isinstance(other, int):
        return one + other
    return rounded(one) + rounded(other)


def rounded(total: ExactSum) -> float:
    """The double next to a sum."""
    if isinstance(total, float):
        return total
    try:
        return total / (1 << _UNIT)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def parts(total: ExactSum) -> list[float]:
    """Doubles that add up to a sum exactly, the first of which is its rounded value.

    >>> parts(add(from_parts([1e16]), from_parts([1.0])))
    [1e+16, 1.0]
    """
    found = [rounded(total)]
    while isinstance(total, int) and math.isfinite(found[-1]):
        total -= _units(found[-1])
        if not total:
            break
        found.append(rounded(total))
    return found


def from_parts(values: Iterable[float]) -> ExactSum:
    """The exact sum of these doubles."""
    total: ExactSum = 0
    for value in values:
        total = add(total, _units(value) if math.isfinite(value) else value)
    return total


def _units(value: float) -> int:
    top, bottom = value.as_integer_ratio()
    return (top << _UNIT) // bottom


def _sum(values: Array) -> ExactSum:
    total: ExactSum = 0
    for at in range(0, len(values), _MOST):
        total = add(total, _sum_block(values[at : at + _MOST]))
    return total


def _sum_block(values: Array) -> ExactSum:
    """Digits added up by exponent, as whole numbers in two halves."""
    if not np.isfinite(values).all():
        with np.errstate(invalid="ignore"):
            return float(values[~np.isfinite(values)].sum())
    fractions, exponents = np.frexp(values)
    digits = (fractions * _WHOLE).astype(np.int64)
    found, places = np.unique(exponents, return_inverse=True)
    high = np.bincount(places, digits >> _LOW)
    low = np.bincount(places, digits & (2**_LOW - 1))
    total = 0
    for exponent, upper, lower in zip(found.tolist(), high, low, strict=True):
        own = (int(upper) << _LOW) + int(lower)
        shift = exponent - _DIGITS + _UNIT
        total += own << shift if shift >= 0 else own >> -shift
    return total
