"""A metric, an explainer and a coefficient that `assay` finds by their entry points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

import assay
from assay.explanation.explainers import Perturbed

__all__ = ["LengthMatch", "Reading", "Somers"]


@dataclass(frozen=True)
class LengthMatch(assay.Metric):
    """How far the output is as long as the first reference, 0-100."""

    name: ClassVar[str] = "lengthmatch"

    unit: Literal["word", "char"] = "word"

    def rows(self, segments: Sequence[assay.Segment]) -> np.ndarray:
        """The lengths of the output and of the reference, one row per segment."""
        lengths = [
            (self._length(segment.hypothesis), self._length(segment.references[0]))
            for segment in segments
        ]
        return np.array(lengths, float).reshape(-1, 2)

    def aggregate(self, sums: np.ndarray) -> np.ndarray:
        """The shorter length of the longer one, in percent; 0 of nothing."""
        shorter, longer = sums.min(axis=1), sums.max(axis=1)
        return 100 * np.divide(shorter, longer, out=np.zeros(len(sums)), where=longer > 0)

    def _length(self, text: str) -> int:
        return len(text.split()) if self.unit == "word" else len(text)


@dataclass(frozen=True)
class Reading(assay.Explainer):
    """What each word adds to the score when the text is read from its beginning."""

    name: ClassVar[str] = "reading"

    def perturb(self, tokens: tuple[str, ...], rng: np.random.Generator) -> Perturbed:
        """The full text, and its beginnings from none of the words to all but the last."""
        size = len(tokens)
        kept = np.vstack([np.ones((1, size)), np.tri(size, size, -1)])
        beginnings = [" ".join(tokens[:count]) for count in range(size)]
        return Perturbed([" ".join(tokens), *beginnings], kept)

    def attribute(self, perturbed: Perturbed, scores: np.ndarray) -> np.ndarray:
        """The score with the word, less the score before it."""
        return np.diff(np.append(scores[1:], scores[0]))


@dataclass(frozen=True)
class Somers(assay.Coefficient):
    """Somers' D: pairs in the right order less pairs in the wrong one, of all that people order."""

    name: ClassVar[str] = "somers"
    title: ClassVar[str] = "Somers' D"
    least: ClassVar[int] = 2

    def each(self, metric: np.ndarray, human: np.ndarray) -> np.ndarray:
        """The value of every group; a metric's ties are neither right nor wrong."""
        first, second = np.triu_indices(human.shape[-1], 1)
        own = np.sign(metric[..., first] - metric[..., second])
        people = np.sign(human[..., first] - human[..., second])
        known = ~np.isnan(own + people)
        total = (known & (people != 0)).sum(axis=-1)
        balance = np.where(known, own * people, 0.0).sum(axis=-1)
        return np.where(total > 0, balance / np.maximum(total, 1), np.nan)
