"""Other texts and other systems: both stages on resamples of those at hand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.meta.coefficients import Coefficient
from assay.metrics.base import Array

__all__ = ["Draws", "across_systems", "over_texts"]

BLOCK = 2**23
"""Resamples are worked off so many pairs of texts at a time."""

Numbers = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Draws:
    """Texts and systems drawn with replacement: their numbers, (b, texts) and (b, systems)."""

    texts: Numbers
    systems: Numbers

    @classmethod
    def of(cls, texts: int, systems: int, count: int, *, rng: np.random.Generator) -> Draws:
        """So many draws; the same for every metric, so that metrics can be compared."""
        return cls(
            rng.integers(0, texts, (count, texts)), rng.integers(0, systems, (count, systems))
        )

    @property
    def weights(self) -> Array:
        """How often each text is drawn, (b, texts)."""
        count, texts = self.texts.shape
        places = self.texts + texts * np.arange(count)[:, None]
        return np.bincount(places.ravel(), minlength=count * texts).reshape(count, texts) * 1.0


def over_texts(metric: Array, gold: Array, coefficient: Coefficient, draws: Numbers) -> Array:
    """The correlation over drawn texts of each system: (systems, texts) to (b, systems).

    `nan` where fewer texts are known than the coefficient needs.
    """
    systems, texts = metric.shape
    step = max(1, BLOCK // max(1, systems * texts * texts))
    blocks = [np.zeros((0, systems))]
    for at in range(0, len(draws), step):
        own, human = (_drawn(each, draws[at : at + step]) for each in (metric, gold))
        enough = (~np.isnan(own + human)).sum(axis=1) >= coefficient.least
        values = np.where(enough, coefficient.each(own, human), np.nan)
        blocks.append(values.reshape(-1, systems))
    return np.concatenate(blocks)


def across_systems(
    values: Array, quality: Array, coefficient: Coefficient, drawn: Numbers | None = None
) -> Array:
    """The correlation over systems, (b, systems) twice to (b,); of drawn systems where given.

    `nan` where fewer different systems are known than the coefficient needs: any two lie on a
    line.
    """
    known = ~np.isnan(values + quality)
    if drawn is not None:
        there = np.zeros(known.shape, bool)
        np.put_along_axis(there, drawn, True, axis=1)
        known = known & there
        values, quality = (np.take_along_axis(each, drawn, 1) for each in (values, quality))
    enough = known.sum(axis=1) >= coefficient.least
    return np.where(enough, coefficient.each(values, quality), np.nan)


def _drawn(scores: Array, draws: Numbers) -> Array:
    """The drawn texts of every system, (b * systems, texts)."""
    return np.moveaxis(scores[:, draws], 0, 1).reshape(-1, draws.shape[1])
