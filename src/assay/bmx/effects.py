"""Where boosting helps: a ridge regression of the gain on everything that was varied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from assay.metrics.base import Array

__all__ = ["Effect", "ridge_effects"]


class Effect(NamedTuple):
    """How much more is gained in settings with this value of this factor."""

    factor: str
    value: str
    coefficient: float


def ridge_effects(
    settings: Sequence[Mapping[str, str]], gains: Sequence[float] | Array, *, penalty: float = 1.0
) -> list[Effect]:
    """A coefficient for every value of every factor that varies, the greatest first.

    Each setting names the value of each factor. Every value is a regressor of its own, 1 where
    the setting has it and else 0; the intercept is not penalised (as in scikit-learn's Ridge).
    Factors are not independent of each other, so this is an impression, not a proof.
    """
    columns = [
        (factor, value)
        for factor in (settings[0] if settings else ())
        for value in dict.fromkeys(each[factor] for each in settings)
        if any(each[factor] != value for each in settings)
    ]
    if not columns:
        return []
    design = np.array([[each[f] == value for f, value in columns] for each in settings], float)
    target = np.asarray(gains, float)
    centred = design - design.mean(axis=0)
    normal = centred.T @ centred + penalty * np.eye(len(columns))
    solved = np.linalg.solve(normal, centred.T @ (target - target.mean()))
    effects = [Effect(*each, float(c)) for each, c in zip(columns, solved, strict=True)]
    return sorted(effects, key=lambda each: -each.coefficient)
