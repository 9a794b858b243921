"""Scores that somebody else produced: people, or another metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError

__all__ = ["Level", "Scores"]

Level = Literal["system", "segment", "document"]


@dataclass(frozen=True, eq=False)
class Scores:
    """One scorer's values: systems x items, where the items are segments, documents or the whole.

    `values` has shape (systems, items); `nan` is unknown. At system level there is one item, "".
    At segment level the items are "1", "2", ...; at document level the document ids. Scores are
    equal if all of this is, unknown values in the same places.
    """

    name: str
    level: Level
    systems: tuple[str, ...]
    items: tuple[str, ...]
    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        shape = (len(self.systems), len(self.items))
        if self.values.shape != shape:
            raise DataError(
                f"scores of {self.name!r}: shape {self.values.shape}, expected {shape}."
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scores):
            return NotImplemented
        same = np.array_equal(self.values, other.values, equal_nan=True)
        return same and self._labels == other._labels

    def __hash__(self) -> int:
        return hash(self._labels)

    @property
    def _labels(self) -> tuple[object, ...]:
        return self.name, self.level, self.systems, self.items

    def of(self, system: str) -> NDArray[np.float64]:
        """One system's values over the items."""
        values: NDArray[np.float64] = self.values[self.systems.index(system)]
        return values
