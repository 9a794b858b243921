"""Sensitivity by quality as in Figures 3 and 4; agreement by k and by size; slopes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite, isnan
from typing import Any

import numpy as np

from assay.agreement.sensitivity.analysis import SensitivityFinding, SensitivityOptions
from assay.agreement.sensitivity.report import (
    BEST,
    SENSITIVITY,
    SIZES,
    SLOPE,
    titled,
)
from assay.agreement.sensitivity.stages import CorrelationEstimate
from assay.agreement.sensitivity.study import Study, text_scores
from assay.plots import line_chart, scatter
from assay.results import Chart, Record

__all__ = ["charts"]

MOST = 6
"""Of more systems than this, the flattest and the steepest slopes are drawn."""


def charts(
    study: Study, options: SensitivityOptions, findings: Sequence[SensitivityFinding]
) -> list[Chart]:
    """One picture per metric of sensitivity by quality, and one per further question."""
    after = titled(SENSITIVITY, study)
    drawn = [replace(_figure(study, options, finding), after=after) for finding in findings]
    if options.best and findings:
        last = titled(f"{BEST}: {findings[-1].stages.candidate.title}", study)
        drawn.append(replace(_best(study, options, findings), after=last))
    if options.sizes is not None:
        drawn.append(replace(_sizes(study, options, findings), after=titled(SIZES, study)))
    if options.slope:
        last = f"{SLOPE} against {options.slope}"
        drawn += [replace(_slopes(study, options, finding), after=last) for finding in findings]
    return drawn


def _figure(study: Study, options: SensitivityOptions, finding: SensitivityFinding) -> Chart:
    stages, human = finding.stages, study.human
    title, second = stages.candidate.title, stages.dependence
    known = [
        (name, quality, estimate)
        for name, quality, estimate in zip(
            study.systems, human.quality, stages.sensitivity, strict=True
        )
        if isfinite(quality) and isfinite(estimate.value)
    ]
    records = [
        {"system": name, "quality": quality, "sensitivity": estimate.value}
        for name, quality, estimate in known
    ]
    chart = scatter(
        f"{title}: sensitivity by quality ({human.name})",
        records,
        "quality",
        "sensitivity",
        "system",
        x_title=f"quality ({human.name})",
        y_title=f"sensitivity of {title}",
        note=f"{options.coefficient.title} over {study.texts.kind}s; bars: 95% intervals. Over "
        f"systems: about {_told(second)}.",
    )
    return _with_bars(chart, [(estimate.low, estimate.high) for *_, estimate in known])


def _told(estimate: CorrelationEstimate) -> str:
    """An estimate in words: 0.31 [0.12, 0.47]."""
    value, low, high = estimate.value, estimate.low, estimate.high
    if isnan(value):
        return "unknown"
    return f"{value:.2f}" if isnan(low) else f"{value:.2f} [{low:.2f}, {high:.2f}]"


def _with_bars(chart: Chart, ends: Sequence[tuple[float, float]]) -> Chart:
    """The picture with a vertical bar through every point."""
    spec: dict[str, Any] = dict(chart.spec)
    values = [
        record | {"low": _finite(low), "high": _finite(high)}
        for record, (low, high) in zip(spec["data"]["values"], ends, strict=True)
    ]
    up = spec["encoding"]["y"]
    rule = {
        "mark": {"type": "rule", "strokeWidth": 1.2, "opacity": 0.6},
        "encoding": {"y": up | {"field": "low"}, "y2": {"field": "high"}},
    }
    fields = spec["usermeta"]["fields"] | {"low": "low", "high": "high"}
    spec |= {"data": {"values": values}, "layer": [rule, *spec["layer"]]}
    return replace(chart, spec=spec | {"usermeta": {"fields": fields}})


def _best(
    study: Study, options: SensitivityOptions, findings: Sequence[SensitivityFinding]
) -> Chart:
    records: list[Record] = [
        {"metric": finding.stages.candidate.title, "k": best.k, "agreement": best.agreement.value}
        for finding in findings
        for best in finding.best
    ]
    return line_chart(
        f"Agreement among the best k systems ({study.human.name})",
        records,
        "k",
        "agreement",
        "metric",
        x_title="k best systems",
        y_title=options.coefficient.title,
    )


def _sizes(
    study: Study, options: SensitivityOptions, findings: Sequence[SensitivityFinding]
) -> Chart:
    records: list[Record] = [
        {"metric": finding.stages.candidate.title, "agreement": size.value, **size._asdict()}
        for finding in findings
        for size in finding.sizes
    ]
    return line_chart(
        f"Agreement by size of text ({study.human.name})",
        records,
        "words",
        "agreement",
        "metric",
        x_title="words",
        y_title=options.coefficient.title,
        log_x=True,
        band=("low", "high"),
        note=f"The median over random {study.texts.kind}s, and where 95% lie.",
    )


def _slopes(study: Study, options: SensitivityOptions, finding: SensitivityFinding) -> Chart:
    """Texts by the reference system's score and by others'."""
    title, reference = finding.stages.candidate.title, str(options.slope)
    scores = text_scores(finding.stages.candidate, study.texts)
    hard = scores[study.systems.index(reference)]
    order = sorted(
        (slope for slope in finding.slopes if isfinite(slope.slope)), key=lambda slope: slope.slope
    )
    chosen = order if len(order) <= MOST else [*order[: MOST // 2], *order[-MOST // 2 :]]
    records: list[Record] = [
        {"text": name, "system": slope.system, reference: hard[at], "score": own[at]}
        for slope in chosen
        for own in [scores[study.systems.index(slope.system)]]
        for at, name in enumerate(study.texts.names)
        if np.isfinite(hard[at] + own[at])
    ]
    return scatter(
        f"{title} of {study.texts.kind}s against {reference}",
        records,
        reference,
        "score",
        "text",
        x_title=f"{title} of {reference}",
        y_title=f"{title} of other systems",
        series="system",
        note="The flattest and the steepest slopes." if len(order) > MOST else "",
    )


def _finite(value: float) -> float | None:
    return float(value) if isfinite(value) else None
