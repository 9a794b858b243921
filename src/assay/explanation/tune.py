"""`tune`: the weight and power with which boosted metrics agree best with people."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.data import Array, DataError, Dataset, MissingInput, Scores, Segment, without_humans
from assay.explanation.boosted import (
    ExplainedScores,
    Regular,
    WeightAndPower,
    combined,
    explained_by,
)
from assay.explanation.explainers import EXPLAINERS, Explainer
from assay.explanation.importances import Sides, sides_of
from assay.metrics.base import Metric, select_metrics
from assay.progress import Engine, Track, spread, untracked
from assay.registry import SEED
from assay.statistics.correlation import pearson_rows, pearson_swap_test

if TYPE_CHECKING:
    from assay.explanation.tuning_report import TuneResult

__all__ = [
    "EXPLAINED_BY",
    "FEWEST",
    "POWERS",
    "SLACK",
    "WEIGHTS",
    "BoostSetting",
    "Evidence",
    "GridPoint",
    "HeldOut",
    "RatedSegments",
    "SwapTest",
    "Tuned",
    "best_of",
    "correlations",
    "gather",
    "halves",
    "tried",
    "tune",
    "tune_setting",
]


EXPLAINED_BY = ("erasure", "lime", "shap")
"""The explainers that are tried where none is named."""


@spread
def tune(
    data: Dataset | Sequence[Dataset],
    metrics: str | Metric | Iterable[str | Metric] = "chrf",
    explainers: str | Explainer | Iterable[str | Explainer] = EXPLAINED_BY,
    *,
    human: str | None = None,
    test_data: Dataset | Sequence[Dataset] = (),
    regular: Regular = "paper",
    sides: Sides = "both",
    trials: int = 1000,
    grid: bool = False,
    seed: int = SEED,
    cluster: Engine = None,
    track: Track = untracked,
) -> TuneResult:
    """Find the weight and power with which a boosted metric agrees best with people.

    Tries the whole grid of Leiter et al. (2022) for every metric and explainer on every dataset,
    gives the best, the medians of what was best, and how it does on segments that had no part in
    finding it: the other half of the same dataset, and those of `test_data`. Each is tested
    against the metric as it is by `trials` random swaps.

    Datasets bring their human scores of segments (`Dataset.human`); `human` chooses among
    several. Human translations among the systems are left out. `regular` and `sides` are as in
    `boost`. With `grid` the records are all points of the grid.

    >>> from assay.demo import read_demo
    >>> [record] = tune(read_demo(), "chrf", "erasure", trials=10).records()
    >>> record["w"], record["p"], round(record["pearson"], 3), round(record["base"], 3)
    (0.8, 12.0, 0.609, 0.603)
    """
    from assay.explanation.tuning_report import TuneResult, try_medians

    chosen = EXPLAINERS.parse_all(
        [explainers] if isinstance(explainers, str | Explainer) else explainers
    )
    asked = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    tasks = [task for own in _listed(data) for task in _tasks(own, asked, chosen, human, sides)]
    unseen = [
        task for own in _listed(test_data) for task in _tasks(own, asked, chosen, human, sides)
    ]

    def evidence(task: _TuneTask) -> Evidence:
        return gather(task.rated, task.metric, task.explainer, sides=sides, seed=seed, track=track)

    def test(first: Array, second: Array, ratings: Array) -> float:
        rng = np.random.default_rng(seed)
        return pearson_swap_test(first, second, ratings, trials=trials, rng=rng)

    tuned = tuple(
        tune_setting(evidence(task), regular=regular, test=test, rng=np.random.default_rng(seed))
        for task in tasks
    )
    medians = TuneResult(tuned)
    tested = tuple(try_medians(medians, evidence(task), test=test) for task in unseen)
    notes = dict.fromkeys(note for task in (*tasks, *unseen) for note in task.notes)
    return TuneResult(tuned, tested, grid, trials, tuple(notes))


class _TuneTask(NamedTuple):
    """One metric to be explained by one explainer on one dataset."""

    rated: RatedSegments
    metric: Metric
    explainer: Explainer
    notes: tuple[str, ...]


def _listed(data: Dataset | Sequence[Dataset]) -> Sequence[Dataset]:
    return [data] if isinstance(data, Dataset) else data


def _tasks(
    data: Dataset,
    metrics: Sequence[str | Metric],
    explainers: Sequence[Explainer],
    human: str | None,
    sides: Sides,
) -> list[_TuneTask]:
    """Every metric with every explainer on one dataset."""
    machines = without_humans(data)
    selection = select_metrics(metrics, machines)
    for metric, explainer in product(selection.metrics, explainers):
        explainer.check_dataset(machines, sides_of(metric, hypothesis_only=sides == "hypothesis"))
    rated = RatedSegments.of(machines, _human_scores(machines, human))
    notes = tuple(selection.notes)
    return [
        _TuneTask(rated, metric, explainer, notes)
        for metric in selection.metrics
        for explainer in explainers
    ]


def _human_scores(data: Dataset, name: str | None) -> Scores:
    """The one kind of human scores of segments, or the one of that name."""
    if not data.human:
        raise MissingInput("human", "boosting is tuned on human scores of segments")
    fitting = [
        scores
        for key, scores in data.human.items()
        if scores.granularity == "segment" and name in (None, key, scores.name)
    ]
    if len(fitting) != 1:
        known = ", ".join(f"{scores.name} ({scores.granularity})" for scores in data.human.values())
        raise MissingInput(
            "human",
            "boosting is tuned on one kind of human scores of segments, but there are " + known,
        )
    return fitting[0]


FEWEST = 4
"""A correlation, and a test of two, need so many segments; tuning needs two halves of them."""


@dataclass(frozen=True, eq=False)
class RatedSegments:
    """Segments with human scores; `items` tells which are of the same source segment."""

    dataset: str
    pair: str
    segments: Sequence[Segment]
    human: Array
    items: NDArray[np.intp]

    @classmethod
    def of(cls, dataset: Dataset, scores: Scores) -> RatedSegments:
        """The segments of all systems that have a human score."""
        if scores.granularity != "segment":
            raise DataError(
                f"{scores.name}: boosting is tuned on scores of segments, not of "
                f"{scores.granularity}s."
            )
        human = np.concatenate([scores.of(system) for system in dataset.systems])
        items = np.tile(np.arange(len(dataset)), len(dataset.systems))
        rated = np.flatnonzero(np.isfinite(human))
        if len(rated) < 2 * FEWEST:
            raise DataError(
                f"{scores.name}: {len(rated)} segments have a human score; tuning needs at least "
                f"{2 * FEWEST}."
            )
        segments = dataset.all_segments()
        pair = "-".join(dataset.languages or ())
        return cls(
            dataset.name, pair, [segments[at] for at in rated.tolist()], human[rated], items[rated]
        )


class BoostSetting(NamedTuple):
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

    setting: BoostSetting
    explained: ExplainedScores
    human: Array
    items: NDArray[np.intp]
    unknown: int = 0

    def __len__(self) -> int:
        return len(self.human)

    def chosen(self, keep: NDArray[np.bool_]) -> Evidence:
        """Some of the segments."""
        return Evidence(
            self.setting, self.explained.chosen(keep), self.human[keep], self.items[keep]
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
    rated: RatedSegments,
    metric: Metric,
    explainer: Explainer,
    *,
    sides: Sides = "both",
    seed: int,
    track: Track = untracked,
) -> Evidence:
    """Score and explain segments that people have scored."""
    setting = BoostSetting(rated.dataset, rated.pair, str(metric), str(explainer))
    explained = explained_by(explainer, metric, rated.segments, sides=sides, seed=seed, track=track)
    known = np.isfinite(explained.base + explained.importances.reduced(np.add))
    if known.sum() < 2 * FEWEST:
        raise DataError(
            f"{metric} with {explainer}: {int(known.sum())} of {len(known)} segments can be scored "
            f"and explained; tuning needs at least {2 * FEWEST}."
        )
    unknown = int((~known).sum())
    return Evidence(
        setting, explained.chosen(known), rated.human[known], rated.items[known], unknown
    )


WEIGHTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
POWERS = np.arange(-300, 301) / 10
"""The grid of Leiter et al. (2022)."""

SLACK = 1e-9
"""Correlations that differ by less are the same."""

SwapTest: TypeAlias = Callable[[Array, Array, Array], float]
"""The two-sided p of the first and second scores agreeing differently with the third.

