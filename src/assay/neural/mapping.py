"""A mapping between languages: it takes the vectors of one into the space of the other."""

from __future__ import annotations

import hashlib
import io
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from assay.data import DataError
from assay.metrics.base import Array

__all__ = ["Mapping", "read_mapping"]


class Mapping(NamedTuple):
    """A matrix (width, width) that vectors are multiplied by, or a direction (width,) to take out.

    Zhao et al. (2020) call the first CLP, cross-lingual projection, and the second UMD, universal
    language mismatch direction. `sha256` is that of the file.
    """

    path: str
    values: Array
    sha256: str

    def apply(self, states: Any) -> Array:
        """The vectors (n, width) in the other space."""
        width = states.shape[1]
        if width != len(self.values):
            raise DataError(
                f"{self.path}: the mapping is for vectors of {len(self.values)} numbers, but the "
                f"model's have {width}. Take the model and layer that it was learned for."
            )
        if self.values.ndim == 2:
            return np.asarray(states @ self.values, float)
        along = states @ self.values
        return np.asarray(states - along[:, None] * self.values, float)


def read_mapping(path: str) -> Mapping:
    """The mapping in a .npy file: a square matrix, or a direction."""
    try:
        changed = Path(path).stat().st_mtime_ns
    except OSError as error:
        raise DataError(f"{path}: the mapping cannot be read ({error.strerror}).") from None
    return _read(path, changed)


@lru_cache(maxsize=4)
def _read(path: str, changed: int) -> Mapping:
    try:
        data = Path(path).read_bytes()
        values = np.load(io.BytesIO(data), allow_pickle=False)
        numbers = np.asarray(values, float)
    except OSError as error:
        raise DataError(f"{path}: the mapping cannot be read ({error.strerror}).") from None
    except (ValueError, EOFError, TypeError, AttributeError):
        raise DataError(
            f"{path}: not a .npy file of numbers. From a text file: "
            "numpy.save('mapping.npy', numpy.loadtxt(FILE))"
        ) from None
    # The published directions are the first of several, each a row.
    if numbers.ndim == 2 and numbers.shape[0] != numbers.shape[1]:
        numbers = numbers[0]
    if numbers.ndim not in (1, 2) or not numbers.size or not np.isfinite(numbers).all():
        raise DataError(f"{path}: a mapping is a square matrix or a direction, of finite numbers.")
    return Mapping(path, numbers, hashlib.sha256(data).hexdigest())
