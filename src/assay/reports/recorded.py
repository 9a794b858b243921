"""What `compare`, `report` and `check` leave in a store: scores, slices, faults and phenomena."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from assay.data import Dataset
from assay.metrics.base import Statistics
from assay.reports.probes import BinProbe, SegmentProbe, SumProbe
from assay.reports.scoreboard import Scoreboard
from assay.statistics.intervals import usual_method
from assay.store.observing import Estimate, estimate, observe_metric, slice_signature
from assay.store.results import ResultStore
from assay.store.runs import Observation, ObservationKind

__all__ = ["observe_board", "observe_probes", "observe_statistics"]

_Probe: TypeAlias = SegmentProbe | SumProbe | BinProbe

_KINDS: dict[str, ObservationKind] = {"fault": "fault", "phenomenon": "phenomenon"}
_BY_SYSTEMS = ("difficulty",)
"""Slices that are decided by all systems of a run: in another run they are other slices."""


def observe_board(
    store: ResultStore, data: Dataset, board: Scoreboard, *, level: float
) -> Iterator[Observation]:
    """The scores of all systems by all metrics, with the intervals of the scoreboard."""
    for standing in board.standings:
        n = standing.segments.shape[1]
        method = usual_method(standing.metric, n)
        for at, system in enumerate(board.systems):
            figure = Estimate(float(standing.scores[at]), *standing.intervals[at], n, method)
            yield observe_metric(store, data, standing.metric, system, figure, level=level)


def observe_statistics(
    store: ResultStore,
    data: Dataset,
    statistics: Iterable[Sequence[Statistics]],
    *,
    level: float,
    roles: Sequence[str],
) -> Iterator[Observation]:
    """The scores of all systems by all metrics, with jackknife intervals."""
    for of_metric in statistics:
        for system, own, role in zip(data.systems, of_metric, roles, strict=True):
            figure = estimate(own, level=level)
            yield observe_metric(store, data, own.metric, system, figure, level=level, role=role)


def observe_probes(
    systems: Iterable[str],
    probes: Iterable[_Probe],
    *,
    level: float,
    signature: str,
    roles: Sequence[str] | None = None,
) -> Iterator[Observation]:
    """The value of every system on every slice; `signature` is the metric's that scores segments.

    Slices that are decided by the systems themselves are left out.
    """
    names = list(systems)
    for probe in probes:
        if probe.kind in _BY_SYSTEMS:
            continue
        for at, system in enumerate(names):
            value, low, high, n, method = probe.estimate(at, level=level)
            yield Observation(
                system=system,
                kind=_KINDS.get(probe.kind, "slice"),
                name=probe.name,
                metric=probe.metric,
                signature=_signature(probe, signature),
                value=value,
                low=low,
                high=high,
                n=n,
                interval=method,
                level=level,
                unit=probe.unit,
                higher=probe.higher,
                finer=probe.finer,
                role=roles[at] if roles else "",
            )


def _signature(probe: _Probe, signature: str) -> str:
    if isinstance(probe, SegmentProbe):
        return slice_signature(signature, probe.segments)
    # As in `suite_report`: the items that are decided for every system.
    return f"{probe.metric}|policy:fair" if probe.kind == "phenomenon" else probe.metric
