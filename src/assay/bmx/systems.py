"""Explanations of the scores of several systems, and which segments are the worst."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from assay.bmx.explainer import Explainer
from assay.bmx.explaining import Explanation, Side, explain, sides_of
from assay.data import DataError, Dataset
from assay.metrics.base import Array, Metric
from assay.tracking import Track

__all__ = ["SystemExplanations", "explain_systems", "worst_segments"]


@dataclass(frozen=True, eq=False)
class SystemExplanations:
    """Why a metric gives the segments of each system the scores it gives.

    `segments` are positions in the dataset, in the order asked for. `found` has, for a system and
    a position, one explanation per side.
    """

    dataset: Dataset
    metric: Metric
    explainer: Explainer
    sides: tuple[Side, ...]
    segments: tuple[int, ...]
    found: Mapping[tuple[str, int], tuple[Explanation, ...]]

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(self.dataset.systems)

    def helps(self, explanation: Explanation) -> Array:
        """What each word does for the score: positive makes it better, whatever the metric."""
        sign = 1.0 if self.metric.higher_is_better else -1.0
        return sign * explanation.importances

    def of_side(self, system: str, side: Side) -> list[Explanation]:
        """The explanations of one side of all segments of a system."""
        at = self.sides.index(side)
        return [self.found[system, segment][at] for segment in self.segments]


def explain_systems(
    dataset: Dataset,
    metric: Metric,
    explainer: Explainer,
    *,
    segments: Sequence[int] | None = None,
    sides: Sequence[Side] | None = None,
    seed: int,
    track: Track | None = None,
) -> SystemExplanations:
    """Explain segments, at these positions or all, of every system; see `explaining.explain`."""
    positions = tuple(range(len(dataset)) if segments is None else segments)
    _check(dataset, positions)
    metric = metric.for_dataset(dataset)
    chosen = tuple(sides_of(metric) if sides is None else sides)
    explainer.check_dataset(dataset, chosen)
    texts = {system: dataset.segments(system) for system in dataset.systems}
    places = [(system, at) for system in texts for at in positions]
    run = partial(explain, track=track) if track else explain
    wanted = [texts[system][at] for system, at in places]
    found = run(metric, wanted, explainer, sides=chosen, seed=seed)
    size = len(chosen)
    by_place = {place: tuple(found[size * at : size * (at + 1)]) for at, place in enumerate(places)}
    return SystemExplanations(dataset, metric, explainer, chosen, positions, by_place)


def worst_segments(dataset: Dataset, metric: Metric, count: int) -> list[int]:
    """Positions of the segments with the worst scores, worst first; unknown ones come last.

    With several systems it is the mean over them that counts.
    """
    scores = metric.for_dataset(dataset).statistics(dataset.all_segments()).segments()
    means = scores.reshape(len(dataset.systems), len(dataset)).mean(axis=0)
    goodness = means if metric.higher_is_better else -means
    return [int(at) for at in np.argsort(goodness, kind="stable")[:count]]


def _check(dataset: Dataset, positions: Sequence[int]) -> None:
    for at in positions:
        if not 0 <= at < len(dataset):
            raise DataError(f"there is no segment {at + 1}; the texts have {len(dataset)}.")
