"""The array type of all figures, and division without errors."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "divide"]

Array: TypeAlias = NDArray[np.float64]


def divide(a: Any, b: Any) -> Array:
    """The ratio a / b, and 0 where b is 0.

    >>> divide(np.array([1.0, 1.0]), np.array([2.0, 0.0]))
    array([0.5, 0. ])
    """
    a, b = np.broadcast_arrays(np.asarray(a, float), np.asarray(b, float))
    out = np.zeros(a.shape)
    np.divide(a, b, out=out, where=b != 0)
    return out
