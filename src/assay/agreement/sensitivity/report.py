"""The two stages and what was asked besides as tables and charts, and how far to trust them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite, isnan
from typing import Any

import numpy as np

from assay.agreement.panel import outliers
from assay.agreement.sensitivity.analysis import SensitivityFinding, SensitivityOptions
from assay.agreement.sensitivity.stages import DRAWS, CorrelationEstimate, difference, reached
from assay.agreement.sensitivity.study import Study, text_scores
from assay.plots import line_chart, scatter
from assay.results import Cell, CellValue, Chart, Column, Columns, Record, Table
from assay.statistics.correlation import means, pearson_rows

__all__ = [
    "BEST",
    "SENSITIVITY",
    "SIZES",
    "SLOPE",
    "STAGES",
    "about",
    "charts",
    "further_tables",
    "tables",
    "titled",
]


STAGES = "Does sensitivity depend on quality?"
SENSITIVITY = "Sensitivity of each system"
BEST = "Agreement among the best systems"
SIZES = "Agreement by size of text"
SLOPE = "Difficulty slope"


def titled(title: str, study: Study) -> str:
    """The title with the kind of human score."""
    return f"{title} ({study.human.name})"


def about(low: float, high: float) -> list[CellValue]:
    """Both ends of an interval that is only approximate, and marked so."""
    return [None if isnan(end) else Cell(end, approximate=True) for end in (low, high)]


def _estimate(value: float, low: float, high: float) -> Cell | None:
    """A value with its interval; None where there is no value."""
    return None if isnan(value) else Cell(value, low, high)


def further_tables(
    study: Study, options: SensitivityOptions, findings: Sequence[SensitivityFinding]
) -> list[Table]:
    """The tables of what was asked; none where nothing was."""
    asked = [_best(study, finding) for finding in findings] if options.best else []
    if options.sizes is not None:
        asked += [_sizes(study, findings), _reached(options, findings)]
    return asked + ([_slopes(options, findings)] if options.slope else [])


def _best(study: Study, finding: SensitivityFinding) -> Table:
    rows: list[list[CellValue]] = []
    for best in finding.best:
        agreement, drawn = best.agreement, (best.typical, best.random_low, best.random_high)
        ends = about(agreement.low, agreement.high)
        rows.append([best.k, best.last, agreement.value, *ends, agreement.p, *drawn])
    note = (
        "The correlation at system level among the k systems that people like best; ~: the 95% "
        f"interval over resampled {study.texts.kind}s, only approximate and rather too low, since "
        f"resamples add noise. any k: the median of k systems drawn at "
        "random, and where 95% lie. A value within these says nothing about good systems, any k "
        "would do; below them, mind that the best also lie closer together."
    )
    if tests := dict.fromkeys(best.agreement.test for best in finding.best if best.agreement.test):
        note += f" Two-sided p from {' or '.join(tests)}."
    columns: Columns = (
        *("k", "down to"),
        *(Column(name, digits=3) for name in ("value", "low", "high")),
        Column("p", style="p"),
        *(Column(name, digits=3) for name in ("any k", "any k low", "any k high")),
    )
    title = titled(f"{BEST}: {finding.stages.candidate.title}", study)
    return Table(title, columns, rows, note)


def _sizes(study: Study, findings: Sequence[SensitivityFinding]) -> Table:
    rows: list[list[CellValue]] = [
        [
            steps[0].words,
            round(steps[0].texts, 1),
            *(_estimate(step.value, step.low, step.high) for step in steps),
        ]
        for steps in zip(*(finding.sizes for finding in findings), strict=True)
    ]
    titles = [finding.stages.candidate.title for finding in findings]
    note = (
        f"The correlation at system level of a metric that sees random {study.texts.kind}s with so "
        "many words in the reference, with what people say of all of them: the median of "
        f"{DRAWS} draws, and where 95% of them lie."
    )
    columns: Columns = (
        Column("words"),
        Column(f"{study.texts.kind}s", digits=1),
        *(Column(title, digits=2, style="estimate") for title in titles),
    )
    return Table(titled(SIZES, study), columns, rows, note, keys=1)


def _reached(options: SensitivityOptions, findings: Sequence[SensitivityFinding]) -> Table:
    rows: list[list[CellValue]] = []
    for finding in findings:
        sizes = reached(finding.sizes, options.reach)
        whole = finding.sizes[-1].value
        rows.append([finding.stages.candidate.title, sizes.half, sizes.most, whole])
    return Table(
        f"Words until a metric's ranking agrees with people's, {options.reach:g} and more",
        (
            "metric",
            *(Column(f"in {share} of the draws") for share in ("half", "95%")),
            Column("all words", digits=3),
        ),
        rows,
        "The first size from which on the agreement is so high, and stays so; empty where it "
        "never is.",
    )


def _slopes(options: SensitivityOptions, findings: Sequence[SensitivityFinding]) -> Table:
    rows: list[list[CellValue]] = []
    notes = [
        "The slope of a system's scores of whole texts by the reference system's; ~: BCa 95% "
        "intervals, only approximate (they hold about 90%). 1: it gains and loses as the reference "
        "does; more: it loses more where that finds texts hard. Noise in the reference's scores "
        "draws all slopes towards 0.",
    ]
    for finding in findings:
        title = finding.stages.candidate.title
        for slope in finding.slopes:
            figures = slope.slope, *about(slope.low, slope.high), slope.intercept, slope.r, slope.n
            rows.append([title, slope.system, *figures])
        for reason in dict.fromkeys(slope.reason for slope in finding.slopes if slope.reason):
            notes.append(f"{title}: {reason}.")
    columns: Columns = (
        *("metric", "system"),
        *(Column(name, digits=3) for name in ("slope", "low", "high")),
        Column("intercept"),
        Column("r", digits=3),
        Column("n"),
    )
    title = f"{SLOPE} against {options.slope}"
    return Table(title, columns, rows, "\n".join(notes))


FEW = 10
"""With fewer systems than this the second stage says little, whatever it says."""


def tables(
    study: Study, options: SensitivityOptions, findings: Sequence[SensitivityFinding]
) -> list[Table]:
    """Table 1 with intervals, the systems, the metrics against each other, and what was asked."""
    shown = [_stages(study, options, findings), _systems(study, options, findings)]
    if len(findings) > 1:
        shown.append(_differences(options, findings))
    return shown + further_tables(study, options, findings)


def _stages(
    study: Study, options: SensitivityOptions, findings: Sequence[SensitivityFinding]
) -> Table:
    rows: list[list[CellValue]] = []
    for finding in findings:
        stages, title = finding.stages, finding.stages.candidate.title
        second, given = stages.dependence, stages.given_spread
        rows += [
            [title, "system", *_cells(stages.agreement), None],
            [title, "sensitivity", *_cells(second), second.tendency],
            [
                title,
                "given spread",
                given.value,
                *about(given.low, given.high),
                None,
                given.n,
                given.tendency,
            ],
        ]
        if (some := stages.without_outliers) is not None:
            rows.append([title, "without outliers", some.value, None, None, some.p, some.n, None])
    columns: Columns = (
        *("metric", "correlation"),
        *(Column(name, digits=3) for name in ("value", "low", "high")),
        Column("p", style="p"),
        Column("n"),
        "as quality rises",
    )
    note = "\n".join(_stage_notes(study, options, findings))
    return Table(titled(STAGES, study), columns, rows, note, keys=2)


def _cells(estimate: CorrelationEstimate) -> list[CellValue]:
    return [estimate.value, *about(estimate.low, estimate.high), estimate.p, estimate.n]


def _stage_notes(
    study: Study, options: SensitivityOptions, findings: Sequence[SensitivityFinding]
) -> list[str]:
    quality = study.human.quality
    rated = int((~np.isnan(quality)).sum())
    lines = [
        "system: the metric's scores of systems with people's. sensitivity: the correlation over "
        f"{study.texts.kind}s, of each system, with the quality of the systems ({rated}); below 0 "
        "the metric tells less where systems are better.",
        f"{options.coefficient.title}; ~: 95% intervals by Fisher's z, for other systems on as "
        f"many {study.texts.kind}s. They leave out 0 by chance in 5% of cases, but are only "
        "approximate where there is a correlation: too narrow where a few systems make it.",
        "given spread: the same among systems whose human scores vary alike over "
        f"{study.texts.kind}s (partial correlation).",
        *_tests(findings),
    ]
    far = [name for name, is_far in zip(study.systems, outliers(quality), strict=True) if is_far]
    if far:
        lines.append(
            f"without outliers: the same without {', '.join(far)}, whose quality is far from that "
            "of most systems (2.5 robust deviations): a few such systems can make a correlation."
        )
    if rated < FEW:
        lines.append(
            f"With {rated} systems nothing can be concluded from the second stage alone: "
            "correlations of so few points are large by chance."
        )
    lines += [
        f"{finding.stages.candidate.title}: less is better; its sign is turned."
        for finding in findings
        if finding.stages.candidate.lower
    ]
    for finding in findings:
        for name, estimate in (
            ("system", finding.stages.agreement),
            ("sensitivity", finding.stages.dependence),
            ("given spread", finding.stages.given_spread),
        ):
            if estimate.reason:
                lines.append(f"{finding.stages.candidate.title}, {name}: none, {estimate.reason}.")
    return [*lines, *study.notes]


def _tests(findings: Sequence[SensitivityFinding]) -> list[str]:
    """Where the p of correlations over systems come from."""
    stages = [finding.stages for finding in findings]
    tests = [
        estimate.test
        for one in stages
        for estimate in (one.agreement, one.dependence)
        if estimate.test
    ]
    told = " or ".join(dict.fromkeys(tests))
    return [f"Two-sided p from {told}."] if told else []


def _systems(
    study: Study, options: SensitivityOptions, findings: Sequence[SensitivityFinding]
) -> Table:
    human, order = study.human, _order(study)
    counts = (~np.isnan(human.scores)).sum(axis=1)
    rows: list[list[CellValue]] = [
        [
            study.systems[at],
            float(human.quality[at]),
            int(counts[at]),
            float(human.spread[at]),
            *(_sensitivity(finding, at) for finding in findings),
        ]
        for at in order
    ]
    averages = [_mean([one.value for one in finding.stages.sensitivity]) for finding in findings]
    rows.append(
        ["mean", None, None, None, *(None if isnan(average) else average for average in averages)]
    )
    titles = [finding.stages.candidate.title for finding in findings]
    columns: Columns = (
        "system",
        Column("quality", digits=3),
        Column(f"{study.texts.kind}s"),
        Column("spread", digits=3),
        *(Column(title, digits=2, style="estimate") for title in titles),
    )
    notes = [
        f"{options.coefficient.title} over {study.texts.kind}s of the metric's score of what "
        f"people rated with the mean of their scores; BCa 95% intervals in brackets, from "
        f"{options.resamples:,} resamples of {study.texts.kind}s. spread: the standard "
        f"deviation of people's scores over {study.texts.kind}s.",
        *_spread_note(study),
        *_reasons(study, findings),
    ]
    shaded = frozenset([len(rows) - 1])
    title = titled(SENSITIVITY, study)
    return Table(title, columns, rows, "\n".join(notes), shaded=shaded, keys=1)


def _sensitivity(finding: SensitivityFinding, at: int) -> Cell | None:
    estimate = finding.stages.sensitivity[at]
    return _estimate(estimate.value, estimate.low, estimate.high)


def _order(study: Study) -> list[int]:
    """The best system first, those without a human score last."""
    quality = study.human.quality
    return sorted(range(len(quality)), key=lambda at: (isnan(quality[at]), -quality[at]))


def _spread_note(study: Study) -> list[str]:
    spread, quality = study.human.spread, study.human.quality
    if (~np.isnan(spread + quality)).sum() < 3:
        return []
    r = float(pearson_rows(spread, quality))
    if isnan(r):
        return []
    return [
        f"The spread itself has r = {r:.2f} with quality: where people's scores vary less, every "
        "metric's correlation with them is lower, whatever the metric can do."
    ]


def _reasons(study: Study, findings: Sequence[SensitivityFinding]) -> list[str]:
    """Why some systems have no sensitivity, systems with the same reason together."""
    systems: dict[tuple[str, str], list[str]] = {}
    for finding in findings:
        for name, estimate in zip(study.systems, finding.stages.sensitivity, strict=True):
            if estimate.reason:
                key = finding.stages.candidate.title, estimate.reason
                systems.setdefault(key, []).append(name)
    metrics: dict[tuple[str, str], list[str]] = {}
    for (title, reason), names in systems.items():
        metrics.setdefault((", ".join(names), reason), []).append(title)
    return [
        f"{names}: no sensitivity of {', '.join(titles)}, {reason}."
        for (names, reason), titles in metrics.items()
    ]


def _differences(options: SensitivityOptions, findings: Sequence[SensitivityFinding]) -> Table:
    first, *others = findings
    rows: list[list[CellValue]] = []
    for other in others:
        estimate = difference(other.stages, first.stages, options.coefficient)
        told = (
            None
            if isnan(estimate.low)
            else "yes"
            if estimate.low > 0 or estimate.high < 0
            else "no"
        )
        rows.append(
            [
                other.stages.candidate.title,
                estimate.value,
                *about(estimate.low, estimate.high),
                told,
            ]
        )
    title = first.stages.candidate.title
    return Table(
        f"Does sensitivity depend on quality otherwise than that of {title}?",
        ("metric", *(Column(name, digits=3) for name in ("difference", "low", "high")), "differs"),
        rows,
        f"The second stage of each metric less that of {title}, with 95% intervals for two "
        "correlations that share a variable (Zou, 2007); ~: approximate, rather too wide for few "
        "systems; not corrected for the number of metrics.",
    )


def _mean(values: Sequence[float]) -> float:
    return float(means(np.array(values)))


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
        drawn.append(replace(_best_chart(study, options, findings), after=last))
    if options.sizes is not None:
        drawn.append(replace(_size_chart(study, options, findings), after=titled(SIZES, study)))
    if options.slope:
        last = f"{SLOPE} against {options.slope}"
        drawn += [
            replace(_slope_chart(study, options, finding), after=last) for finding in findings
        ]
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


def _best_chart(
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


def _size_chart(
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


def _slope_chart(study: Study, options: SensitivityOptions, finding: SensitivityFinding) -> Chart:
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
