"""Power means of the importances of words, for many segments and many powers at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.data import DataError
from assay.statistics.arrays import Array, divide

__all__ = ["EPSILON", "Ragged", "Regular", "collapsed", "power_means", "regularised"]

EPSILON = 1e-9
"""What is added to every importance, of a metric from 0 to 1."""

COLLAPSED = 0.01
"""An explanation below this share of the mean absolute importance says nothing any more."""

Regular: TypeAlias = Literal["paper", "shift"]


class Ragged(NamedTuple):
    """The numbers of many segments, one after the other; `lengths` tells how many each has."""

    values: Array
    lengths: NDArray[np.intp]

    @classmethod
    def of(cls, rows: Sequence[ArrayLike]) -> Ragged:
        """From one sequence of numbers per segment."""
        arrays = [np.asarray(row, float) for row in rows]
        values = np.concatenate([np.zeros(0), *arrays])
        return cls(values, np.array([len(each) for each in arrays], np.intp))

    def reduced(self, combine: np.ufunc) -> Array:
        """The numbers of each segment combined, and 0 where it has none."""
        found = np.zeros(len(self.lengths))
        filled = self.lengths > 0
        starts = (np.cumsum(self.lengths) - self.lengths)[filled]
        if len(starts):
            found[filled] = combine.reduceat(self.values, starts)
        return found

    def spread(self, each: Array) -> Array:
        """A number per segment, repeated for each of its own numbers."""
        return np.repeat(each, self.lengths)

    def chosen(self, keep: NDArray[np.bool_]) -> Ragged:
        """Those of some of the segments."""
        return Ragged(self.values[np.repeat(keep, self.lengths)], self.lengths[keep])


def regularised(
    importances: Ragged, regular: Regular = "paper", *, epsilon: float = EPSILON
) -> Ragged:
    """Importances made positive, as power means need them.

    "paper" (Leiter et al., 2022): where the least importance of a segment is 0 or less, all are
    raised by its absolute value, and `epsilon` is added to all. The least is then `epsilon`
    itself, and with a negative power the mean of them all is next to nothing.

    "shift" raises all by the segment's mean absolute importance besides. The least is then of the
    size of the others, so that no power collapses, and a unit of the metric stays a unit.

    >>> regularised(Ragged.of([[-1.0, 3.0]]), "paper", epsilon=0).values
    array([0., 4.])
    >>> regularised(Ragged.of([[-1.0, 3.0]]), "shift", epsilon=0).values
    array([2., 6.])
    """
    raised = -np.minimum(importances.reduced(np.minimum), 0.0)
    if regular == "shift":
        raised += _sizes(importances)
    return importances._replace(values=importances.values + importances.spread(raised) + epsilon)


def power_means(words: Ragged, powers: Sequence[float] | Array) -> Array:
    """The power means of every segment's numbers, (powers, segments), for every power.

    0 is the geometric mean, infinity the greatest and minus infinity the least. Numbers are 0 or
    more; a segment without any has the mean 0, and one with an unknown number an unknown mean.

    >>> power_means(Ragged.of([[1.0, 9.0], [5.0]]), [0.5, 1, 0]).round(9).tolist()
    [[4.0, 5.0], [5.0, 5.0], [3.0, 5.0]]
    """
    if (words.values < 0).any():
        raise DataError("power means are of numbers from 0 up: regularise importances first.")
    with np.errstate(divide="ignore"):
        logs = words._replace(values=np.log(words.values))
    distances = {sign: _from_extreme(logs, sign) for sign in (-1.0, 1.0)}
    means = np.array([_log_mean(logs, distances, float(p)) for p in powers]).reshape(
        len(powers), len(words.lengths)
    )
    return np.where(words.lengths > 0, np.exp(means), 0.0)


def collapsed(importances: Ragged, explanations: Array) -> NDArray[np.bool_]:
    """Where next to nothing is left of the importances: the explanation is worth no more than 0.

    `explanations` are the power means of each segment, (segments,).
    """
    sizes = _sizes(importances)
    lost = (explanations <= COLLAPSED * sizes) | (sizes == 0)
    return np.asarray(lost & (importances.lengths > 0))


def _sizes(importances: Ragged) -> Array:
    """The mean absolute importance of each segment."""
    total = importances._replace(values=np.abs(importances.values)).reduced(np.add)
    return divide(total, importances.lengths)


class _Distances(NamedTuple):
    """Logarithms less the greatest of their segment (or the least), and that one."""

    values: Ragged
    extreme: Array


def _from_extreme(logs: Ragged, sign: float) -> _Distances:
    extreme = logs.reduced(np.maximum if sign > 0 else np.minimum)
    extreme = np.where(np.isfinite(extreme), extreme, 0.0)
    return _Distances(logs._replace(values=logs.values - logs.spread(extreme)), extreme)


def _log_mean(logs: Ragged, distances: dict[float, _Distances], p: float) -> Array:
    """The logarithm of the p-mean of each segment, exact for the smallest p and safe for great."""
    if np.isnan(p):
        raise DataError("the power of a mean is a number, or inf or -inf.")
    if np.isinf(p):
        return logs.reduced(np.maximum if p > 0 else np.minimum)
    counts = np.maximum(logs.lengths, 1)
    if p == 0:
        return logs.reduced(np.add) / counts
    values, extreme = distances[np.sign(p)]
    with np.errstate(over="ignore", divide="ignore"):
        powers = values._replace(values=np.expm1(p * values.values))
        return extreme + np.log1p(powers.reduced(np.add) / counts) / p
