"""The texts that a test set falls into: its documents, or sections of a fixed size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError, Dataset
from assay.metrics.base import Array

__all__ = ["Texts", "documents_of", "sections_of"]


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

    @cached_property
    def membership(self) -> Array:
        """(texts, segments): 1 where a segment belongs to a text."""
        return (np.arange(len(self))[:, None] == self.places).astype(float)

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
    lengths = np.array([len(line.split()) for line in _lines(dataset)], float)
    texts = Texts(kind, tuple(labels), np.zeros(0))
    return Texts(kind, tuple(labels), texts.membership @ lengths)


def _lines(dataset: Dataset) -> list[str]:
    """What words are counted in: the first reference, the source, or the first output."""
    if all(dataset.references):
        return [references[0] for references in dataset.references]
    return list(dataset.sources or next(iter(dataset.systems.values())))
