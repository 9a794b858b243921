"""All pairs of candidates and references: scores for decoding and reranking, and the choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.data import Array, DataError, Dataset, check_lines, language_pair
from assay.metrics.base import Metric, select_metrics
from assay.progress import Track, untracked
from assay.results import Column, Direction, Record, Result, Table

__all__ = ["MBRResult", "mbr", "pairwise"]

Texts: TypeAlias = Sequence[str] | Sequence[Sequence[str]]
"""A list of texts for each segment, or one list for a single segment."""

_Lists: TypeAlias = tuple[tuple[str, ...], ...]

BLOCK = 2**19
"""Rows of pairs are worked off in blocks of about so many numbers, so memory stays bounded."""


def pairwise(
    hypotheses: Texts,
    references: Texts | None = None,
    metric: str | Metric = "chrf",
    *,
    sources: Sequence[str] = (),
    languages: str | tuple[str, str] | None = None,
) -> Array:
    """The score of every hypothesis of a segment against every reference, (n, H, R).

    `hypotheses` and `references` hold a list of texts for each segment, or are one list for a
    single segment; without references, hypotheses are compared with each other. Scores are those
    of `sentence_score` (BLEU with effective order). Where segments have fewer texts than others,
    the rest is `nan`.

    >>> pairwise(["the cat", "a dog"], ["the cat", "the dog"]).round(1).tolist()
    [[[100.0, 19.2], [4.5, 31.2]]]
    """
    request = _request(hypotheses, references, metric, sources, languages)
    shape = [max(map(len, lists), default=0) for lists in (request.hypotheses, request.references)]
    scores = np.full((len(request.hypotheses), *shape), np.nan)
    for at, block in enumerate(request.scores()):
        scores[at, : block.shape[0], : block.shape[1]] = block
    return scores


def mbr(
    candidates: Texts,
    references: Texts | None = None,
    metric: str | Metric = "chrf",
    *,
    weights: Sequence[float] | Sequence[Sequence[float]] | None = None,
    sources: Sequence[str] = (),
    languages: str | tuple[str, str] | None = None,
    track: Track = untracked,
) -> MBRResult:
    """Pick the candidate of each segment with the highest expected utility (MBR decoding).

    A candidate's expected utility is its mean score against all references, which are the
    candidates themselves unless others are given (Eikema and Aziz, 2020). `weights`, one for each
    reference, say how likely each is; they need not add up to 1. Of candidates that are as good,
    the first is picked; where lower scores are better, the lowest.

    >>> result = mbr(["the cat sat", "the cat sits", "a dog ran"])
    >>> result.lines, [round(float(utility), 1) for utility in result.utilities[0]]
    (('the cat sits',), [55.2, 56.3, 35.2])
    """
    request = _request(candidates, references, metric, sources, languages)
    shares = _shares(weights, request.references)
    utilities = [
        (scores * share).sum(axis=1)
        for scores, share in zip(track(request.scores(), total=len(shares)), shares, strict=True)
    ]
    return MBRResult(
        metric=request.metric,
        candidates=request.hypotheses,
        references=tuple(map(len, request.references)),
        utilities=tuple(utilities),
    )


@dataclass(frozen=True, eq=False)
class MBRResult(Result):
    """The candidates of each segment, their expected utilities, and which is picked.

    `utilities` has an array for each segment, with a number for each candidate; `references` is
    how many texts they were compared with.
    """

    metric: Metric
    candidates: tuple[tuple[str, ...], ...]
    references: tuple[int, ...]
    utilities: tuple[Array, ...]

    @property
    def chosen(self) -> NDArray[np.intp]:
        """The number of the candidate that is picked for each segment, from 0."""
        best = [int(np.argmax(self.metric.oriented(each))) for each in self.utilities]
        return np.array(best, np.intp)

    @property
    def lines(self) -> tuple[str, ...]:
        """The text that is picked for each segment."""
        return tuple(
            texts[at] for texts, at in zip(self.candidates, self.chosen.tolist(), strict=True)
        )

    def tables(self) -> list[Table]:
        """What is picked for each segment, and how far ahead it is."""
        direction: Direction = "high" if self.metric.higher_is_better else "low"
        utility = Column("expected", finer=self.metric.is_small, direction=direction)
        mean = Column("mean of all", finer=self.metric.is_small)
        columns = ("segment", "picked", "of", utility, mean, "text")
        rows = [
            [record[name] for name in ("segment", "candidate", "candidates", "utility", "mean")]
            + [record["text"]]
            for record in self.records()
        ]
        note = f"Expected utility by {self.metric.for_segments()}."
        return [Table("Minimum Bayes risk", columns, rows, note=note)]

    def records(self) -> list[Record]:
        """One for each segment."""
        return [
            {
                "segment": number,
                "candidate": at + 1,
                "candidates": len(texts),
                "references": against,
                "metric": str(self.metric.for_segments()),
                "utility": float(each[at]),
                "mean": float(each.mean()),
                "text": texts[at],
            }
            for number, (texts, against, each, at) in enumerate(
                zip(
                    self.candidates,
                    self.references,
                    self.utilities,
                    self.chosen.tolist(),
                    strict=True,
                ),
                1,
            )
        ]


@dataclass(frozen=True)
class _Request:
    """Texts that are to be compared, checked, and the metric that is made to fit them."""

    metric: Metric
    hypotheses: _Lists
    references: _Lists
    sources: tuple[str, ...]

    def scores(self) -> Iterator[Array]:
        """The scores of each segment, (H, R)."""
        metric = self.metric.for_segments()
        for block in self._blocks():
            hypotheses, references = self.hypotheses[block], self.references[block]
            rows = metric.pair_rows(hypotheses, references, self.sources[block])
            scores = np.asarray(metric.each(rows), float)
            done = 0
            for ours, theirs in zip(hypotheses, references, strict=True):
                size = len(ours) * len(theirs)
                yield scores[done : done + size].reshape(len(ours), len(theirs))
                done += size

    def _blocks(self) -> Iterator[slice]:
        width, start, pairs = 20, 0, 0
        for at, (ours, theirs) in enumerate(zip(self.hypotheses, self.references, strict=True)):
            pairs += len(ours) * len(theirs)
            if pairs * width >= BLOCK:
                yield slice(start, at + 1)
                start, pairs = at + 1, 0
        if start < len(self.hypotheses):
            yield slice(start, len(self.hypotheses))


def _request(
    hypotheses: Texts,
    references: Texts | None,
    metric: str | Metric,
    sources: Sequence[str],
    languages: str | tuple[str, str] | None,
) -> _Request:
    ours = _lists("hypotheses", hypotheses)
    theirs = ours if references is None else _lists("references", references)
    if len(ours) != len(theirs):
        raise DataError(
            f"hypotheses for {len(ours)} segments, but references for {len(theirs)}: give a list "
            "of texts for each segment in both."
        )
    if isinstance(sources, str) or (sources and len(sources) != len(ours)):
        raise DataError(f"there are {len(ours)} segments: give a source for each, or none at all.")
    check_lines("sources", sources)
    dataset = Dataset(
        {"candidates": tuple(texts[0] for texts in ours)},
        theirs,
        sources=tuple(sources),
        languages=language_pair(languages) if isinstance(languages, str) else languages,
    )
    [chosen] = select_metrics([metric], dataset).metrics
    return _Request(chosen, ours, theirs, tuple(sources))


def _lists(what: str, given: Any) -> _Lists:
    """A tuple of texts for each segment, at least one in each."""
    if isinstance(given, str) or not len(given):
        raise DataError(f"{what} are a list of texts for each segment: pass [[text, ...], ...].")
    if isinstance(given[0], str):
        given = [given]
    for number, texts in enumerate(given, 1):
        if isinstance(texts, str) or not len(texts):
            raise DataError(f"{what}, segment {number}: give a list of at least one text.")
        check_lines(f"{what} of segment {number}", texts)
    return tuple(map(tuple, given))


def _shares(weights: Any, references: _Lists) -> list[Array]:
    """The weight of each reference, which add up to 1 in each segment."""
    if weights is None:
        return [np.full(len(texts), 1 / len(texts)) for texts in references]
    lists = [weights] if len(weights) and np.ndim(weights[0]) == 0 else weights
    if len(lists) != len(references):
        raise DataError(f"weights for {len(lists)} segments, but there are {len(references)}.")
    shares = []
    for number, (given, texts) in enumerate(zip(lists, references, strict=True), 1):
        values = np.asarray(given, float)
        if values.shape != (len(texts),):
            raise DataError(
                f"weights of segment {number}: {values.size}, but {len(texts)} references; give "
                "one for each."
            )
        if not (np.isfinite(values).all() and (values >= 0).all() and values.sum() > 0):
            raise DataError(
                f"weights of segment {number}: give numbers of at least 0, not all of them 0."
            )
        shares.append(values / values.sum())
    return shares
