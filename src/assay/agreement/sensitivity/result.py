"""What `assay meta sensitivity` gives back, as records, tables and charts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isnan

import numpy as np

from assay.agreement.panel import Candidate
from assay.agreement.sensitivity.charts import charts
from assay.agreement.sensitivity.report import tables
from assay.agreement.sensitivity.sizes import (
    Finding,
    Size,
    check_sizes,
    place_of,
    sizes_of,
    slopes_of,
)
from assay.agreement.sensitivity.stages import Best, Stages, best_of, difference, stages_of
from assay.agreement.sensitivity.study import SensitivityOptions, Study
from assay.agreement.sensitivity.texts import Draws
from assay.results import Charts, Record, Result, Table
from assay.settings import SEED

__all__ = ["SensitivityResult", "sensitivity", "sensitivity_each"]

NO_QUESTIONS = SensitivityOptions()


def sensitivity(
    study: Study, questions: SensitivityOptions = NO_QUESTIONS, *, seed: int = SEED
) -> SensitivityResult:
    """Whether the metrics of a study stay sensitive as systems become better."""
    findings = tuple(sensitivity_each(study, questions, seed=seed))
    return SensitivityResult(study, questions, findings)


def sensitivity_each(
    study: Study, questions: SensitivityOptions, *, seed: int
) -> Iterator[Finding]:
    """What is found about each metric, one after the other as they are ready."""
    sizes = None if questions.sizes is None else check_sizes(questions.sizes, study.texts)
    reference = None if questions.slope is None else place_of(questions.slope, study)
    rng = np.random.default_rng(seed)
    draws = Draws.of(len(study.texts), questions.resamples, rng=rng)
    for candidate in study.candidates:
        yield _finding(study, candidate, questions, draws, sizes, reference, seed)


def _finding(
    study: Study,
    candidate: Candidate,
    questions: SensitivityOptions,
    draws: Draws,
    sizes: tuple[int, ...] | None,
    reference: int | None,
    seed: int,
) -> Finding:
    """Each question starts the generator anew, so that no answer depends on another question."""
    coefficient = questions.coefficient
    stages = stages_of(study, candidate, coefficient, draws)
    best: tuple[Best, ...] = ()
    found: tuple[Size, ...] = ()
    if questions.best:
        best = best_of(study, stages, coefficient, draws, rng=np.random.default_rng(seed))
    if sizes is not None:
        rng = np.random.default_rng(seed)
        found = sizes_of(study, candidate, coefficient, sizes, rng=rng)
    slopes = () if reference is None else slopes_of(study, candidate, reference, draws)
    return Finding(stages, best, found, slopes)


@dataclass(frozen=True, eq=False)
class SensitivityResult(Result):
    """Both stages for every metric, and what else was asked."""

    study: Study
    questions: SensitivityOptions
    findings: tuple[Finding, ...]

    def records(self) -> list[Record]:
        """One record per metric and system, and one per metric with `system` null.

        The latter has the second stage: `sensitivity` is its correlation with quality. What was
        asked besides follows, with `question` saying what it answers.
        """
        return [record for finding in self.findings for record in self._records(finding)] + [
            record for finding in self.findings for record in self._answers(finding)
        ]

    def tables(self) -> list[Table]:
        """The two stages as in Table 1, the systems, and what else was asked."""
        found = tables(self.study, self.questions, self.findings)
        signed = self.study.signatures
        return [replace(each, note="\n".join(filter(None, [each.note, *signed]))) for each in found]

    def charts(self) -> Charts:
        """Sensitivity by quality as in Figures 3 and 4, and what else was asked."""
        return Charts(charts(self.study, self.questions, self.findings))

    def _records(self, finding: Finding) -> Iterator[Record]:
        stages, people = finding.stages, self.study.people
        shared: Record = {"coefficient": str(self.questions.coefficient), "human": people.name}
        shared |= {"resolved": stages.candidate.resolved}
        for at, each in enumerate(stages.sensitivity):
            yield {
                "metric": stages.candidate.name,
                "system": self.study.systems[at],
                "quality": _known(people.quality[at]),
                "sensitivity": _known(each.value),
                "low": _known(each.low),
                "high": _known(each.high),
                "p": _known(each.p),
                "n": each.n,
                "spread": _known(people.spread[at]),
                "reason": each.reason or None,
                **shared,
            }
        yield self._second(finding) | shared

    def _second(self, finding: Finding) -> Record:
        stages, second = finding.stages, finding.stages.dependence
        agreement = stages.agreement
        return {
            "metric": stages.candidate.name,
            "system": None,
            "quality": None,
            "sensitivity": _known(second.value),
            "low": _known(second.low),
            "high": _known(second.high),
            "p": _known(second.p),
            "n": second.n,
            "spread": None,
            "reason": second.reason or None,
            "given_spread": _known(stages.given_spread.value),
            "given_spread_low": _known(stages.given_spread.low),
            "given_spread_high": _known(stages.given_spread.high),
            "given_spread_tendency": stages.given_spread.tendency,
            **_without_outliers(stages),
            "tendency": second.tendency,
            "agreement": _known(agreement.value),
            "agreement_low": _known(agreement.low),
            "agreement_high": _known(agreement.high),
            "agreement_p": _known(agreement.p),
            **self._difference(finding),
        }

    def _difference(self, finding: Finding) -> Record:
        """How far the second stage differs from that of the first metric."""
        first = self.findings[0]
        each = difference(finding.stages, first.stages, self.questions.coefficient)
        same = finding is first
        return {
            "compared_with": None if same else first.stages.candidate.name,
            "difference": None if same else _known(each.value),
            "difference_low": None if same else _known(each.low),
            "difference_high": None if same else _known(each.high),
        }

    def _answers(self, finding: Finding) -> Iterator[Record]:
        """What was asked besides."""
        candidate = finding.stages.candidate
        asked = {"metric": candidate.name, "resolved": candidate.resolved}
        for best in finding.best:
            yield {"question": "best", **asked, **_best(best)}
        for size in finding.sizes:
            numbers = {key: _known(value) for key, value in size._asdict().items()}
            yield {"question": "size", **asked, **numbers, "words": size.words}
        for slope in finding.slopes:
            yield {
                "question": "slope",
                **asked,
                "reference": self.questions.slope,
                **{
                    key: _known(value) if isinstance(value, float) else value or None
                    for key, value in slope._asdict().items()
                },
            }


def _without_outliers(stages: Stages) -> Record:
    some = stages.without_outliers
    return {
        "without_outliers": None if some is None else _known(some.value),
        "without_outliers_p": None if some is None else _known(some.p),
        "without_outliers_n": None if some is None else some.n,
    }


def _best(best: Best) -> Record:
    each = best.agreement
    return {
        "k": best.k,
        "last": best.last,
        "agreement": _known(each.value),
        "agreement_low": _known(each.low),
        "agreement_high": _known(each.high),
        "agreement_p": _known(each.p),
        "typical": _known(best.typical),
        "random_low": _known(best.random_low),
        "random_high": _known(best.random_high),
        "reason": each.reason or None,
    }


def _known(value: float) -> float | None:
    return None if isnan(value) else float(value)
