"""SHAP (Lundberg and Lee, 2017): each word's fair share of the score, its Shapley value."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.bmx.explainer import (
    MASK,
    Explainer,
    Perturbed,
    check_at_least,
    check_mask,
    masked_texts,
)
from assay.data import DataError
from assay.metrics.base import Array, divide

__all__ = ["SHAP"]

MOST_EXACT = 16
"""Exact values of more words would need more than 2 ** 16 texts."""


@dataclass(frozen=True)
class SHAP(Explainer):
    """What a word adds to the score, averaged over the orders in which words are unmasked.

    Exact, from all subsets of words, for texts of up to `exact` words. Longer texts are walked in
    `permutations` random orders, each there and back, as `shap.explainers.Permutation` does. In
    either case the importances add up to the full text's score less the masked text's.
    """

    name: ClassVar[str] = "shap"

    exact: int = 7
    permutations: int = 10
    mask: str = MASK

    def __post_init__(self) -> None:
        super().__post_init__()
        check_mask(self, self.mask)
        check_at_least(self, exact=0, permutations=1)
        if self.exact > MOST_EXACT:
            raise DataError(f"shap:exact={self.exact}: this setting is at most {MOST_EXACT}.")

    def perturb(self, tokens: tuple[str, ...], rng: np.random.Generator) -> Perturbed:
        """All subsets of the tokens, or walks from the full text to none and back."""
        size = len(tokens)
        kept = _subsets(size) if size <= self.exact else _walks(size, self.permutations, rng)
        return Perturbed(masked_texts(tokens, kept, self.mask), kept.astype(float))

    def attribute(self, perturbed: Perturbed, scores: Array) -> Array:
        """Shapley values: exact from subsets, means of steps from walks."""
        exact = perturbed.design.shape[1] <= self.exact
        return (_from_subsets if exact else _from_steps)(perturbed.design, scores)


def _subsets(size: int) -> NDArray[np.bool_]:
    """All subsets of so many tokens, the full set first, (2 ** size, size)."""
    numbers = np.arange(2**size)[::-1, None]
    return (numbers >> np.arange(size) & 1).astype(bool)


def _walks(size: int, permutations: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Masks one step apart: words are hidden one by one and shown again in the same order."""
    ranks = rng.random((permutations, size)).argsort(axis=1)
    steps = np.arange(1, size + 1)[None, :, None]
    hiding = ranks[:, None, :] >= steps
    there_and_back = np.concatenate([hiding, ~hiding], axis=1).reshape(-1, size)
    return np.vstack([np.ones(size, bool), there_and_back])


def _from_subsets(kept: Array, scores: Array) -> Array:
    size = kept.shape[1]
    if not size:
        return np.zeros(0)
    # A subset of k tokens weighs k! (n - k - 1)! / n! in the value of a token that joins it.
    weights = np.array([1 / (size * comb(size - 1, k)) for k in range(size)])
    count = kept.sum(axis=1).astype(int)[:, None]
    gains = weights[np.maximum(count - 1, 0)]
    losses = weights[np.minimum(count, size - 1)]
    values: Array = scores @ np.where(kept == 1, gains, -losses)
    return values


def _from_steps(kept: Array, scores: Array) -> Array:
    steps = np.diff(kept, axis=0)
    return divide(np.diff(scores) @ steps, np.abs(steps).sum(axis=0))
