"""Rank-biased overlap (Webber et al., 2010): how alike two rankings are, the top above all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.data import DataError
from assay.meta.retrieval.measure import Measure, Truth
from assay.meta.retrieval.search import Run
from assay.metrics.base import Array
from assay.settings import setting

__all__ = ["RBO", "rbo"]


@dataclass(frozen=True)
class RBO(Measure):
    """Rank-biased overlap with the ranking on the human translation; at `p` near 1 it is patient.

    With p = 0.98 the first 50 documents carry about 85% of the weight.
    """

    name: ClassVar[str] = "rbo"
    needs_human: ClassVar[bool] = True

    p: float = setting(0.98)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.p < 1:
            raise DataError(f"{self}: p lies between 0 and 1.")

    @property
    def title(self) -> str:
        """RBO."""
        return "RBO"

    @property
    def remark(self) -> str:
        """How far down it looks."""
        return f"RBO: against the whole ranking on the human translation, p = {self.p:g}."

    def each(self, run: Run, truth: Truth) -> Array:
        """The overlap of every query's two rankings."""
        return np.array(
            [rbo(run[query].documents, told.documents, self.p)
             for query, told in truth.rankings.items()]
        )  # fmt: skip


def rbo(one: Sequence[str], other: Sequence[str], p: float) -> float:
    """Extrapolated rank-biased overlap (Webber et al., Equation 32) of rankings of any lengths.

    1 for the same ranking, 0 for nothing in common; `nan` where both are empty.

    >>> round(rbo("ab", "ba", 0.5), 3)
    0.5
    """
    short, long = sorted((len(one), len(other)))
    if not short:
        return math.nan if not long else 0.0
    common = _overlaps(one, other, long)
    depth, weight = np.arange(1, long + 1), p ** np.arange(1, long + 1)
    # What the shorter ranking would share at greater depths, if it went on as it began.
    expected = common[short - 1] * np.maximum(depth - short, 0) / short
    seen = (1 - p) / p * float(((common + expected) / depth * weight).sum())
    tail = (common[-1] - common[short - 1]) / long + common[short - 1] / short
    return seen + float(tail) * p**long


def _overlaps(one: Sequence[str], other: Sequence[str], depth: int) -> Array:
    """How many documents the first d of both have in common, for d = 1, 2, ... `depth`."""
    places = {document: at for at, document in enumerate(other)}
    shared = [max(at, places[each]) for at, each in enumerate(one) if each in places]
    return np.cumsum(np.bincount(np.array(shared, int), minlength=depth)).astype(float)
