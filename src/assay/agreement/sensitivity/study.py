"""The texts that a test set falls into, and what people and metrics say of each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.agreement.panel import (
    Candidate,
    Humans,
    HumanScores,
    human_at,
    lower_is_better,
    signatures,
)
from assay.data import (
    Array,
    DataError,
    Dataset,
    MissingInput,
    Scores,
    divide,
    human_outputs,
    without_humans,
)
from assay.metrics.base import Metric, Statistics, labels, system_statistics
from assay.metrics.mean import Mean
from assay.progress import Track, untracked
from assay.statistics.correlation import Mask

__all__ = [
    "Study",
    "TextRatings",
    "Texts",
    "candidate_of",
    "corpus_scores",
    "deviations",
    "documents_of",
    "imported",
    "ratings_of",
    "sections_of",
    "studies",
    "text_scores",
]

BLOCK = 2**22
"""Texts are worked off in blocks of so many numbers, so memory stays bounded."""


@dataclass(frozen=True, eq=False)
class Study:
    """What is compared: `candidates` have (systems, texts) scores, as people have.

    A text's score is that of the segments that people rated: both look at the same words.
    `signatures` say how the metrics were computed, and stand below every table.
    """

    systems: tuple[str, ...]
    texts: Texts
    human: TextRatings
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        systems: Sequence[str],
        texts: Texts,
        human: TextRatings,
        statistics: Sequence[Sequence[Statistics]],
        *,
        lower: Sequence[str] = (),
        notes: Sequence[str] = (),
        signatures: Sequence[str] = (),
    ) -> Study:
        """From the statistics of every metric and system; `lower` names those to turn round."""
        titles = labels([own[0].metric for own in statistics])
        if twice := next((title for title in titles if titles.count(title) > 1), None):
            raise DataError(f"two metrics are called {twice!r}; rename a file of scores.")
        candidates = tuple(
            candidate_of(own, title, texts, human, lower=lower)
            for own, title in zip(statistics, titles, strict=True)
        )
        told = (*human.notes, *notes)
        return cls(tuple(systems), texts, human, candidates, told, tuple(signatures))


def studies(
    dataset: Dataset,
    metrics: Sequence[Metric],
    *,
    human: Sequence[Scores],
    section: int | None = None,
    scores: Sequence[Scores] = (),
    lower: Sequence[str] = (),
    humans: Humans = "out",
    track: Track = untracked,
) -> list[Study]:
    """One study per kind of human score; every metric is computed once for all of them.

    Texts are documents, or sections of so many segments. `scores` are metrics that were computed
    elsewhere; `lower` names those, and the human scores, of which less is better.
    """
    machines = without_humans(dataset) if humans == "out" else dataset
    systems = list(machines.systems)
    texts = sections_of(machines, section) if section else documents_of(machines)
    turned = [_turned(own, lower).select(systems) for own in human]
    ratings = ratings_of(turned, texts)
    steps = (system_statistics(machines, metric) for metric in metrics)
    statistics = list(track(steps, total=len(metrics)))
    statistics += [imported(own.select(systems)) for own in scores]
    return [
        Study.of(
            systems,
            texts,
            own,
            statistics,
            lower=lower,
            notes=_system_notes(dataset, machines, human),
            signatures=signatures(machines, metrics),
        )
        for own in ratings
    ]


def _turned(scores: Scores, lower: Sequence[str]) -> Scores:
    return replace(scores, values=-scores.values) if scores.name in lower else scores


def _system_notes(dataset: Dataset, machines: Dataset, human: Sequence[Scores]) -> list[str]:
    """Who is not compared, and who is not a machine."""
    left_out = [name for name in dataset.systems if name not in machines.systems]
    unmatched = dict.fromkeys(name for scores in human for name in scores.unmatched)
    within = human_outputs(machines)
    return [
        *([f"left out (human translations): {', '.join(left_out)}."] if left_out else []),
        *([f"left out (rated, but no output here): {', '.join(unmatched)}."] if unmatched else []),
        *([f"human translations: {', '.join(within)}."] if within else []),
    ]


def imported(scores: Scores) -> list[Statistics]:
    """The statistics of each system from segment scores of another metric."""
    if scores.granularity != "segment":
        raise DataError(
            f"{scores.source or scores.name}: scores of segments are needed here, not of "
            f"{scores.granularity}s."
        )
    return [Mean(scores.name).of(values) for values in scores.values]


def candidate_of(
    statistics: Sequence[Statistics],
    title: str,
    texts: Texts,
    human: TextRatings,
    *,
    lower: Sequence[str] = (),
) -> Candidate:
    """A metric's score of what people rated of each text; `nan` where that is nothing."""
    read = texts.totals(human.rated.astype(float)) > 0
    scores = np.where(read, _by_text(statistics, texts, human.rated), np.nan)
    metric = statistics[0].metric
    turned = not metric.higher_is_better or _counts_errors(metric, statistics, lower)
    name = title if isinstance(metric, Mean) else metric.requested
    return Candidate(name, title, scores, turned, tuple(statistics))


