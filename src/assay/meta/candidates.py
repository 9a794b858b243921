"""The scores of metrics at the level of people's: computed from text, or from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from assay.data import DataError, Dataset
from assay.meta.gold import gold_at
from assay.meta.panel import Candidate
from assay.metrics.base import Array, Metric, Statistics, reference_count
from assay.metrics.mean import Mean
from assay.registry import parse
from assay.scores import Level, Scores
from assay.scoring import labels, system_statistics
from assay.weights import groups

__all__ = ["computed", "given", "lower_is_better", "signatures"]


def computed(
    dataset: Dataset,
    metrics: Sequence[Metric],
    statistics: Sequence[Sequence[Statistics]] | None = None,
    *,
    level: Level,
) -> list[Candidate]:
    """Every metric's scores of the systems' texts, documents or segments.

    `statistics`, per metric and system, saves counting again for a second level.
    """
    counted = statistics or [system_statistics(dataset, metric) for metric in metrics]
    signed = signatures(dataset, metrics)
    return [
        Candidate(
            name=metric.requested,
            title=title,
            scores=np.array([_at_level(each, dataset, level) for each in own]),
            lower=not metric.higher_is_better,
            statistics=tuple(own),
            signature=signature,
        )
        for metric, title, own, signature in zip(
            metrics, labels(metrics), counted, signed, strict=True
        )
    ]


def signatures(dataset: Dataset, metrics: Sequence[Metric]) -> list[str]:
    """How each metric is computed, and from how many references."""
    count = reference_count(dataset.references)
    return [
        f"{metric.title}|{metric.signature(count if metric.needs_references else None)}"
        for metric in metrics
    ]


def given(
    scores: Scores, dataset: Dataset, *, level: Level, lower: Sequence[str] = ()
) -> Candidate:
    """A metric's scores from a file; those of segments are averaged where need be."""
    fitting = gold_at(scores, level, dataset.documents)
    if fitting is None:
        raise DataError(
            f"{scores.name}: scores of {scores.level}s cannot be compared at {level} level. "
            "Scores of segments fit every level."
        )
    turned = scores.name in lower or lower_is_better(scores.name, fitting.values)
    segments = scores.values if scores.level == "segment" else ()
    statistics = tuple(Mean(scores.name).of(each) for each in segments)
    return Candidate(scores.name, scores.name, fitting.values, turned, statistics)


def lower_is_better(name: str, values: Array) -> bool:
    """Whether a metric of that name counts errors; not where they are negative already.

    >>> lower_is_better("TER-refA", np.array([[42.0]]))
    True
    """
    if (values < 0).any():
        return False
    try:
        return not parse(re.split(r"[-_. ]", name.lower())[0]).higher_is_better
    except DataError:
        return False


def _at_level(statistics: Statistics, dataset: Dataset, level: Level) -> Array:
    if level == "system":
        return np.array([statistics.corpus()])
    if level == "segment":
        return statistics.segments()
    if not dataset.documents:
        raise DataError("document level needs document ids: give them with --docs FILE.")
    return statistics.score(groups(dataset.documents).weights)
