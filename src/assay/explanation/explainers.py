"""Explainers: texts to score, and the importance of every word from their scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay import kernel
from assay.data import Array, DataError, Dataset, divide
from assay.registry import Registry, Settings
from assay.text import language_of

__all__ = [
    "EXPLAINERS",
    "LIME",
    "MASK",
    "SHAP",
    "Erasure",
    "Explainer",
    "Perturbed",
    "RandomExplainer",
    "check_at_least",
    "check_mask",
    "masked_texts",
]

MASK = "UNKWORDZ"
"""What stands in for a word that is hidden: the string of the `lime` package."""


class Perturbed(NamedTuple):
    """Texts to score, the full text first, and what `attribute` needs to know about each.

    `design` has one row per text and one column per token; what it holds is the explainer's own
    business: 1 where a token is kept and 0 where it is hidden, say.
    """

    texts: list[str]
    design: Array


@dataclass(frozen=True)
class Explainer(Settings, ABC):
    """Settings only: two pure halves, with the scoring of texts in between."""

    follows_metric: ClassVar[bool] = True
    """Whether importances have the metric's scale and direction; else they lie from 0 to 1."""

    @abstractmethod
    def perturb(self, tokens: tuple[str, ...], rng: np.random.Generator) -> Perturbed:
        """Texts whose scores tell how important the tokens are; the first is the full text."""

    @abstractmethod
    def attribute(self, perturbed: Perturbed, scores: Array) -> Array:
        """One importance per token, in the metric's own direction, from one score per text."""

    @property
    def needs_english(self) -> bool:
        """Whether it knows English words only."""
        return False

    def check_dataset(self, dataset: Dataset, sides: Sequence[str]) -> None:
        """Raise a `DataError` where it knows English words only, and a side is not English."""
        for side in sides if self.needs_english else ():
            language = language_of(dataset, "source" if side == "source" else "target")
            if language.known(self) != "en":
                raise DataError(
                    f"{self}: the words that it puts in are English, but the {side} is in "
                    f"{language}. Name a masked language model: {self.name}:model=NAME"
                )

    @property
    def label(self) -> str:
        """What people read: the specification, and whatever stands behind it."""
        return str(self)


def masked_texts(tokens: tuple[str, ...], keep: NDArray[np.bool_], mask: str) -> list[str]:
    """One text per row of `keep`, with the mask for every token that is not kept.

    >>> masked_texts(("a", "b"), np.array([[True, True], [False, True]]), "_")
    ['a b', '_ b']
    """
    return kernel.masked(tokens, np.ascontiguousarray(keep), mask)


def check_mask(explainer: Explainer, mask: str) -> None:
    """Raise a `DataError` for a mask that is not one word, or that no specification can hold."""
    if len(mask.split()) != 1 or mask != mask.strip() or set(mask) & set(",()"):
        raise DataError(
            f"{explainer.name}:mask={mask!r}: a mask is one word without commas or round brackets."
        )


def check_at_least(explainer: Explainer, **least: float) -> None:
    """Raise a `DataError` for a setting that is below what it can be."""
    for key, bound in least.items():
        if (value := getattr(explainer, key)) < bound:
            raise DataError(f"{explainer.name}:{key}={value}: this setting is at least {bound}.")


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


@dataclass(frozen=True)
class RandomExplainer(Explainer):
    """A random number between 0 and 1 for every word, whatever the metric says."""

    name: ClassVar[str] = "random"
    follows_metric: ClassVar[bool] = False

    def perturb(self, tokens: tuple[str, ...], rng: np.random.Generator) -> Perturbed:
        """The full text alone; the numbers are drawn here, where randomness is."""
        return Perturbed([" ".join(tokens)], rng.random((1, len(tokens))))

    def attribute(self, perturbed: Perturbed, scores: Array) -> Array:
        """The numbers drawn, which no score changes."""
        numbers: Array = perturbed.design[0]
        return numbers


EXPLAINERS: Registry[Explainer] = Registry(
    "explainer",
    "assay.explainers",
    {
        "erasure": "assay.explanation.explainers:Erasure",
        "lime": "assay.explanation.explainers:LIME",
        "shap": "assay.explanation.explainers:SHAP",
        "marginal": "assay.explanation.marginal:Marginal",
        "random": "assay.explanation.explainers:RandomExplainer",
    },
    base=Explainer,
)
"""All explainers: `EXPLAINERS.parse("lime:samples=50")`."""
