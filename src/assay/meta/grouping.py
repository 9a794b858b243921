"""Scores of systems on items, laid out in the groups within which they are compared."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError
from assay.metrics.base import Array

__all__ = ["By", "Mask", "grouped", "means"]

By = Literal["none", "item", "system"]
"""Compared within each item, within each system, or all with all."""

Mask = NDArray[np.bool_]


def grouped(scores: Any, by: By) -> Array:
    """Scores (..., systems, items) as (..., groups, members).

    >>> grouped([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "item").tolist()
    [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    """
    values = np.asarray(scores, float)
    match by:
        case "item":
            return np.swapaxes(values, -1, -2)
        case "system":
            return values
        case "none":
            return values.reshape(*values.shape[:-2], 1, -1)
    raise DataError(f"scores are grouped by item, by system or by none, not by {by!r}.")


def means(values: Array) -> Array:
    """The mean over the last axis without what is unknown; `nan` where nothing is known."""
    known = ~np.isnan(values)
    count = known.sum(axis=-1)
    total = np.where(known, values, 0.0).sum(axis=-1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
