"""The texts that a test set falls into, and what people say of each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.agreement.coefficients import Coefficient
from assay.agreement.panel import HumanScores, human_at
from assay.data import DataError, Dataset, Scores
from assay.statistics.arrays import Array, divide

__all__ = [
    "Draws",
    "Numbers",
    "People",
    "Texts",
    "across_systems",
    "deviations",
    "documents_of",
    "over_texts",
    "partial",
    "people_of",
    "sections_of",
]

BLOCK = 2**22
"""Texts are worked off in blocks of so many numbers, so memory stays bounded."""


@dataclass(frozen=True, eq=False)
class Texts:
    """Each segment's text, by label; `words` counts those of each text.

    `kind` is what people call such a text: document, or section.
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
        for at in range(0, len(self), step):
            numbers = np.arange(at, min(at + step, len(self)))
            yield np.asarray(numbers[:, None] == self.places, float)

    def totals(self, values: Array) -> Array:
        """The sums over each text's segments: (n, segments) to (n, texts)."""
        sums = [np.bincount(self.places, each, minlength=len(self)) for each in values]
        return np.array(sums, float).reshape(-1, len(self))

    def of_segments(self, weights: Array) -> Array:
        """The weights of segments, (b, segments), where (b, texts) are those of their texts."""
        return np.asarray(weights[:, self.places], float)


def documents_of(dataset: Dataset) -> Texts:
    """The documents of a test set."""
    if not dataset.documents:
        raise DataError(
            "sensitivity looks at how scores vary from text to text: say where documents begin "
            "with --docs FILE, or take sections of N segments with --section N."
        )
    return _texts("document", dataset.documents, dataset)


def sections_of(dataset: Dataset, size: int) -> Texts:
    """Sections of so many segments in a row; what is left at the end joins the last one.

    Where documents end makes no difference to them.
    """
    count = max(1, len(dataset) // size)
    labels = [str(min(at // size, count - 1) + 1) for at in range(len(dataset))]
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


DRAWS_BLOCK = 2**23
"""Resamples are worked off so many pairs of texts at a time."""

Numbers = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Draws:
    """Texts drawn with replacement: their numbers, (b, texts)."""

    texts: Numbers

    @classmethod
    def of(cls, texts: int, count: int, *, rng: np.random.Generator) -> Draws:
        """So many draws; the same for every metric, so that metrics can be compared."""
        return cls(rng.integers(0, texts, (count, texts)))

    @property
    def weights(self) -> Array:
        """How often each text is drawn, (b, texts)."""
        count, texts = self.texts.shape
        places = self.texts + texts * np.arange(count)[:, None]
        drawn = np.bincount(places.ravel(), minlength=count * texts)
        return np.asarray(drawn.reshape(count, texts), float)


def over_texts(metric: Array, gold: Array, coefficient: Coefficient, draws: Numbers) -> Array:
    """The correlation over drawn texts of each system: (systems, texts) to (b, systems).

    `nan` where fewer texts are known than the coefficient needs.
    """
    systems, texts = metric.shape
    step = max(1, DRAWS_BLOCK // max(1, systems * texts * texts))
    blocks = [np.zeros((0, systems))]
    for at in range(0, len(draws), step):
        own, human = (_drawn(each, draws[at : at + step]) for each in (metric, gold))
        enough = (~np.isnan(own + human)).sum(axis=1) >= coefficient.least
        values = np.where(enough, coefficient.each(own, human), np.nan)
        blocks.append(values.reshape(-1, systems))
    return np.concatenate(blocks)


def across_systems(values: Array, quality: Array, coefficient: Coefficient) -> Array:
    """The correlation over systems, (b, systems) twice to (b,).

    `nan` where fewer systems are known than the coefficient needs: any two lie on a line.
    """
    enough = (~np.isnan(values + quality)).sum(axis=1) >= coefficient.least
    return np.where(enough, coefficient.each(values, quality), np.nan)


def deviations(scores: Array) -> Array:
    """The standard deviation along the last axis of what is known; `nan` for fewer than two."""
    known = ~np.isnan(scores)
    count = known.sum(axis=-1)
    mean = divide(np.where(known, scores, 0.0).sum(axis=-1), count)
    squares = np.where(known, (scores - mean[..., None]) ** 2, 0.0).sum(axis=-1)
    return np.where(count > 1, np.sqrt(divide(squares, count - 1)), np.nan)


def partial(first: Array, second: Array, held: Array) -> Array:
    """The correlation of two things where a third is held fixed, from those of each two.

    `first` is that of both, `second` and `held` that of each with the third; `nan` where the
    third says all.
    """
    room = (1 - second**2) * (1 - held**2)
    tight = room <= 1e-12
    value = (first - second * held) / np.sqrt(np.where(tight, 1.0, room))
    return np.where(tight, np.nan, np.clip(value, -1, 1))


def _drawn(scores: Array, draws: Numbers) -> Array:
    """The drawn texts of every system, (b * systems, texts)."""
    return np.moveaxis(scores[:, draws], 0, 1).reshape(-1, draws.shape[1])


@dataclass(frozen=True, eq=False)
class People:
    """One kind of human score.

    `scores` are (systems, texts) means of the rated segments, `nan` where none is; `counts` says
    how many those are, and `rated` which, (systems, segments). `quality` is the average of each
    system, from a file of its own where `given`, and then the same whatever texts are drawn.
    """

    name: str
    scores: Array
    counts: Array
    rated: NDArray[np.bool_]
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


def people_of(human: Sequence[Scores], texts: Texts) -> list[People]:
    """Every kind of human score that tells texts apart."""
    fitting = [scores for scores in human if scores.granularity in _granularities(texts)]
    if not fitting:
        raise DataError(_too_coarse(human, texts))
    given = {scores.name: scores for scores in human if scores.granularity == "system"}
    return [
        _people(chosen, texts, given.get(chosen.scores.name))
        for chosen in human_at(fitting, "document", texts.labels)
    ]


def _granularities(texts: Texts) -> tuple[str, ...]:
    return ("segment", "document") if texts.kind == "document" else ("segment",)


def _too_coarse(human: Sequence[Scores], texts: Texts) -> str:
    known = ", ".join(f"{each.source} has scores of {each.granularity}s" for each in human)
    wanted = "segments (a column line) or documents (doc_id)"
    if texts.kind == "section":
        wanted = "segments (a column line), since sections are cut out of documents"
    return f"sensitivity needs human scores of {wanted}, but {known}. Name another with --human."


def _people(chosen: HumanScores, texts: Texts, given: Scores | None) -> People:
    scores = chosen.scores.values
    rated, counts = _rated(chosen, texts)
    notes = [f"human scores: {chosen.source}."]
    if given is not None:
        notes.append(f"quality: {given.source}.")
        quality = given.values[:, 0]
    else:
        quality = _average(np.ones((1, len(texts))), scores, counts)[0]
    return People(
        name=chosen.scores.name,
        scores=scores,
        counts=counts,
        rated=rated,
        quality=quality,
        given=given is not None,
        notes=tuple(notes),
    )


def _rated(chosen: HumanScores, texts: Texts) -> tuple[NDArray[np.bool_], Array]:
    """Which segments people rated, and how many in each text; where only texts are, all of them."""
    known = ~np.isnan(chosen.scores.values)
    if chosen.ratings is None:
        return known[:, texts.places], known.astype(float)
    rated = ~np.isnan(chosen.ratings)
    counts = texts.totals(rated.astype(float))
    if chosen.read.granularity == "document":
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
