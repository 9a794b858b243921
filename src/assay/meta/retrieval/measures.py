"""Measures by name: `measure_named("ndcg@10")`; those of trec_eval come from `ir-measures`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.data import DataError
from assay.meta.retrieval.aqwv import AQWV
from assay.meta.retrieval.extra import load
from assay.meta.retrieval.measure import Measure, Truth
from assay.meta.retrieval.rbo import RBO
from assay.meta.retrieval.search import Run
from assay.metrics.base import Array
from assay.settings import nearest, setting

__all__ = ["MAP", "MRR", "NDCG", "Precision", "Recall", "measure_named", "measures_named"]


@dataclass(frozen=True)
class _Ranked(Measure):
    """A measure that `ir-measures` computes, on the first `k` documents."""

    official: ClassVar[str]
    shown: ClassVar[str]
    needs_rank: ClassVar[bool] = False

    k: int | None = setting(None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k is not None and self.k < 1:
            raise DataError(f"{self}: k is at least 1.")
        if self.k is None and self.needs_rank:
            raise DataError(f"{self.shown} needs a rank, as in {self.name}@10.")

    @property
    def title(self) -> str:
        """The name, with its cut."""
        return f"{self.shown}{self._cut}"

    def each(self, run: Run, truth: Truth) -> Array:
        """The value of every judged query, 0 where nothing was found."""
        ir_measures = load("ir_measures")
        # Not by name: its parser of names uses what Python 3.14 has no longer.
        measure = getattr(ir_measures, self.official)
        if self.k is not None:
            measure = measure @ self.k
        # trec_eval knows no negative relevance.
        judged = {
            query: {document: max(0, grade) for document, grade in grades.items()}
            for query, grades in truth.judgements.items()
        }
        found = ir_measures.iter_calc([measure], judged, _as_scores(run))
        values = {each.query_id: each.value for each in found}
        return np.array([values.get(query, 0.0) for query in truth.judgements], float)

    @property
    def _cut(self) -> str:
        return "" if self.k is None else f"@{self.k}"


@dataclass(frozen=True)
class MAP(_Ranked):
    """Mean average precision: the mean precision at the ranks of the relevant documents."""

    name: ClassVar[str] = "map"
    official: ClassVar[str] = "AP"
    shown: ClassVar[str] = "MAP"


@dataclass(frozen=True)
class NDCG(_Ranked):
    """Discounted gain by rank, of the best that could be; the one measure that knows grades."""

    name: ClassVar[str] = "ndcg"
    official: ClassVar[str] = "nDCG"
    shown: ClassVar[str] = "nDCG"


@dataclass(frozen=True)
class MRR(_Ranked):
    """One over the rank of the first relevant document."""

    name: ClassVar[str] = "mrr"
    official: ClassVar[str] = "RR"
    shown: ClassVar[str] = "MRR"


@dataclass(frozen=True)
class Precision(_Ranked):
    """The share of the first k documents that is relevant."""

    name: ClassVar[str] = "p"
    official: ClassVar[str] = "P"
    shown: ClassVar[str] = "P"
    needs_rank: ClassVar[bool] = True


@dataclass(frozen=True)
class Recall(_Ranked):
    """The share of the relevant documents that is among the first k."""

    name: ClassVar[str] = "r"
    official: ClassVar[str] = "R"
    shown: ClassVar[str] = "R"
    needs_rank: ClassVar[bool] = True


_KNOWN: dict[str, type[Measure]] = {
    kind.name: kind for kind in (MAP, NDCG, MRR, Precision, Recall, AQWV, RBO)
}


def measure_named(text: str) -> Measure:
    """The measure of a name, with settings after a colon; `ndcg@10` is `ndcg:k=10`.

    >>> measure_named("ndcg@10")
    NDCG(k=10)
    >>> str(measure_named("rbo:p=0.9"))
    'rbo:p=0.9'
    """
    name, _, rest = re.sub("@", ":k=", text, count=1).partition(":")
    if name.lower() not in _KNOWN:
        raise DataError(
            f"unknown measure {name!r}{nearest(name, _KNOWN)}. Measures: {', '.join(_KNOWN)}."
        )
    pairs = [part.split("=", 1) for part in rest.split(",") if part]
    if any(len(pair) != 2 for pair in pairs):
        raise DataError(f"measure {text!r}: settings are key=value, as in rbo:p=0.9.")
    return _KNOWN[name.lower()].from_options([(key, value) for key, value in pairs])


def measures_named(texts: Sequence[str]) -> list[Measure]:
    """The measures of these names, each of them once."""
    measures = [measure_named(text) for text in texts]
    if twice := next((each for each in measures if measures.count(each) > 1), None):
        raise DataError(f"measure {twice} is given twice; leave one out.")
    return measures


def _as_scores(run: Run) -> dict[str, dict[str, float]]:
    """The rankings as scores without ties, so that trec_eval keeps their order."""
    return {
        query: {
            document: float(len(ranking.documents) - at)
            for at, document in enumerate(ranking.documents)
        }
        for query, ranking in run.items()
        if ranking.documents
    }