def text_scores(candidate: Candidate, texts: Texts) -> Array:
    """The scores of whole texts, rated or not, (systems, texts)."""
    everything = np.ones((len(candidate.statistics), 1))
    return _by_text(candidate.statistics, texts, everything)


def corpus_scores(candidate: Candidate, texts: Texts, weights: Array) -> Array:
    """The systems' scores with texts weighted by (b, texts), more is better: (b, systems).

    All segments count, rated or not: systems are compared on the same words.
    """
    step = max(1, BLOCK // max(1, len(texts.labels)))
    blocks = [weights[start : start + step] for start in range(0, len(weights), step)]
    scores = np.concatenate(
        [
            np.array([own.score(texts.of_segments(block)) for own in candidate.statistics]).T
            for block in blocks
        ]
    )
    return -scores if candidate.lower else scores


def _by_text(statistics: Sequence[Statistics], texts: Texts, rated: NDArray[Any]) -> Array:
    """The scores of what counts in each text, (systems, texts)."""
    blocks = [
        [own.score(block * row) for own, row in zip(statistics, rated, strict=True)]
        for block in texts.memberships()
    ]
    return np.concatenate([np.array(block) for block in blocks], axis=1)


def _counts_errors(metric: Metric, statistics: Sequence[Statistics], lower: Sequence[str]) -> bool:
    if not isinstance(metric, Mean):
        return False
    totals = np.array([own.rows[:, 0] for own in statistics])
    return metric.label in lower or lower_is_better(metric.label, totals)


@dataclass(frozen=True, eq=False)
class Texts:
    """Each segment's text, by label; `words` counts those of each text.

    `kind` is what such a text is called: document, or section.
    """

    kind: str
    labels: tuple[str, ...]
    words: Array

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The texts, in order of first appearance."""
        return tuple(dict.fromkeys(self.labels))

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """The number of each segment's text."""
        numbers = {name: number for number, name in enumerate(self.names)}
        return np.array([numbers[label] for label in self.labels], np.intp)

    def memberships(self) -> Iterator[Array]:
        """Blocks (b, segments): 1 where a segment belongs to a text, one text after the other."""
        step = max(1, BLOCK // max(1, len(self.labels)))
        for start in range(0, len(self), step):
            numbers = np.arange(start, min(start + step, len(self)))
            yield np.asarray(numbers[:, None] == self.places, float)

    def totals(self, values: Array) -> Array:
        """The sums over each text's segments: (n, segments) to (n, texts)."""
        sums = [np.bincount(self.places, row, minlength=len(self)) for row in values]
        return np.array(sums, float).reshape(-1, len(self))

    def of_segments(self, weights: Array) -> Array:
        """The weights of segments, (b, segments), where (b, texts) are those of their texts."""
        return np.asarray(weights[:, self.places], float)


def documents_of(dataset: Dataset) -> Texts:
    """The documents of a test set."""
    if not dataset.documents:
        raise MissingInput(
            "documents",
            "sensitivity compares scores from text to text: take sections of N segments (section), "
            "or documents",
        )
    return _texts("document", dataset.documents, dataset)


def sections_of(dataset: Dataset, size: int) -> Texts:
    """Sections of so many segments in a row; what is left at the end joins the last one.

    Where documents end makes no difference to them.
    """
    count = max(1, len(dataset) // size)
    labels = [str(min(place // size, count - 1) + 1) for place in range(len(dataset))]
    return _texts("section", labels, dataset)


def _texts(kind: str, labels: Sequence[str], dataset: Dataset) -> Texts:
    lengths = np.array([[len(line.split()) for line in _lines(dataset)]], float)
    texts = Texts(kind, tuple(labels), np.zeros(0))
    return replace(texts, words=texts.totals(lengths)[0])


def _lines(dataset: Dataset) -> list[str]:
    """What words are counted in: the first reference, the source, or the first output."""
    if all(dataset.references):
        return [references[0] for references in dataset.references]
    return list(dataset.sources or next(iter(dataset.systems.values())))


@dataclass(frozen=True, eq=False)
class TextRatings:
    """One kind of human score of the systems' texts.

    `scores` are (systems, texts) means of the rated segments, `nan` where none is; `counts` says
    how many those are, and `rated` which, (systems, segments). `quality` is the average of each
    system, from a file of its own where `given`, and then the same whatever texts are drawn.
    """

    name: str
    scores: Array
    counts: Array
    rated: Mask
    quality: Array
    given: bool = False
    notes: tuple[str, ...] = ()

    def quality_on(self, weights: Array) -> Array:
        """The quality of the systems where texts count so often: (b, texts) to (b, systems)."""
        if self.given:
            return np.broadcast_to(self.quality, (len(weights), len(self.quality)))
        return _average(weights, self.scores, self.counts)

    @property
    def spread(self) -> Array:
        """The standard deviation of each system's texts; `nan` for fewer than two."""
        return deviations(self.scores)


def ratings_of(human: Sequence[Scores], texts: Texts) -> list[TextRatings]:
    """Every kind of human score that tells texts apart."""
    wanted = ("segment", "document") if texts.kind == "document" else ("segment",)
    fitting = [scores for scores in human if scores.granularity in wanted]
    if not fitting:
        raise DataError(_too_coarse(human, texts))
    given = {scores.name: scores for scores in human if scores.granularity == "system"}
    return [
        _ratings(own, texts, given.get(own.scores.name))
        for own in human_at(fitting, "document", texts.labels)
    ]


def _too_coarse(human: Sequence[Scores], texts: Texts) -> str:
    known = ", ".join(f"{own.source or own.name} has scores of {own.granularity}s" for own in human)
    wanted = "segments (a column line) or documents (doc_id)"
    if texts.kind == "section":
        wanted = "segments (a column line), since sections are cut out of documents"
    return f"sensitivity needs human scores of {wanted}, but {known}. Choose other human scores."


def _ratings(human: HumanScores, texts: Texts, given: Scores | None) -> TextRatings:
    scores = human.scores.values
    rated, counts = _rated(human, texts)
    notes = [f"human scores: {human.source}."]
    if given is not None:
        notes.append(f"quality: {given.source}.")
        quality = given.values[:, 0]
    else:
        quality = _average(np.ones((1, len(texts))), scores, counts)[0]
    return TextRatings(
        name=human.scores.name,
        scores=scores,
        counts=counts,
        rated=rated,
        quality=quality,
        given=given is not None,
        notes=tuple(notes),
    )


def _rated(human: HumanScores, texts: Texts) -> tuple[Mask, Array]:
    """Which segments people rated, and how many in each text; where only texts are, all of them."""
    known = ~np.isnan(human.scores.values)
    if human.ratings is None:
        return known[:, texts.places], known.astype(float)
    rated = ~np.isnan(human.ratings)
    counts = texts.totals(rated.astype(float))
    if human.read.granularity == "document":
        # A document with a score, but without rated segments, was read as a whole.
        whole = known & (counts == 0)
        rated, counts = rated | whole[:, texts.places], np.where(whole, 1.0, counts)
    return rated, counts


def _average(weights: Array, scores: Array, counts: Array) -> Array:
    """The mean over rated segments, (b, systems), with texts weighted by (b, texts)."""
    known = ~np.isnan(scores)
    counted = np.where(known, counts, 0.0)
    total = weights @ (counted * np.where(known, scores, 0.0)).T
    count = weights @ counted.T
    return np.where(count > 0, divide(total, count), np.nan)


def deviations(scores: Array) -> Array:
    """The standard deviation along the last axis of what is known; `nan` for fewer than two."""
    known = ~np.isnan(scores)
    count = known.sum(axis=-1)
    mean = divide(np.where(known, scores, 0.0).sum(axis=-1), count)
    squares = np.where(known, (scores - mean[..., None]) ** 2, 0.0).sum(axis=-1)
    return np.where(count > 1, np.sqrt(divide(squares, count - 1)), np.nan)
