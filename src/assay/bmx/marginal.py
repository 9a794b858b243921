"""Input marginalisation (Kim et al., 2020): what the score loses when likely words stand in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Protocol

import numpy as np

from assay.bmx.bigrams import Candidate, packaged_bigrams
from assay.bmx.explainer import Explainer, Perturbed
from assay.data import DataError
from assay.metrics.base import Array

__all__ = ["BIGRAMS", "Marginal"]

BIGRAMS = "bigrams"
"""The model that needs neither a hub nor torch."""


@dataclass(frozen=True)
class Marginal(Explainer):
    """The full text's score less the sum of p(word) times the score with the word in place.

    The words are those that a masked language model, by name or folder, finds more probable than
    `threshold` in the token's place; offline, a model of English word pairs. Their probabilities
    need not add up to 1, and a token without such words has the full score for its importance:
    that is the formula. `softmax` puts the probabilities of the words found through a softmax, as
    the published program does.
    """

    name: ClassVar[str] = "marginal"

    model: str = BIGRAMS
    threshold: float = 0.05
    softmax: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.001 <= self.threshold < 1:
            raise DataError(f"marginal:threshold={self.threshold}: a number from 0.001 to 1.")
        if not self.model or set(self.model) & set(",()"):
            raise DataError(f"marginal:model={self.model}: a name without commas and brackets.")

    @property
    def needs_english(self) -> bool:
        """The counts of word pairs are English."""
        return self.model == BIGRAMS

    @property
    def label(self) -> str:
        """The specification, and the model by whose words it goes."""
        stated = "no masked language model, but " if self.model == BIGRAMS else ""
        return f"{self} ({stated}{_model(self.model).identity})"

    def perturb(self, tokens: tuple[str, ...], rng: np.random.Generator) -> Perturbed:
        """The full text, and one for every word in place of a token; `design` is its weight."""
        texts, places, weights = [" ".join(tokens)], [], []
        for at, found in enumerate(_candidates(self.model, self.threshold, tokens)):
            texts += [" ".join((*tokens[:at], word, *tokens[at + 1 :])) for word, _ in found]
            places += [at] * len(found)
            weights += self._weights(found)
        design = np.zeros((len(texts), len(tokens)))
        design[np.arange(1, len(texts)), places] = weights
        return Perturbed(texts, design)

    def attribute(self, perturbed: Perturbed, scores: Array) -> Array:
        """What the score loses, on average, with another word in each token's place."""
        losses: Array = scores[0] - scores @ perturbed.design
        return losses

    def _weights(self, found: list[Candidate]) -> list[float]:
        probabilities = np.array([each.probability for each in found])
        if self.softmax:
            probabilities = np.exp(probabilities) / np.exp(probabilities).sum()
        return list(map(float, probabilities))


class _Replacing(Protocol):
    """Whatever finds words for a place."""

    @property
    def identity(self) -> str: ...

    def candidates(self, tokens: tuple[str, ...], threshold: float) -> list[list[Candidate]]: ...


def _model(name: str) -> _Replacing:
    if name == BIGRAMS:
        return packaged_bigrams()
    from assay.bmx.masked import masked_model

    return masked_model(name)


@lru_cache(maxsize=2**14)
def _candidates(model: str, threshold: float, tokens: tuple[str, ...]) -> list[list[Candidate]]:
    """Kept, as several systems share their references and sources."""
    return _model(model).candidates(tokens, threshold)
