"""What a metric is: rows of sums per segment, and an aggregate of their weighted sum."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError, Dataset, Segment, reference_tuples
from assay.languages import Side
from assay.settings import Settings
from assay.statistics.arrays import Array

__all__ = [
    "LONGEST_NGRAM",
    "Metric",
    "MetricRequest",
    "Rows",
    "Score",
    "Statistics",
    "labels",
    "reference_count",
    "system_statistics",
]

Rows: TypeAlias = Any
"""(n, k) sums per segment: an array, or a SciPy csr_array."""

LONGEST_NGRAM = 100
"""No metric counts n-grams of a higher order: rows would grow beyond all use."""

BLOCK = 2**22
"""Sums are worked off in blocks of at most so many numbers, so memory stays bounded."""


PRIVATE = 0xE000
"""Where Unicode's private characters begin."""


@dataclass(frozen=True)
class Score:
    """A figure and what it takes to reproduce it, as sacreBLEU users expect it."""

    name: str
    score: float
    signature: str

    def format(self, width: int = 2) -> str:
        """`BLEU|nrefs:1|... = 31.18`."""
        return f"{self.name}|{self.signature} = {self.score:.{width}f}"

    def __str__(self) -> str:
        return self.format()


class MetricRequest(NamedTuple):
    """How somebody asked for a metric: in these words, which say these of its settings.

    `claims` is what a whole signature says besides, such as the hash of a model.
    """

    text: str
    settings: frozenset[str]
    claims: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Metric(Settings, ABC):
    """Settings only; `str(metric)` names them and `registry.parse` reads them back.

    `request` is no setting: metrics are equal however they were asked for.
    """

    higher_is_better: ClassVar[bool] = True
    needs_references: ClassVar[bool] = True
    scale: ClassVar[str] = "0-100"
    ignores_blanks: ClassVar[bool] = False  # tokenized or not, a text has the same score
    interval_method: ClassVar[Literal["bca", "jackknife"]] = "bca"

    request: MetricRequest | None = field(default=None, kw_only=True, compare=False, repr=False)

    @property
    def requested(self) -> str:
        """The words in which it was asked for; its settings where nobody wrote them."""
        return self.request.text if self.request else str(self)

    @classmethod
    def claims(cls) -> dict[str, str]:
        """What its signature says besides settings, each with what to do instead; {}: its value."""
        run = "it tells of one run"
        return {
            "nrefs": "give as many references as there should be",
            "version": "install that version of the package",
            "test": "choose the test set {}",
            "lang": 'pass languages="{}"',
            "seed": "pass seed={}",
            **dict.fromkeys(("subset", "origlang", "bs", "ar"), run),
        }

    def for_segments(self) -> Metric:
        """The metric with which to score single segments, where its settings leave that open."""
        return self

    def segment_remark(self) -> str:
        """What to know about scores of single segments; nothing for most metrics."""
        return ""

    def language_remark(self, languages: tuple[str, str]) -> str:
        """What to know about scores of these languages, source and target; mostly nothing."""
        return ""

    @property
    def is_small(self) -> bool:
        """Whether scores are of the size of 1, so that people need more decimals of them."""
        return self.scale.endswith("1")

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest score there can be."""
        if self.scale != "0-100":
            return -math.inf, math.inf
        return 0.0, 100.0 if self.higher_is_better else math.inf

    @property
    def needs_languages(self) -> tuple[Side, ...]:
        """The sides whose language decides what the settings leave open: a tagger, a model."""
        return ()

    def for_dataset(self, dataset: Dataset) -> Self:
        """The metric as it is for the languages of these texts, by `languages.language_of`.

        A `DataError` where it is not for them, with the way out.
        """
        return self

    @abstractmethod
    def rows(self, segments: Sequence[Segment]) -> Rows:
        """One row of sums per segment, (n, k); pass the segments of all systems at once."""

    def winners(self, segments: Sequence[Segment]) -> NDArray[np.intp] | None:
        """By segment the number of the reference that counts, from 0, if just one of them does."""
        return None

    @abstractmethod
    def aggregate(self, sums: Array) -> Array:
        """Scores of summed rows: (b, k) to (b,)."""

    def oriented(self, scores: Array) -> Array:
        """Scores of which higher is better: where lower is, the sign is turned."""
        return np.asarray(scores if self.higher_is_better else np.negative(scores))

    @property
    def mask_policy(self) -> Literal["word", "length", "type"]:
        """What stands in for a masked word: a word, its length in letters, or another type."""
        return "word"

    def placeholder(self, number: int) -> str:
        """A word that no text has, to mask others with; each number gives another word.

        By default a private character, which passes every tokenizer as letters do.
        """
        return chr(PRIVATE + number)

    def as_in_muler_paper(self) -> Metric:
        """The metric as the paper on MuLER computes it; itself where the paper does not say."""
        return self

    def each(self, rows: Rows) -> Array:
        """The score of every row by itself, (n,)."""
        return self.aggregate(rows)

    def without_each(self, rows: Rows) -> Array:
        """The score of all rows but one, for every one, (n,)."""
        return self.aggregate(rows.sum(axis=0) - rows)

    def weighted(self, weights: Any, rows: Rows) -> Array:
        """Scores of weighted sums of the rows: (b, n) weights, dense or sparse, to (b,)."""
        step = max(1, BLOCK // max(1, rows.shape[1]))
        cuts = (weights[at : at + step] for at in range(0, weights.shape[0], step))
        blocks = [self.aggregate(_dense(block @ rows)) for block in cuts]
        return np.concatenate(blocks) if blocks else np.zeros(0)

    def statistics(self, segments: Sequence[Segment]) -> Statistics:
        """The rows of these segments, ready for every analysis."""
        if self.needs_references:
            _check_references(self, segments)
        return Statistics(self, self.rows(segments))

    @property
    def title(self) -> str:
        """The name people print: BLEU, chrF2++, MacroF1."""
        return self.name.upper()

    def corpus_score(
        self,
        hypotheses: Sequence[str],
        references: Sequence[Sequence[str | None]] | Mapping[str, Sequence[str | None]],
    ) -> Score:
        """Score one system against K reference sets of N lines each, as in sacreBLEU."""
        if isinstance(hypotheses, str):
            raise DataError("corpus_score takes a list of lines; sentence_score takes one string.")
        tuples = reference_tuples(references, len(hypotheses))
        return self._score(list(map(Segment, hypotheses, tuples)))

    def sentence_score(self, hypothesis: str, references: Sequence[str]) -> Score:
        """Score one segment against its references, as in sacreBLEU."""
        if not isinstance(hypothesis, str) or isinstance(references, str):
            raise DataError("sentence_score takes one string and a list of reference strings.")
        return self._score([Segment(hypothesis, tuple(references))])

    def get_signature(self, references: int | str = 1) -> str:
        """Everything it takes to reproduce a score, in sacreBLEU's manner."""
        return self.signature(references)

    def _score(self, segments: list[Segment]) -> Score:
        texts = tuple(each.references for each in segments)
        dataset = Dataset({"": tuple(each.hypothesis for each in segments)}, texts)
        metric = self.for_dataset(dataset)
        score = metric.statistics(segments).corpus()
        return Score(metric.title, score, metric.signature(reference_count(texts)))


