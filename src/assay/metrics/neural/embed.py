"""Sentence-encoder similarity: the cosine between the vectors of two texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

import numpy as np

from assay.data import Segment
from assay.metrics.base import Rows
from assay.metrics.neural.base import NeuralMetric
from assay.metrics.neural.encoders import Encoder
from assay.statistics.arrays import Array, divide

__all__ = ["Embed"]

BLOCK = 4096
"""Segments whose vectors are in memory at once."""


@dataclass(frozen=True, kw_only=True)
class Embed(NeuralMetric):
    """The cosine of the output's vector with the reference's, or with the source's.

    With a multilingual encoder and `against=source` it needs no reference; this is XLMR-SBERT in
    Leiter et al. (2022). Of several references the most similar counts.
    """

    name: ClassVar[str] = "embed"
    scale: ClassVar[str] = "-1 to 1"

    @property
    def title(self) -> str:
        """Embed."""
        return "Embed"

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """The score of every segment, and 1."""
        encoder, others = self.encoder(), self.compared_with(segments)
        outputs = [segment.hypothesis for segment in segments]
        blocks = [
            _best_cosines(encoder, outputs[at : at + BLOCK], others[at : at + BLOCK])
            for at in range(0, len(outputs), BLOCK)
        ]
        return self.rows_of(np.concatenate(blocks) if blocks else np.zeros(0))


def _best_cosines(
    encoder: Encoder, outputs: Sequence[str], others: Sequence[tuple[str, ...]]
) -> Array:
    """By output, its cosine with the most similar of the texts beside it."""
    lines = list(dict.fromkeys(chain(outputs, *others)))
    place = {line: at for at, line in enumerate(lines)}
    vectors = encoder.vectors(lines).astype(float)
    vectors = divide(vectors, np.linalg.norm(vectors, axis=1, keepdims=True))
    counts = [len(each) for each in others]
    left = np.repeat([place[line] for line in outputs], counts)
    right = [place[line] for each in others for line in each]
    cosines = (vectors[left] * vectors[right]).sum(axis=1)
    best: Array = np.maximum.reduceat(cosines, np.cumsum([0, *counts[:-1]]))
    return best
