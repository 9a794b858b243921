"""Agreement with people as pictures: metrics by pairs, and metrics against people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from assay.agreement.correlate import PanelCorrelation
from assay.agreement.panel import Candidate, Panel
from assay.agreement.report import findings_by_coefficient, matrix
from assay.metrics.base import Statistics
from assay.plots import heat_map, scatter
from assay.results import Chart, Record
from assay.statistics.arrays import Array
from assay.statistics.correlation import means
from assay.statistics.significance import confidence

__all__ = ["charts"]

PANELS = 4
"""Of more panels than this there are maps only."""

RESAMPLES = 1000
DEVIATIONS = 1.96
"""So many standard errors on either side make an interval of 95%."""

ROUNDED = 0.1
"""A score that is so near to a mean, in half-widths of its interval, is that mean."""


def charts(findings: Sequence[PanelCorrelation], *, seed: int) -> list[Chart]:
    """A map of metrics by pairs where there are several, and each metric against people."""
    drawn = [_map(group) for group in findings_by_coefficient(findings) if len(group) > 1]
    panels = list({id(finding.panel): finding.panel for finding in findings}.values())
    if len(panels) <= PANELS:
        drawn += [
            _scatter(panel, candidate, seed)
            for panel in panels
            if len(panel.systems) > 1
            for candidate in panel.candidates
        ]
    return drawn


def _map(findings: Sequence[PanelCorrelation]) -> Chart:
    titles, values, _ = matrix(findings)
    name = findings[0].coefficient.label
    records = [
        {"pair": finding.panel.pair, "metric": title, name: values[row, column]}
        for column, title in enumerate(titles)
        for row, finding in enumerate(findings)
    ]
    panel = findings[0].panel
    title = f"{name} with {panel.human_name}, {panel.granularity} level: metrics by pairs"
    negative = bool((np.where(np.isnan(values), 0.0, values) < 0).any())
    return heat_map(title, records, "pair", "metric", name, diverging=negative)


def _scatter(panel: Panel, candidate: Candidate, seed: int) -> Chart:
    """Each system's score against people's, with intervals where segments are known."""
    human, own = panel.human_of_systems(), candidate.of_systems()
    records: list[Record] = [
        {"system": name, "human": human[at], "score": own[at]}
        for at, name in enumerate(panel.systems)
    ]
    bars: dict[str, Array] = {}
    ratings = panel.ratings if panel.granularity == "system" else panel.human
    limits = None if ratings is None else _human_limits(human, ratings)
    if limits is not None:
        bars["human low"], bars["human high"] = limits
    if candidate.statistics:
        bars["low"], bars["high"] = _metric_limits(candidate.statistics, seed)
    notes = ["One point per system."]
    if bars:
        apart = panel.granularity == "document" and limits is not None
        over = "segments, people's over documents" if apart else "segments"
        notes.append(f"Bars: 95% intervals over {over}.")
    if ratings is not None and limits is None:
        notes.append(
            f"None for {panel.human_name}: its scores of systems are not the means of those of "
            "segments."
        )
    where = f"{panel.pair}, " * bool(panel.pair)
    direction = ", less is better" * candidate.lower
    chart = scatter(
        f"{where}{panel.granularity} level: {candidate.title} against {panel.human_name}",
        records,
        "human",
        "score",
        "system",
        x_title=panel.human_name,
        y_title=f"{candidate.title}{direction}",
        note=" ".join(notes),
    )
    return _with_bars(chart, bars)


def _human_limits(human: Array, ratings: Array) -> Array | None:
    """Both ends of the intervals of people's scores, from the spread over rated segments.

    None where people's scores are not the means of these ratings, but on another scale, say: raw
    ratings tell nothing of how far z-scores can be trusted.
    """
    known = ~np.isnan(ratings)
    count = known.sum(axis=1)
    mean = means(ratings)
    squares = np.where(known, (ratings - mean[:, None]) ** 2, 0.0).sum(axis=1)
    error = np.sqrt(squares / np.maximum(count - 1, 1) / np.maximum(count, 1))
    reach = np.where(count > 1, DEVIATIONS * error, np.nan)
    # Scores of systems may be rounded.
    if (np.abs(human - mean) > ROUNDED * reach).any() or not (count > 1).any():
        return None
    return np.stack([human - reach, human + reach])


def _metric_limits(statistics: Sequence[Statistics], seed: int) -> Array:
    """Both ends of the intervals of the metric's scores."""
    rng = np.random.default_rng(seed)
    ends = [confidence(system, resamples=RESAMPLES, rng=rng)[:2] for system in statistics]
    return np.array(ends).T


def _with_bars(chart: Chart, bars: dict[str, Array]) -> Chart:
    """The scatter plot with intervals drawn through its points, and named in its data."""
    names = {"human low": "x_low", "human high": "x_high", "low": "y_low", "high": "y_high"}
    spec: dict[str, Any] = dict(chart.spec)
    values = [
        record | {names[name]: _finite(ends[at]) for name, ends in bars.items()}
        for at, record in enumerate(spec["data"]["values"])
    ]
    rules = [
        _rule(spec["encoding"], axis)
        for axis, name in (("x", "human low"), ("y", "low"))
        if name in bars
    ]
    fields = spec["usermeta"]["fields"] | {names[name]: name for name in bars}
    spec |= {"data": {"values": values}, "layer": [*rules, *spec["layer"]]}
    return replace(chart, spec=spec | {"usermeta": {"fields": fields}})


def _rule(encoding: dict[str, Any], axis: str) -> dict[str, Any]:
    ends = {axis: encoding[axis] | {"field": f"{axis}_low"}, f"{axis}2": {"field": f"{axis}_high"}}
    return {"mark": {"type": "rule", "strokeWidth": 1.2, "opacity": 0.6}, "encoding": ends}


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
