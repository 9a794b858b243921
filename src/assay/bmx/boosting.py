"""Scores of segments, the importances of their words, and what the two make together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.bmx.explainer import Explainer
from assay.bmx.explaining import Explanation, explain, sides_of
from assay.bmx.noise import Noise
from assay.bmx.powermean import EPSILON, Ragged, Regular, collapsed, power_means, regularised
from assay.data import Segment
from assay.metrics.base import Array, Metric
from assay.tracking import Track

__all__ = ["PUBLISHED", "Explained", "Sides", "WeightAndPower", "combined", "explained_by"]

Sides: TypeAlias = Literal["both", "hypothesis"]


class WeightAndPower(NamedTuple):
    """How much the base metric counts, and the power of the mean of the importances."""

    w: float
    p: float


PUBLISHED = {
    "erasure": WeightAndPower(0.6, -0.3),
    "lime": WeightAndPower(0.4, -1.4),
    "shap": WeightAndPower(0.6, -0.95),
    "marginal": WeightAndPower(0.8, -13.1),
}
"""The medians of the best values that Leiter et al. (2022) found for each explainer."""


@dataclass(frozen=True, eq=False)
class Explained:
    """A metric's scores of segments, and the importances of the words of each.

    More is better: with a metric of which less is better, all signs are turned. The importances
    of a segment are those of the ground truth, then those of the hypothesis. What could not be
    explained is `nan`. `epsilon` is the paper's 1e-9 on the metric's own scale.
    """

    base: Array
    importances: Ragged
    epsilon: float = EPSILON

    def __len__(self) -> int:
        return len(self.base)

    def chosen(self, keep: NDArray[np.bool_]) -> Explained:
        """Some of the segments."""
        return Explained(self.base[keep], self.importances.chosen(keep), self.epsilon)

    def explanations(self, powers: Sequence[float] | Array, regular: Regular = "paper") -> Array:
        """The importances of every segment as one number, (powers, segments)."""
        words = regularised(self.importances, regular, epsilon=self.epsilon)
        return power_means(words, powers)

    def boosted(self, at: WeightAndPower, regular: Regular = "paper") -> Array:
        """The boosted score of every segment."""
        return combined(self.base, self.explanations([at.p], regular)[0], at.w)

    def collapsed(self, p: float, regular: Regular = "paper") -> float:
        """The share of segments whose explanation is next to nothing: w times the base is left."""
        if not len(self):
            return 0.0
        return float(np.mean(collapsed(self.importances, self.explanations([p], regular)[0])))


def combined(base: Array, explanations: Array, w: float) -> Array:
    """The weighted sum w · base + (1 - w) · explanation."""
    return np.asarray(w * base + (1 - w) * explanations)


def explained_by(
    explainer: Explainer,
    metric: Metric,
    segments: Sequence[Segment],
    *,
    sides: Sides = "both",
    seed: int,
    track: Track | None = None,
) -> Explained:
    """Score segments and explain their scores."""
    wanted = sides_of(metric, hypothesis_only=sides == "hypothesis")
    run = partial(explain, track=track) if track else explain
    found = run(metric, segments, explainer, sides=wanted, seed=seed)
    by_segment = [list(each) for _, each in groupby(found, key=attrgetter("segment"))]
    sign = 1.0 if metric.higher_is_better else -1.0
    unit = 100.0 if metric.scale.endswith("0-100") else 1.0
    # Random importances lie between 0 and 1, whatever the scale and direction of the metric.
    factor = unit if isinstance(explainer, Noise) else sign
    return Explained(
        base=sign * np.array([each[0].score for each in by_segment], float),
        importances=Ragged.of([factor * _concatenated(each) for each in by_segment]),
        epsilon=EPSILON * unit,
    )


def _concatenated(explanations: Sequence[Explanation]) -> Array:
    return np.concatenate([each.importances for each in explanations])
