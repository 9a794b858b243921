"""What tuning works on: segments that people have scored, scored and explained by a metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.bmx.boosting import Explained, Sides, explained_by
from assay.bmx.explainer import Explainer
from assay.data import DataError, Dataset, Segment
from assay.metrics.base import Array, Metric
from assay.scores import Scores
from assay.tracking import Track

__all__ = ["FEWEST", "Evidence", "Judged", "Setting", "gather"]

FEWEST = 4
"""A correlation, and a test of two, need so many segments; tuning needs two halves of them."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Segments that people have scored; `items` tells which are of the same source segment."""

    dataset: str
    pair: str
    segments: Sequence[Segment]
    gold: Array
    items: NDArray[np.intp]

    @classmethod
    def of(cls, dataset: Dataset, scores: Scores) -> Judged:
        """The segments of all systems that have a human score."""
        if scores.level != "segment":
            raise DataError(
                f"{scores.name}: boosting is tuned on scores of segments, not of {scores.level}s."
            )
        gold = np.concatenate([scores.of(system) for system in dataset.systems])
        items = np.tile(np.arange(len(dataset)), len(dataset.systems))
        rated = np.flatnonzero(np.isfinite(gold))
        if len(rated) < 2 * FEWEST:
            raise DataError(
                f"{scores.name}: {len(rated)} segments have a human score; tuning needs at least "
                f"{2 * FEWEST}."
            )
        segments = dataset.all_segments()
        pair = "-".join(dataset.languages or ())
        return cls(dataset.name, pair, [segments[at] for at in rated], gold[rated], items[rated])


class Setting(NamedTuple):
    """What was boosted, by what, and where."""

    dataset: str
    pair: str
    metric: str
    explainer: str


@dataclass(frozen=True, eq=False)
class Evidence:
    """Scores, explanations and human scores of the same segments, all of them known.

    `unknown` is the number of segments that could not be scored or explained, and are left out.
    """

    setting: Setting
    explained: Explained
    gold: Array
    items: NDArray[np.intp]
    unknown: int = 0

    def __len__(self) -> int:
        return len(self.gold)

    def chosen(self, keep: NDArray[np.bool_]) -> Evidence:
        """Some of the segments."""
        return Evidence(
            self.setting, self.explained.chosen(keep), self.gold[keep], self.items[keep]
        )

    def by_item(self, values: Array) -> Array:
        """Numbers of segments as (outputs, items), `nan` where an item has fewer outputs."""
        _, column, counts = np.unique(self.items, return_inverse=True, return_counts=True)
        order = np.argsort(column, kind="stable")
        starts = np.cumsum(counts) - counts
        row = np.empty(len(values), np.intp)
        row[order] = np.arange(len(values)) - np.repeat(starts, counts)
        laid = np.full((int(counts.max(initial=0)), len(counts)), np.nan)
        laid[row, column] = values
        return laid


def gather(
    judged: Judged,
    metric: Metric,
    explainer: Explainer,
    *,
    sides: Sides = "both",
    seed: int,
    track: Track | None = None,
) -> Evidence:
    """Score and explain segments that people have scored."""
    setting = Setting(judged.dataset, judged.pair, str(metric), str(explainer))
    found = explained_by(explainer, metric, judged.segments, sides=sides, seed=seed, track=track)
    known = np.isfinite(found.base + found.importances.reduced(np.add))
    if known.sum() < 2 * FEWEST:
        raise DataError(
            f"{metric} with {explainer}: {int(known.sum())} of {len(known)} segments can be scored "
            f"and explained; tuning needs at least {2 * FEWEST}."
        )
    unknown = int((~known).sum())
    return Evidence(setting, found.chosen(known), judged.gold[known], judged.items[known], unknown)
