"""The two stages and what was asked besides as tables, with notes that say how far to trust them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import isnan

import numpy as np

from assay.meta.moments import pearson_rows
from assay.meta.sensitivity.finding import Finding
from assay.meta.sensitivity.questions import SensitivityQuestions
from assay.meta.sensitivity.sizes import DRAWS, reached
from assay.meta.sensitivity.stages import Estimate, difference
from assay.meta.sensitivity.study import Study
from assay.results import Cell, Table

__all__ = ["BEST", "SENSITIVITY", "SIZES", "SLOPE", "tables"]

STAGES = "Does sensitivity depend on quality?"
SENSITIVITY = "Sensitivity of each system"
BEST = "Agreement among the best systems"
SIZES = "Agreement by size of text"
SLOPE = "Difficulty slope"

FEW = 10
"""With fewer systems than this the second stage says little, whatever it says."""


def tables(
    study: Study, questions: SensitivityQuestions, findings: Sequence[Finding]
) -> list[Table]:
    """Table 1 with intervals, the systems, the metrics against each other, and what was asked."""
    found = [_stages(study, questions, findings), _systems(study, questions, findings)]
    if len(findings) > 1:
        found.append(_differences(findings))
    if questions.best:
        found.append(_best(study, findings))
    if questions.sizes is not None:
        found += [_sizes(study, findings), _reached(questions, findings)]
    return found + ([_slopes(questions, findings)] if questions.slope else [])


def _stages(study: Study, questions: SensitivityQuestions, findings: Sequence[Finding]) -> Table:
    rows: list[list[Cell]] = []
    for finding in findings:
        stages, title = finding.stages, finding.stages.candidate.title
        second, same = stages.dependence, stages.same_systems
        known = not isnan(second.value)
        rows += [
            [title, "system", *_cells(stages.agreement), None],
            [title, "sensitivity", *_cells(second), stages.tendency if known else None],
            [title, "same systems", second.value, same.low, same.high, None, second.n, None],
        ]
    columns = ("metric", "correlation", "value", "low", "high", "p", "n", "as quality rises")
    digits = {"value": 3, "low": 3, "high": 3, "p": 4}
    note = "\n".join(_stage_notes(study, questions, findings))
    return Table(_titled(STAGES, study), columns, rows, note, digits, keys=2)


def _cells(each: Estimate) -> list[Cell]:
    return [each.value, each.low, each.high, each.p, each.n]


def _stage_notes(
    study: Study, questions: SensitivityQuestions, findings: Sequence[Finding]
) -> list[str]:
    rated = int((~np.isnan(study.people.quality)).sum())
    lines = [
        "system: the metric's scores of systems with people's. sensitivity: the correlation over "
        f"{study.texts.kind}s, of each system, with the quality of the systems ({rated}); below 0 "
        "the metric tells less where systems are better.",
        f"{questions.named.title}; 95% intervals from {questions.resamples:,} resamples of "
        f"{study.texts.kind}s and systems, corrected for bias; same systems: of "
        f"{study.texts.kind}s only.",
    ]
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
        ):
            if each.reason:
                lines.append(f"{finding.stages.candidate.title}, {name}: none, {each.reason}.")
    return [*lines, *study.notes]


def _systems(study: Study, questions: SensitivityQuestions, findings: Sequence[Finding]) -> Table:
    people, order = study.people, _order(study)
    counts = (~np.isnan(people.scores)).sum(axis=1)
    rows: list[list[Cell]] = [
        [
            study.systems[at],
            float(people.quality[at]),
            int(counts[at]),
            float(people.spread[at]),
            *(_interval(each.stages.sensitivity[at]) for each in findings),
        ]
        for at in order
    ]
    titles = [each.stages.candidate.title for each in findings]
    columns = ("system", "quality", f"{study.texts.kind}s", "spread", *titles)
    notes = [
        f"{questions.named.title} over {study.texts.kind}s of the metric's score of what people "
        "rated with the mean of their scores; BCa 95% intervals in brackets. spread: the standard "
        f"deviation of people's scores over {study.texts.kind}s.",
        *_spread_note(study),
        *_reasons(study, findings),
    ]
    digits = {"quality": 3, "spread": 3}
    return Table(_titled(SENSITIVITY, study), columns, rows, "\n".join(notes), digits, keys=1)


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


def _differences(findings: Sequence[Finding]) -> Table:
    rows: list[list[Cell]] = []
    for first, second in combinations(findings, 2):
        each = difference(first.stages, second.stages)
        titles = first.stages.candidate.title, second.stages.candidate.title
        told = None if isnan(each.low) else "yes" if each.low > 0 or each.high < 0 else "no"
        rows.append([*titles, each.value, each.low, each.high, told])
    return Table(
        "Do metrics differ in how their sensitivity depends on quality?",
        ("metric", "less", "difference", "low", "high", "differ"),
        rows,
        "The second stage of one metric less that of another, on the same resamples of texts and "
        "systems. A metric keeps its sensitivity better than another only where they differ.",
        {"difference": 3, "low": 3, "high": 3},
    )


def _best(study: Study, findings: Sequence[Finding]) -> Table:
    titles = [each.stages.candidate.title for each in findings]
    columns = ["k", "down to"]
    for title in titles:
        columns += [title, f"{title}, any k"]
    rows: list[list[Cell]] = []
    for steps in zip(*(each.best for each in findings), strict=True):
        row: list[Cell] = [steps[0].k, steps[0].last]
        for each in steps:
            row += [
                _interval(each.agreement),
                _text(each.typical, each.random_low, each.random_high),
            ]
        rows.append(row)
    note = (
        f"The correlation at system level among the k systems that people like best, with the 95% "
        f"interval over resampled {study.texts.kind}s; beside it the median of k systems drawn at "
        "random, 95% of which lie within the brackets. A value within these says nothing about "
        "good systems: any k would do."
    )
    return Table(_titled(BEST, study), tuple(columns), rows, note, keys=2)


def _sizes(study: Study, findings: Sequence[Finding]) -> Table:
    rows: list[list[Cell]] = [
        [
            steps[0].words,
            round(steps[0].texts, 1),
            *(_text(each.value, each.low, each.high) for each in steps),
        ]
        for steps in zip(*(each.sizes for each in findings), strict=True)
    ]
    titles = [each.stages.candidate.title for each in findings]
    note = (
        f"The correlation at system level of a metric that sees random {study.texts.kind}s with so "
        "many words in the reference, with what people say of all of them: the median of "
        f"{DRAWS} draws, and where 95% of them lie."
    )
    columns = ("words", f"{study.texts.kind}s", *titles)
    return Table(_titled(SIZES, study), columns, rows, note, {f"{study.texts.kind}s": 1}, keys=1)


def _reached(questions: SensitivityQuestions, findings: Sequence[Finding]) -> Table:
    rows: list[list[Cell]] = []
    for finding in findings:
        found = reached(finding.sizes, questions.reach)
        whole = finding.sizes[-1].value
        rows.append([finding.stages.candidate.title, found.half, found.most, whole])
    return Table(
        f"Words until a metric's ranking agrees with people's, {questions.reach:g} and more",
        ("metric", "in half of the draws", "in 95% of the draws", "all words"),
        rows,
        "The first size from which on the agreement is so high, and stays so; empty where it "
        "never is.",
        {"all words": 3},
    )


def _slopes(questions: SensitivityQuestions, findings: Sequence[Finding]) -> Table:
    rows: list[list[Cell]] = []
    notes = [
        "The slope of a system's scores of whole texts by the reference system's, with BCa 95% "
        "intervals. 1: it gains and loses as the reference does; more: it loses more where that "
        "finds texts hard. Noise in the reference's scores draws all slopes towards 0.",
    ]
    for finding in findings:
        title = finding.stages.candidate.title
        for each in finding.slopes:
            figures = each.slope, each.low, each.high, each.intercept, each.r, each.n
            rows.append([title, each.system, *figures])
        for reason in dict.fromkeys(each.reason for each in finding.slopes if each.reason):
            notes.append(f"{title}: {reason}.")
    columns = ("metric", "system", "slope", "low", "high", "intercept", "r", "n")
    digits = {"slope": 3, "low": 3, "high": 3, "r": 3}
    title = f"{SLOPE} against {questions.slope}"
    return Table(title, columns, rows, "\n".join(notes), digits)


def _interval(each: Estimate) -> str | None:
    return _text(each.value, each.low, each.high)


def _text(value: float, low: float, high: float) -> str | None:
    """A value with its interval, where there is one."""
    if isnan(value):
        return None
    return f"{value:.2f}" if isnan(low) else f"{value:.2f} [{low:.2f}, {high:.2f}]"


def _titled(title: str, study: Study) -> str:
    return f"{title} ({study.people.name})"
