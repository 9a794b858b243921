"""Observations of the usual kinds: a metric's score of a system, a share of segments or items."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import Dataset
from assay.metrics.base import Metric, Statistics, reference_count
from assay.metrics.mean import Mean
from assay.statistics.intervals import interval
from assay.statistics.proportions import wilson
from assay.store.results import ResultStore
from assay.store.runs import Observation

__all__ = [
    "Estimate",
    "estimate",
    "observe_metric",
    "observe_sums",
    "share_estimate",
    "slice_signature",
]


class Estimate(NamedTuple):
    """A figure with its interval, the method behind that, and how many items it is of."""

    value: float
    low: float
    high: float
    n: int
    interval: str


def estimate(statistics: Statistics, *, level: float) -> Estimate:
    """The score of all segments, with a jackknife interval: it needs no resamples."""
    value, count = statistics.corpus(), len(statistics)
    without = statistics.without_each() if count > 1 else np.zeros(count)
    low, high, _ = interval(
        value,
        np.zeros(0),
        level=level,
        method="jackknife",
        jackknife=without,
        bounds=statistics.metric.bounds,
    )
    return Estimate(value, low, high, count, "jackknife")


def share_estimate(part: float, whole: float, *, level: float) -> Estimate:
    """A share in percent, with Wilson's interval."""
    low, high = wilson(part, whole, level=level)
    value = 100 * (part / whole) if whole else np.nan
    return Estimate(value, 100 * float(low), 100 * float(high), int(whole), "wilson")


def slice_signature(signature: str, segments: NDArray[np.intp]) -> str:
    """The signature with the segments of the slice: of other segments, it is another figure."""
    digest = hashlib.sha256(np.asarray(segments, np.int64).tobytes()).hexdigest()
    return f"{signature}|segments:{digest[:12]}"


def observe_metric(
    store: ResultStore,
    dataset: Dataset,
    metric: Metric,
    system: str,
    figure: Estimate,
    *,
    level: float,
    role: str = "",
) -> Observation:
    """A metric's score of a system on the whole test set."""
    references = reference_count(dataset.references) if metric.needs_references else None
    given = isinstance(metric, Mean)
    return Observation(
        system=system,
        kind="metric",
        name=metric.title,
        metric=metric.title if given else metric.requested,
        signature=f"{metric.title}|{metric.signature(references)}",
        value=figure.value,
        low=figure.low,
        high=figure.high,
        n=figure.n,
        interval=figure.interval,
        level=level,
        higher=metric.higher_is_better,
        finer=metric.is_small,
        resolved="" if given else str(metric),
        rows="" if given else store.key(dataset, metric, system),
        role=role,
    )


def observe_sums(
    metric: Metric, signature: str, system: str, value: float, segments: int
) -> Observation:
    """A metric's score of a corpus of which there are sums alone: an interval needs its rows."""
    return Observation(
        system=system,
        kind="metric",
        name=metric.title,
        metric=metric.requested,
        signature=signature,
        value=value,
        low=np.nan,
        high=np.nan,
        n=segments,
        higher=metric.higher_is_better,
        finer=metric.is_small,
        resolved=str(metric),
    )
