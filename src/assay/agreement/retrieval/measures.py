"""Measures of retrieval: a value per query, from what was found and what is relevant."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.agreement.retrieval.collection import Judgements, Ranking, Run
from assay.data import Array, DataError
from assay.extras import require
from assay.registry import Registry, Settings, setting

__all__ = [
    "AQWV",
    "MAP",
    "MEASURES",
    "MRR",
    "NDCG",
    "RBO",
    "Measure",
    "Precision",
    "Recall",
    "Truth",
    "rbo",
    "relevant_documents",
]


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
        values = self.each(run, truth)
        return float(np.mean(values)) if len(values) else math.nan

    def queries(self, truth: Truth) -> int:
        """How many queries the mean is over."""
        return len(truth.rankings if self.needs_human else truth.judgements)


def relevant_documents(judged: Mapping[str, int]) -> set[str]:
    """The documents that are relevant at all."""
    return {document for document, relevance in judged.items() if relevance > 0}


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
        wanted, returned = relevant_documents(judged), self._decide(ranking)
        others = len(truth.documents - wanted)
        missed = len(wanted - returned) / len(wanted)
        alarms = len(returned - wanted) / others if others else 0.0
        return 1 - missed - self.beta * alarms

    def _decide(self, ranking: Ranking) -> set[str]:
        """The documents that are handed to the searcher."""
        if self.threshold is None:
            return set(ranking.documents[: self.returned])
        return set(ranking.documents[: int((ranking.scores >= self.threshold).sum())])


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
    shared = [max(at, places[document]) for at, document in enumerate(one) if document in places]
    return np.cumsum(np.bincount(np.array(shared, int), minlength=depth)).astype(float)


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
        ir_measures = require("ir", "ir_measures")
        # Not by name: its parser of names uses what Python 3.14 has no longer.
        measure = getattr(ir_measures, self.official)
        if self.k is not None:
            measure = measure @ self.k
        # trec_eval knows no negative relevance.
        judged = {
            query: {document: max(0, grade) for document, grade in grades.items()}
            for query, grades in truth.judgements.items()
        }
        scored = ir_measures.iter_calc([measure], judged, _as_scores(run))
        values = {query.query_id: query.value for query in scored}
        return np.array([values.get(query, 0.0) for query in truth.judgements], float)

    @property
    def _cut(self) -> str:
        return "" if self.k is None else f"@{self.k}"


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


MEASURES: Registry[Measure] = Registry(
    "measure",
    "assay.measures",
    {
        "map": "assay.agreement.retrieval.measures:MAP",
        "ndcg": "assay.agreement.retrieval.measures:NDCG",
        "mrr": "assay.agreement.retrieval.measures:MRR",
        "p": "assay.agreement.retrieval.measures:Precision",
        "r": "assay.agreement.retrieval.measures:Recall",
        "aqwv": "assay.agreement.retrieval.measures:AQWV",
        "rbo": "assay.agreement.retrieval.measures:RBO",
    },
    base=Measure,
    aliases=((r"(.+?)@(.*)", r"\1:k=\2"),),
)
"""All measures: `MEASURES.parse("rbo:p=0.9")`; `ndcg@10` is `ndcg:k=10`."""