All are (outputs, items): what belongs to one source segment stands in one column.
"""


class GridPoint(NamedTuple):
    """A weight and power, and the correlation with people there."""

    w: float
    p: float
    pearson: float


class HeldOut(NamedTuple):
    """A weight and power found elsewhere, tried on segments that had no part in finding them.

    `significance` is the two-sided p of the difference between boosted and base metric.
    """

    setting: BoostSetting
    n: int
    w: float
    p: float
    pearson: float
    base: float
    significance: float


@dataclass(frozen=True, eq=False)
class Tuned:
    """The correlation with people over the whole grid, (weights, powers), in one setting.

    `held_out` is what the best of one half of the segments does on the other; None where there
    are too few. `collapsed` is the share of segments whose explanation is next to nothing at
    p = -1.
    """

    evidence: Evidence
    regular: Regular
    grid: Array
    best: GridPoint
    held_out: HeldOut | None
    collapsed: float

    @property
    def setting(self) -> BoostSetting:
        """What was boosted, by what, and where."""
        return self.evidence.setting

    @property
    def base(self) -> float:
        """The correlation of the metric as it is."""
        return float(pearson_rows(self.evidence.explained.base, self.evidence.human))

    def at(self, at: WeightAndPower) -> float:
        """The correlation at any weight and power."""
        boosted = self.evidence.explained.boosted(at, self.regular)
        return float(pearson_rows(boosted, self.evidence.human))


def tune_setting(
    evidence: Evidence, *, regular: Regular = "paper", test: SwapTest, rng: np.random.Generator
) -> Tuned:
    """Try the whole grid; and on one half of the segments what was best on the other.

    `test` compares the boosted with the base metric, as `pearson_swap_test` does.
    """
    explained = evidence.explained
    grid = correlations(explained, evidence.human, regular)
    first = halves(evidence.items, rng=rng)
    return Tuned(
        evidence=evidence,
        regular=regular,
        grid=grid,
        best=best_of(grid),
        held_out=_on_the_other_half(evidence, first, regular, test),
        collapsed=explained.collapsed(-1.0, regular),
    )


def tried(
    evidence: Evidence, at: WeightAndPower, *, regular: Regular = "paper", test: SwapTest
) -> HeldOut:
    """A weight and power on segments that had no part in finding them."""
    base, human = evidence.explained.base, evidence.human
    boosted = evidence.explained.boosted(at, regular)
    after, before = (float(pearson_rows(scores, human)) for scores in (boosted, base))
    significance = test(*map(evidence.by_item, (boosted, base, human)))
    return HeldOut(evidence.setting, len(human), at.w, at.p, after, before, significance)


def correlations(explained: ExplainedScores, human: Array, regular: Regular = "paper") -> Array:
    """Pearson's r of people and the boosted metric over the whole grid, (weights, powers)."""
    explanations = explained.explanations(POWERS, regular)
    rows = [pearson_rows(combined(explained.base, explanations, w), human) for w in WEIGHTS]
    return np.array(rows)


