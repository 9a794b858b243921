"""LIME (Ribeiro et al., 2016): a linear model of the score around the full text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.bmx.explainer import (
    MASK,
    Explainer,
    Perturbed,
    check_at_least,
    check_mask,
    masked_texts,
)
from assay.metrics.base import Array

__all__ = ["LIME"]

PENALTY = 1.0
"""The ridge penalty of the `lime` package."""


@dataclass(frozen=True)
class LIME(Explainer):
    """The weights of a ridge regression of scores on which words are kept.

    As in the `lime` package 0.2.0.1 with `bow=False`: each sample hides a random number of
    words, at least one, behind the mask. Samples near the full text count more, by an exponential
    kernel of `width` over the cosine distance in percent. `samples` includes the full text.
    """

    name: ClassVar[str] = "lime"

    samples: int = 100
    mask: str = MASK
    width: float = 25.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_mask(self, self.mask)
        check_at_least(self, samples=2, width=1e-3)

    def perturb(self, tokens: tuple[str, ...], rng: np.random.Generator) -> Perturbed:
        """The full text, and samples with 1 to all of its words hidden; `design` is 1 if kept."""
        kept = np.ones((self.samples, len(tokens)), bool)
        hidden = rng.integers(1, max(1, len(tokens)) + 1, self.samples - 1)
        ranks = rng.random((self.samples - 1, len(tokens))).argsort(axis=1)
        kept[1:] = ranks >= hidden[:, None]
        return Perturbed(masked_texts(tokens, kept, self.mask), kept.astype(float))

    def attribute(self, perturbed: Perturbed, scores: Array) -> Array:
        """The weights of the tokens in the linear model."""
        return _ridge(perturbed.design, scores, self._nearness(perturbed.design))

    def _nearness(self, kept: Array) -> Array:
        # The cosine between a row of n ones and one of k ones is sqrt(k / n).
        distance = 100 * (1 - np.sqrt(kept.sum(axis=1) / max(1, kept.shape[1])))
        nearness: Array = np.exp(-((distance / self.width) ** 2) / 2)
        return nearness


def _ridge(design: Array, values: Array, weights: Array) -> Array:
    """Coefficients of a weighted ridge regression with an intercept that is not penalised."""
    total, sums = weights.sum(), weights @ design
    centred = weights * (values - weights @ values / total)
    gram = (design * weights[:, None]).T @ design - sums[:, None] * (sums / total)
    gram.flat[:: len(gram) + 1] += PENALTY
    return np.linalg.solve(gram, centred @ design)
