"""Erasure (Li et al., 2016): what the score loses without a word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.bmx.explainer import Explainer, Perturbed
from assay.metrics.base import Array

__all__ = ["Erasure"]


@dataclass(frozen=True)
class Erasure(Explainer):
    """The full text's score less the score of the text without the word."""

    name: ClassVar[str] = "erasure"

    def perturb(self, tokens: tuple[str, ...], rng: np.random.Generator) -> Perturbed:
        """The full text, and the text without each token in turn; nothing is random."""
        without = [" ".join(tokens[:at] + tokens[at + 1 :]) for at in range(len(tokens))]
        kept = np.vstack([np.ones(len(tokens)), 1 - np.eye(len(tokens))])
        return Perturbed([" ".join(tokens), *without], kept)

    def attribute(self, perturbed: Perturbed, scores: Array) -> Array:
        """What each token's absence takes from the score."""
        losses: Array = scores[0] - scores[1:]
        return losses
