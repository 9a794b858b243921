"""Correlations over texts and over systems, and over resamples of the texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.meta.coefficients import Coefficient
from assay.metrics.base import Array, divide

__all__ = ["Draws", "Numbers", "across_systems", "deviations", "over_texts", "partial"]

BLOCK = 2**23
"""Resamples are worked off so many pairs of texts at a time."""

Numbers = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Draws:
    """Texts drawn with replacement: their numbers, (b, texts)."""

    texts: Numbers

    @classmethod
    def of(cls, texts: int, count: int, *, rng: np.random.Generator) -> Draws:
        """So many draws; the same for every metric, so that metrics can be compared."""
        return cls(rng.integers(0, texts, (count, texts)))

    @property
    def weights(self) -> Array:
        """How often each text is drawn, (b, texts)."""
        count, texts = self.texts.shape
        places = self.texts + texts * np.arange(count)[:, None]
        drawn = np.bincount(places.ravel(), minlength=count * texts)
        return np.asarray(drawn.reshape(count, texts), float)


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


def across_systems(values: Array, quality: Array, coefficient: Coefficient) -> Array:
    """The correlation over systems, (b, systems) twice to (b,).

    `nan` where fewer systems are known than the coefficient needs: any two lie on a line.
    """
    enough = (~np.isnan(values + quality)).sum(axis=1) >= coefficient.least
    return np.where(enough, coefficient.each(values, quality), np.nan)


def deviations(scores: Array) -> Array:
    """The standard deviation along the last axis of what is known; `nan` for fewer than two."""
    known = ~np.isnan(scores)
    count = known.sum(axis=-1)
    mean = divide(np.where(known, scores, 0.0).sum(axis=-1), count)
    squares = np.where(known, (scores - mean[..., None]) ** 2, 0.0).sum(axis=-1)
    return np.where(count > 1, np.sqrt(divide(squares, count - 1)), np.nan)


def partial(first: Array, second: Array, held: Array) -> Array:
    """The correlation of two things where a third is held fixed, from those of each two.

    `first` is that of both, `second` and `held` that of each with the third; `nan` where the
    third says all.
    """
    room = (1 - second**2) * (1 - held**2)
    tight = room <= 1e-12
    value = (first - second * held) / np.sqrt(np.where(tight, 1.0, room))
    return np.where(tight, np.nan, np.clip(value, -1, 1))


def _drawn(scores: Array, draws: Numbers) -> Array:
    """The drawn texts of every system, (b * systems, texts)."""
    return np.moveaxis(scores[:, draws], 0, 1).reshape(-1, draws.shape[1])
