"""Word mover's distance: the least work that turns one text's vectors into the other's."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from assay.data import DataError
from assay.metrics.base import Array, divide
from assay.neural.models import INSTALL

__all__ = ["movers_distance", "ngram_vectors"]

MOST_STEPS = 10**7
"""Of the simplex algorithm; texts of five hundred pieces take far fewer."""


def ngram_vectors(states: Any, n: int) -> Array:
    """Means of n neighbouring states, cut to length 1; of all of them where there are fewer.

    >>> ngram_vectors(np.array([[1.0, 0.0], [0.0, 3.0], [0.0, 1.0]]), 2).round(2)
    array([[0.32, 0.95],
           [0.  , 1.  ]])
    """
    n = min(n, len(states))
    windows = [states[at : len(states) - n + 1 + at] for at in range(n)]
    means = np.mean(windows, axis=0, dtype=float)
    return divide(means, np.linalg.norm(means, axis=1, keepdims=True))


def movers_distance(a: Array, b: Array) -> float:
    """The cost of the best way to move vectors a, all of one weight, to vectors b; exact.

    A way costs its Euclidean length, so that between vectors of length 1 it is from 0 to 2. It is
    `nan` where a vector is not a number.
    """
    from scipy.spatial.distance import cdist

    costs = cdist(a, b)
    if not np.isfinite(costs).all():
        return float("nan")
    uniform = [np.full(size, 1 / size) for size in costs.shape]
    return float(_transport().emd2(*uniform, costs, numItermax=MOST_STEPS))


def _transport() -> Any:
    if not find_spec("ot"):
        raise DataError(f"xmover needs the package POT: {INSTALL}")
    return import_module("ot")
