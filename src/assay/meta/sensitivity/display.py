"""The two stages and what was asked besides as tables, and how far to trust them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan

import numpy as np

from assay.meta.grouping import means
from assay.meta.outliers import outliers
from assay.meta.sensitivity.finding import Finding
from assay.meta.sensitivity.further import further_tables
from assay.meta.sensitivity.naming import (
    SENSITIVITY,
    STAGES,
    about,
    one_cell,
    titled,
    with_interval,
)
from assay.meta.sensitivity.questions import SensitivityQuestions
from assay.meta.sensitivity.stages import Estimate, difference
from assay.meta.sensitivity.study import Study
from assay.moments import pearson_rows
from assay.results import Cell, PValue, Table

__all__ = ["tables"]

FEW = 10
"""With fewer systems than this the second stage says little, whatever it says."""


def tables(
    study: Study, questions: SensitivityQuestions, findings: Sequence[Finding]
) -> list[Table]:
    """Table 1 with intervals, the systems, the metrics against each other, and what was asked."""
    found = [_stages(study, questions, findings), _systems(study, questions, findings)]
    if len(findings) > 1:
        found.append(_differences(questions, findings))
    return found + further_tables(study, questions, findings)


def _stages(study: Study, questions: SensitivityQuestions, findings: Sequence[Finding]) -> Table:
    rows: list[list[Cell]] = []
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
            rows.append(
                [title, "without outliers", some.value, None, None, PValue(some.p), some.n, None]
            )
    columns = ("metric", "correlation", "value", "low", "high", "p", "n", "as quality rises")
    digits = {"value": 3}
    note = "\n".join(_stage_notes(study, questions, findings))
    return Table(titled(STAGES, study), columns, rows, note, digits, keys=2)


def _cells(each: Estimate) -> list[Cell]:
    return [each.value, *about(each.low, each.high), PValue(each.p), each.n]


def _stage_notes(
    study: Study, questions: SensitivityQuestions, findings: Sequence[Finding]
) -> list[str]:
    quality = study.people.quality
    rated = int((~np.isnan(quality)).sum())
    lines = [
        "system: the metric's scores of systems with people's. sensitivity: the correlation over "
        f"{study.texts.kind}s, of each system, with the quality of the systems ({rated}); below 0 "
        "the metric tells less where systems are better.",
        f"{questions.named.title}; ~: 95% intervals by Fisher's z, for other systems on as many "
        f"{study.texts.kind}s. They leave out 0 by chance in 5% of cases, but are only approximate "
        "where there is a correlation: too narrow where a few systems make it.",
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
        f"{each.stages.candidate.title}: less is better; its sign is turned."
        for each in findings
        if each.stages.candidate.lower
    ]
    for finding in findings:
        for name, each in (
            ("system", finding.stages.agreement),
            ("sensitivity", finding.stages.dependence),
            ("given spread", finding.stages.given_spread),
        ):
            if each.reason:
                lines.append(f"{finding.stages.candidate.title}, {name}: none, {each.reason}.")
    return [*lines, *study.notes]


def _tests(findings: Sequence[Finding]) -> list[str]:
    """Where the p of correlations over systems come from."""
    stages = [each.stages for each in findings]
    tests = [each.test for one in stages for each in (one.agreement, one.dependence) if each.test]
    told = " or ".join(dict.fromkeys(tests))
    return [f"Two-sided p from {told}."] if told else []


def _systems(study: Study, questions: SensitivityQuestions, findings: Sequence[Finding]) -> Table:
    people, order = study.people, _order(study)
    counts = (~np.isnan(people.scores)).sum(axis=1)
    rows: list[list[Cell]] = [
        [
            study.systems[at],
            float(people.quality[at]),
            int(counts[at]),
            float(people.spread[at]),
            *(with_interval(each.stages.sensitivity[at]) for each in findings),
        ]
        for at in order
    ]
    averages = [_mean([one.value for one in each.stages.sensitivity]) for each in findings]
    rows.append(["mean", None, None, None, *(one_cell(each, nan, nan) for each in averages)])
    titles = [each.stages.candidate.title for each in findings]
    columns = ("system", "quality", f"{study.texts.kind}s", "spread", *titles)
    notes = [
        f"{questions.named.title} over {study.texts.kind}s of the metric's score of what people "
        f"rated with the mean of their scores; BCa 95% intervals in brackets, from "
        f"{questions.resamples:,} resamples of {study.texts.kind}s. spread: the standard "
        f"deviation of people's scores over {study.texts.kind}s.",
        *_spread_note(study),
        *_reasons(study, findings),
    ]
    digits = {"quality": 3, "spread": 3}
    shaded = frozenset([len(rows) - 1])
    title = titled(SENSITIVITY, study)
    return Table(title, columns, rows, "\n".join(notes), digits, shaded=shaded, keys=1)


def _order(study: Study) -> list[int]:
    """The best system first, those without a human score last."""
    quality = study.people.quality
    return sorted(range(len(quality)), key=lambda at: (isnan(quality[at]), -quality[at]))


def _spread_note(study: Study) -> list[str]:
    spread, quality = study.people.spread, study.people.quality
    if (~np.isnan(spread + quality)).sum() < 3:
        return []
    r = float(pearson_rows(spread, quality))
    if isnan(r):
        return []
    return [
        f"The spread itself has r = {r:.2f} with quality: where people's scores vary less, every "
        "metric's correlation with them is lower, whatever the metric can do."
    ]


def _reasons(study: Study, findings: Sequence[Finding]) -> list[str]:
    """Why some systems have no sensitivity, systems with the same reason together."""
    systems: dict[tuple[str, str], list[str]] = {}
    for finding in findings:
        for name, each in zip(study.systems, finding.stages.sensitivity, strict=True):
            if each.reason:
                key = finding.stages.candidate.title, each.reason
                systems.setdefault(key, []).append(name)
    metrics: dict[tuple[str, str], list[str]] = {}
    for (title, reason), names in systems.items():
        metrics.setdefault((", ".join(names), reason), []).append(title)
    return [
        f"{names}: no sensitivity of {', '.join(titles)}, {reason}."
        for (names, reason), titles in metrics.items()
    ]


def _differences(questions: SensitivityQuestions, findings: Sequence[Finding]) -> Table:
    first, *others = findings
    rows: list[list[Cell]] = []
    for other in others:
        each = difference(other.stages, first.stages, questions.named)
        told = None if isnan(each.low) else "yes" if each.low > 0 or each.high < 0 else "no"
        rows.append([other.stages.candidate.title, each.value, *about(each.low, each.high), told])
    title = first.stages.candidate.title
    return Table(
        f"Does sensitivity depend on quality otherwise than that of {title}?",
        ("metric", "difference", "low", "high", "differs"),
        rows,
        f"The second stage of each metric less that of {title}, with 95% intervals for two "
        "correlations that share a variable (Zou, 2007); ~: approximate, rather too wide for few "
        "systems; not corrected for the number of metrics.",
        {"difference": 3},
    )


def _mean(values: Sequence[float]) -> float:
    return float(means(np.array(values)))
