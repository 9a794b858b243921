"""What was found in each translation, and how far a metric foretells it."""

from __future__ import annotations

from dataclasses import dataclass

from assay.meta.agreement import Agreement
from assay.meta.retrieval.measure import Measure, Truth
from assay.meta.retrieval.search import BM25

__all__ = ["Correlation", "Found", "Setup"]


@dataclass(frozen=True, eq=False)
class Setup:
    """How retrieval was measured; `notes` say in words where the truth comes from."""

    bm25: BM25
    measures: tuple[Measure, ...]
    truth: Truth
    notes: tuple[str, ...] = ()
    alpha: float = 0.05


@dataclass(frozen=True)
class Found:
    """The value of every measure for one translation of the collection."""

    system: str
    human: bool
    values: tuple[float, ...]


@dataclass(frozen=True)
class Correlation:
    """The agreement of one metric with one measure over the machines."""

    metric: str
    measure: Measure
    coefficient: str
    agreement: Agreement