@dataclass(frozen=True, eq=False)
class Statistics:
    """A metric's rows for some segments; every analysis is a choice of rows and weights."""

    metric: Metric
    rows: Rows

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def __getitem__(self, index: Any) -> Statistics:
        """The statistics of some of the segments: a slice, a mask or positions."""
        return Statistics(self.metric, self.rows[index])

    def corpus(self) -> float:
        """The score of all segments together."""
        return float(self.metric.aggregate(np.asarray(self.rows.sum(axis=0), float)[None, :])[0])

    def segments(self) -> Array:
        """The score of every segment by itself, (n,)."""
        return self.metric.each(self.rows)

    def score(self, weights: Any) -> Array:
        """Scores of weighted sums of the rows: (b, n) weights, dense or sparse, to (b,)."""
        return self.metric.weighted(weights, self.rows)

    def without_each(self) -> Array:
        """The score of all segments but one, for every one, (n,)."""
        return self.metric.without_each(self.rows)

    def benefit(self) -> Array:
        """How much better the corpus score is for having each segment, (n,).

        Positive is good for every metric: where lower is better the sign is turned.
        """
        return self.metric.oriented(self.corpus() - self.without_each())

    def favoritism(self, other: Statistics) -> Array:
        """How much each segment makes the metric prefer this system to the other, (n,)."""
        return self.benefit() - other.benefit()


def reference_count(references: Iterable[tuple[str, ...]]) -> int | str:
    """The number of references of every segment, or "var" where it varies."""
    counts = set(map(len, references))
    return counts.pop() if len(counts) == 1 else "var"


def _check_references(metric: Metric, segments: Sequence[Segment]) -> None:
    if not all(map(itemgetter(1), segments)):
        number = next(at for at, segment in enumerate(segments, 1) if not segment.references)
        raise DataError(
            f"{metric} compares with references, but segment {number} has none. Name one, or take "
            "a metric that reads the source alone, as xbertscore."
        )


def _dense(sums: Any) -> Array:
    return np.asarray(sums.toarray() if hasattr(sums, "toarray") else sums, float)


def system_statistics(
    dataset: Dataset, metric: Metric, segments: Sequence[Segment] | None = None
) -> list[Statistics]:
    """The statistics of each system, from one call so that all share columns and references.

    The metric is made to fit the languages of the dataset first.
    """
    metric = metric.for_dataset(dataset)
    all_segments = dataset.all_segments() if segments is None else segments
    together = metric.statistics(all_segments)
    length = len(dataset)
    if len(dataset.systems) == 1:
        return [together]
    return [together[at * length : (at + 1) * length] for at in range(len(dataset.systems))]


def labels(metrics: Sequence[Metric]) -> list[str]:
    """The metrics' titles; those that share a title as they were asked for, if that tells."""
    titles = [metric.title for metric in metrics]
    shared = [title for title in titles if titles.count(title) > 1]
    words = [metric.requested for metric in metrics if metric.title in shared]
    tell = len(set(words)) == len(words) and not any("|" in text for text in words)
    return [
        title if title not in shared else metric.requested if tell else str(metric)
        for metric, title in zip(metrics, titles, strict=True)
    ]
