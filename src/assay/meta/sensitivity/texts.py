"""The texts that a test set falls into: its documents, or sections of a fixed size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError, Dataset
from assay.metrics.base import Array

__all__ = ["Texts", "documents_of", "sections_of"]

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
