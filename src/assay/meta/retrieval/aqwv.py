"""Actual query weighted value: NIST's measure of what a searcher misses and wades through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.data import DataError
from assay.meta.retrieval.measure import Measure, Truth, relevant
from assay.meta.retrieval.search import Ranking, Run
from assay.metrics.base import Array
from assay.settings import setting

__all__ = ["AQWV"]


@dataclass(frozen=True)
class AQWV(Measure):
    """1 - P_miss - beta * P_fa, averaged over the queries that have relevant documents.

    P_miss is the share of relevant documents that are not returned, P_fa the share of all others
    that are. Returned are the best `returned` documents, or with a `threshold` all whose BM25
    score reaches it. 1 is perfect, 0 is what returning nothing gets, and there is no least value.
    """

    name: ClassVar[str] = "aqwv"

    beta: float = setting(40.0)
    returned: int = setting(10)
    threshold: float | None = setting(None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.beta < 0 or self.returned < 1:
            raise DataError(f"{self}: beta is at least 0, returned at least 1.")

    @property
    def title(self) -> str:
        """AQWV."""
        return "AQWV"

    @property
    def remark(self) -> str:
        """What counts as returned, and what a false alarm costs."""
        if self.threshold is None:
            returned = f"the first {self.returned} documents"
        else:
            returned = f"documents with a score of at least {self.threshold:g}"
        return f"AQWV: {returned} are returned, beta = {self.beta:g}."

    def each(self, run: Run, truth: Truth) -> Array:
        """The value of every query."""
        return np.array(
            [self._value(run[query], judged, truth) for query, judged in truth.judgements.items()]
        )

    def _value(self, ranking: Ranking, judged: Mapping[str, int], truth: Truth) -> float:
        wanted, returned = relevant(judged), self._decide(ranking)
        others = len(truth.documents - wanted)
        missed = len(wanted - returned) / len(wanted)
        alarms = len(returned - wanted) / others if others else 0.0
        return 1 - missed - self.beta * alarms

    def _decide(self, ranking: Ranking) -> set[str]:
        """The documents that are handed to the searcher."""
        if self.threshold is None:
            return set(ranking.documents[: self.returned])
        return set(ranking.documents[: int((ranking.scores >= self.threshold).sum())])
