"""Random importances: the baseline that every explainer has to beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.bmx.explainer import Explainer, Perturbed
from assay.metrics.base import Array

__all__ = ["Noise"]


@dataclass(frozen=True)
class Noise(Explainer):
    """A random number between 0 and 1 for every word, whatever the metric says."""

    name: ClassVar[str] = "random"

    def perturb(self, tokens: tuple[str, ...], rng: np.random.Generator) -> Perturbed:
        """The full text alone; the numbers are drawn here, where randomness is."""
        return Perturbed([" ".join(tokens)], rng.random((1, len(tokens))))

    def attribute(self, perturbed: Perturbed, scores: Array) -> Array:
        """The numbers drawn, which no score changes."""
        numbers: Array = perturbed.design[0]
        return numbers
