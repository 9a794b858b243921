"""`tune`: the weight and power with which boosted metrics agree best with people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from assay.data import Dataset, MissingInput, Scores, without_humans
from assay.explanation.explainers import EXPLAINERS, Explainer
from assay.explanation.importances import Sides, sides_of
from assay.explanation.powermean import Regular
from assay.explanation.tuning import Evidence, RatedSegments, gather, tune_setting
from assay.explanation.tuning_report import TuneResult, try_medians
from assay.metrics.base import Metric
from assay.metrics.registry import select_metrics
from assay.progress import Track, untracked
from assay.settings import SEED
from assay.statistics.arrays import Array
from assay.statistics.correlation import pearson_swap_test

__all__ = ["EXPLAINED_BY", "tune"]

EXPLAINED_BY = ("erasure", "lime", "shap")
"""The explainers that are tried where none is named."""


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
