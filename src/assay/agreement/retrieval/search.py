"""BM25 over a collection, by `bm25s`: the same documents in the same order, always."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from assay.agreement.retrieval.collection import Collection, Queries
from assay.data import DataError
from assay.extras import require
from assay.settings import Settings, setting
from assay.statistics.arrays import Array

__all__ = ["BM25", "Ranking", "Run", "words"]


_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")


class Ranking(NamedTuple):
    """The documents found for a query, the best first, and their scores."""

    documents: tuple[str, ...]
    scores: Array


Run: TypeAlias = Mapping[str, Ranking]
"""What was found for every query."""


@dataclass(frozen=True)
class BM25(Settings):
    """BM25 as in Lucene: `k1` tames repeated words, `b` long documents.

    Of each query the best `depth` documents are kept, never one without a word of the query. No
    stemming and no stop words. Of equal scores, the document with the greater id stands first, as
    in trec_eval.
    """

    name: ClassVar[str] = "bm25"

    k1: float = setting(1.5, key="k1")
    b: float = setting(0.75, key="b")
    depth: int = setting(1000, key="depth")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k1 < 0 or not 0 <= self.b <= 1 or self.depth < 1:
            raise DataError(f"{self}: k1 is at least 0, b from 0 to 1, depth at least 1.")

    def search(self, collection: Collection, queries: Queries) -> dict[str, Ranking]:
        """The documents that each query finds, in order."""
        index = self._index(collection)
        # The greatest id first; sorting by score is stable and keeps it so.
        names = np.array(list(collection), object)
        by_id = np.array(sorted(range(len(names)), key=names.__getitem__, reverse=True))
        return {
            query: _ranking(_scores(index, text)[by_id], names[by_id], self.depth)
            for query, text in queries.items()
        }

    def _index(self, collection: Collection) -> Any:
        texts = [words(text) for text in collection.values()]
        if not any(texts):
            raise DataError("the documents have no words at all: there is nothing to search.")
        index = require("ir", "bm25s").BM25(k1=self.k1, b=self.b, method="lucene", dtype="float64")
        index.index(texts, show_progress=False)
        return index


def words(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation; Han and kana one by one.

    >>> words("It's 日本, U.N.!")
    ['it', 's', '日', '本', 'u', 'n']
    """
    return _WORD.findall(text.lower())


def _scores(index: Any, query: str) -> Array:
    """The score of every document; 0 where it has no word of the query."""
    known = [word for word in words(query) if word in index.vocab_dict]
    if not known:
        return np.zeros(index.scores["num_docs"])
    scores: Array = index.get_scores(known)
    return scores


def _ranking(scores: Array, names: Any, depth: int) -> Ranking:
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > 0][:depth]
    return Ranking(tuple(names[order]), scores[order])
