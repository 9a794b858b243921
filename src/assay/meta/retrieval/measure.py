"""What a measure of retrieval is: a value per query, from what was found and what is true."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.meta.retrieval.collection import Judgements
from assay.meta.retrieval.search import Run
from assay.metrics.base import Array
from assay.settings import Settings

__all__ = ["Measure", "Truth", "relevant"]


@dataclass(frozen=True, eq=False)
class Truth:
    """What should be found: judgements, and the rankings on the human translation.

    Every query in `judgements` has a relevant document. `rankings` is empty where there is no
    human translation; none of them is. `documents` are the ids of all that can be found.
    """

    judgements: Judgements
    rankings: Run
    documents: frozenset[str]


@dataclass(frozen=True)
class Measure(Settings, ABC):
    """How good a run is as one number, more is better; a value with settings, like a metric."""

    needs_human: ClassVar[bool] = False
    """Whether it compares with the ranking on the human translation."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The name people print: MAP, nDCG@10."""

    @property
    def remark(self) -> str:
        """What a reader has to know about it; empty where the name says it all."""
        return ""

    @abstractmethod
    def each(self, run: Run, truth: Truth) -> Array:
        """The value of every query that the truth speaks of, (queries,)."""

    def value(self, run: Run, truth: Truth) -> float:
        """The mean over queries; `nan` where there is none."""
        each = self.each(run, truth)
        return float(np.mean(each)) if len(each) else math.nan

    def queries(self, truth: Truth) -> int:
        """How many queries the mean is over."""
        return len(truth.rankings if self.needs_human else truth.judgements)


def relevant(judged: Mapping[str, int]) -> set[str]:
    """The documents that are relevant at all."""
    return {document for document, relevance in judged.items() if relevance > 0}