def best_of(grid: Array) -> GridPoint:
    """The point of the grid that agrees best with people.

    Where several are equal, the one that changes the metric least: the greatest weight, then the
    power nearest to the plain mean. Where nothing helps, the weight is therefore 1.
    """
    if np.isnan(grid).all():
        return GridPoint(1.0, 1.0, math.nan)
    weights, powers = np.nonzero(grid >= np.nanmax(grid) - SLACK)
    greatest = weights.max()
    column = min(powers[weights == greatest], key=lambda at: abs(float(POWERS[at]) - 1))
    return GridPoint(WEIGHTS[greatest], float(POWERS[column]), float(grid[greatest, column]))


def halves(items: NDArray[np.intp], *, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which segments are in the first half; those of the same source segment stay together."""
    distinct = np.unique(items)
    chosen = rng.permutation(distinct)[: len(distinct) // 2]
    return np.asarray(np.isin(items, chosen))


def _on_the_other_half(
    evidence: Evidence, first: NDArray[np.bool_], regular: Regular, test: SwapTest
) -> HeldOut | None:
    if min(first.sum(), (~first).sum()) < FEWEST:
        return None
    half = evidence.chosen(first)
    best = best_of(correlations(half.explained, half.human, regular))
    at = WeightAndPower(best.w, best.p)
    return tried(evidence.chosen(~first), at, regular=regular, test=test)
