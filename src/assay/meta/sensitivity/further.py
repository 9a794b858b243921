"""What was asked besides the two stages, as tables: the best systems, sizes of text, slopes."""

from __future__ import annotations

from collections.abc import Sequence

from assay.meta.sensitivity.finding import Finding
from assay.meta.sensitivity.naming import BEST, SIZES, SLOPE, about, one_cell, titled
from assay.meta.sensitivity.questions import SensitivityQuestions
from assay.meta.sensitivity.sizes import DRAWS, reached
from assay.meta.sensitivity.study import Study
from assay.results import Cell, PValue, Table

__all__ = ["further_tables"]


def further_tables(
    study: Study, questions: SensitivityQuestions, findings: Sequence[Finding]
) -> list[Table]:
    """The tables of what was asked; none where nothing was."""
    found = [_best(study, each) for each in findings] if questions.best else []
    if questions.sizes is not None:
        found += [_sizes(study, findings), _reached(questions, findings)]
    return found + ([_slopes(questions, findings)] if questions.slope else [])


def _best(study: Study, finding: Finding) -> Table:
    rows: list[list[Cell]] = []
    for each in finding.best:
        agreement, drawn = each.agreement, (each.typical, each.random_low, each.random_high)
        ends = about(agreement.low, agreement.high)
        rows.append([each.k, each.last, agreement.value, *ends, PValue(agreement.p), *drawn])
    note = (
        "The correlation at system level among the k systems that people like best; ~: the 95% "
        f"interval over resampled {study.texts.kind}s, only approximate and rather too low, since "
        f"resamples add noise. any k: the median of k systems drawn at "
        "random, and where 95% lie. A value within these says nothing about good systems, any k "
        "would do; below them, mind that the best also lie closer together."
    )
    if tests := dict.fromkeys(each.agreement.test for each in finding.best if each.agreement.test):
        note += f" Two-sided p from {' or '.join(tests)}."
    columns = ("k", "down to", "value", "low", "high", "p", "any k", "any k low", "any k high")
    digits = dict.fromkeys(columns[2:], 3)
    title = titled(f"{BEST}: {finding.stages.candidate.title}", study)
    return Table(title, columns, rows, note, digits)


def _sizes(study: Study, findings: Sequence[Finding]) -> Table:
    rows: list[list[Cell]] = [
        [
            steps[0].words,
            round(steps[0].texts, 1),
            *(one_cell(each.value, each.low, each.high) for each in steps),
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
    return Table(titled(SIZES, study), columns, rows, note, {f"{study.texts.kind}s": 1}, keys=1)


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
        "The slope of a system's scores of whole texts by the reference system's; ~: BCa 95% "
        "intervals, only approximate (they hold about 90%). 1: it gains and loses as the reference "
        "does; more: it loses more where that finds texts hard. Noise in the reference's scores "
        "draws all slopes towards 0.",
    ]
    for finding in findings:
        title = finding.stages.candidate.title
        for each in finding.slopes:
            figures = each.slope, *about(each.low, each.high), each.intercept, each.r, each.n
            rows.append([title, each.system, *figures])
        for reason in dict.fromkeys(each.reason for each in finding.slopes if each.reason):
            notes.append(f"{title}: {reason}.")
    columns = ("metric", "system", "slope", "low", "high", "intercept", "r", "n")
    digits = {"slope": 3, "r": 3}
    title = f"{SLOPE} against {questions.slope}"
    return Table(title, columns, rows, "\n".join(notes), digits)
