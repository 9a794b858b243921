"""What an explainer is: texts to score, and the importance of every word from their scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay import kernel
from assay.data import DataError, Dataset
from assay.languages import language_of
from assay.metrics.base import Array
from assay.settings import Settings

__all__ = ["MASK", "Explainer", "Perturbed", "check_at_least", "check_mask", "masked_texts"]

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
