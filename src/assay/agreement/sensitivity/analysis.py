"""Whether metrics stay sensitive as systems become better: `assay.sensitivity`, and its result."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.agreement.coefficients import COEFFICIENTS, Coefficient, Pearson
from assay.agreement.panel import Candidate, Humans, MetricChoice, chosen_metrics
from assay.agreement.sensitivity.stages import (
    BestSystems,
    DifficultySlope,
    SizeAgreement,
    Stages,
    TextDraws,
    best_of,
    check_sizes,
    difference,
    place_of,
    sizes_of,
    slopes_of,
    stages_of,
)
from assay.agreement.sensitivity.study import Study, studies
from assay.data import DataError, Dataset, Scores
from assay.io.files import FilePath
from assay.io.scores import HumanChoice, chosen_human
from assay.progress import Track, untracked
from assay.registry import SEED
from assay.results import Charts, Record, Result, Table, known
from assay.store.results import use_store

__all__ = [
    "SensitivityFinding",
    "SensitivityOptions",
    "SensitivityResult",
    "StudyFindings",
    "sensitivity",
    "sensitivity_of_studies",
]


def sensitivity(
    data: Dataset,
    metrics: MetricChoice = None,
    *,
    human: HumanChoice = None,
    section: int | None = None,
    coefficient: str | Coefficient = "pearson",
    resamples: int = 1000,
    best: bool = False,
    sizes: Sequence[int] | None = None,
    reach: float = 0.8,
    slope: str | None = None,
    scores: Sequence[Scores] = (),
    lower: Sequence[str] = (),
    humans: Humans = "out",
    store: FilePath | None = None,
    seed: int = SEED,
    track: Track = untracked,
) -> SensitivityResult:
    """Whether metrics tell less where systems are better (Babych and Hartley, 2008).

    First, for each system, how far a metric's scores of its texts follow people's: its
    sensitivity. Then, over systems, how far sensitivity follows quality: below 0 the metric tells
    less about good systems. Both with intervals.

    - `data`: a test set with documents, or with `section` one of which so many segments in a row
      are compared as sections.
    - `metrics`: names or metrics (default: BLEU and chrF, or only `scores` where these are given).
    - `human`: which human scores, by name, or the scores themselves (default: all of the data's).
    - `coefficient`: of both stages: `"pearson"`, `"spearman"`, `"kendall"` or `"kendall-c"`.
    - `resamples`: of texts, for the intervals.
    - `best`: also the agreement among the best k systems, for every k.
    - `sizes`: also the agreement of a metric that sees only so many words (`[]`: round numbers),
      and from where on it reaches `reach`.
    - `slope`: also the difficulty slope of every system against this one.
    - `scores`: segment scores of other metrics; `lower` names those, and human scores, where lower
      is better.
    - `humans`: leave human translations among the systems `"out"` or `"in"`.
    - `store`: a folder that keeps results, so that nothing is scored twice: see `score`.

    >>> from assay.demo import read_demo
    >>> result = sensitivity(read_demo(), "chrf", section=10, resamples=50)
    >>> [(record["system"], round(record["sensitivity"], 2)) for record in result.records()]
    [('atlas', 0.51), ('birch', 0.17), ('cedar', -0.1), (None, 1.0)]
    """
    options = SensitivityOptions(
        coefficient=COEFFICIENTS.parse(coefficient),
        resamples=resamples,
        best=best,
        sizes=None if sizes is None else tuple(sizes),
        reach=reach,
        slope=slope,
    )
    with use_store(store):
        compared = studies(
            data,
            chosen_metrics(metrics, data, scores),
            human=chosen_human(data, human),
            section=section,
            scores=scores,
            lower=lower,
            humans=humans,
            track=track,
        )
    return sensitivity_of_studies(compared, options, seed=seed, track=track)


PEARSON = Pearson()


@dataclass(frozen=True)
class SensitivityOptions:
    """What to find out besides the two stages.

    `best` asks for the agreement among the best k systems, `sizes` for that on so many words (none
    named: round numbers), `slope` names the reference system of the difficulty slope. `reach` is
    the agreement that counts as agreeing.
    """

    coefficient: Coefficient = PEARSON
    resamples: int = 1000
    best: bool = False
    sizes: tuple[int, ...] | None = None
    reach: float = 0.8
    slope: str | None = None

    def __post_init__(self) -> None:
        """The coefficient is one that has an interval by Fisher's z."""
        if math.isnan(self.coefficient.error(0.0, 100)):
            raise DataError(
                f"coefficient {self.coefficient}: sensitivity is a correlation; "
                "choose pearson, spearman, kendall or kendall-c."
            )
        if self.resamples < 1:
            raise DataError("the number of resamples is at least 1.")
        if not -1 <= self.reach <= 1:
            raise DataError(f"reach {self.reach:g}: give a correlation between -1 and 1.")


@dataclass(frozen=True, eq=False)
class SensitivityFinding:
    """Both stages of one metric, and what was asked besides; empty where it was not."""

    stages: Stages
    best: tuple[BestSystems, ...] = ()
    sizes: tuple[SizeAgreement, ...] = ()
    slopes: tuple[DifficultySlope, ...] = ()


@dataclass(frozen=True, eq=False)
class StudyFindings:
    """What was found about every metric of a study."""

    study: Study
    findings: tuple[SensitivityFinding, ...]


def sensitivity_of_studies(
    studies: Sequence[Study],
    options: SensitivityOptions,
    *,
    seed: int = SEED,
    track: Track = untracked,
) -> SensitivityResult:
    """Whether the metrics of every study stay sensitive as systems become better."""
    return SensitivityResult(
        tuple(
            StudyFindings(
                study, tuple(track(_findings(study, options, seed), total=len(study.candidates)))
            )
            for study in studies
        ),
        options,
    )


def _findings(study: Study, options: SensitivityOptions, seed: int) -> Iterator[SensitivityFinding]:
    """What is found about each metric, one after the other as they are ready."""
    sizes = None if options.sizes is None else check_sizes(options.sizes, study.texts)
    reference = None if options.slope is None else place_of(options.slope, study)
    rng = np.random.default_rng(seed)
    draws = TextDraws.of(len(study.texts), options.resamples, rng=rng)
    for candidate in study.candidates:
        yield _finding(study, candidate, options, draws, sizes, reference, seed)


def _finding(
    study: Study,
    candidate: Candidate,
    options: SensitivityOptions,
    draws: TextDraws,
    sizes: tuple[int, ...] | None,
    reference: int | None,
    seed: int,
) -> SensitivityFinding:
    """Each question starts the generator anew, so that no answer depends on another question."""
    coefficient = options.coefficient
    stages = stages_of(study, candidate, coefficient, draws)
    best: tuple[BestSystems, ...] = ()
    by_size: tuple[SizeAgreement, ...] = ()
    if options.best:
        best = best_of(study, stages, coefficient, draws, rng=np.random.default_rng(seed))
    if sizes is not None:
        rng = np.random.default_rng(seed)
        by_size = sizes_of(study, candidate, coefficient, sizes, rng=rng)
    slopes = () if reference is None else slopes_of(study, candidate, reference, draws)
    return SensitivityFinding(stages, best, by_size, slopes)


@dataclass(frozen=True, eq=False)
class SensitivityResult(Result):
    """Both stages for every metric and kind of human score, and what else was asked."""

    studies: tuple[StudyFindings, ...]
    options: SensitivityOptions

    def records(self) -> list[Record]:
        """One record per metric and system, and one per metric with `system` null.

        The latter has the second stage: `sensitivity` is its correlation with quality. What was
        asked besides follows, with `question` saying what it answers.
        """
        return [record for part in self.studies for record in self._records(part)]

    def tables(self) -> list[Table]:
        """The two stages as in Table 1, the systems, and what else was asked."""
        return [table for part in self.studies for table in self._tables(part)]

    def paper_tables(self) -> list[Table]:
        """The two stages as in Table 1 of the paper, for every kind of human score."""
        return [self._tables(part)[0] for part in self.studies]

    def charts(self) -> Charts:
        """Sensitivity by quality as in Figures 3 and 4, and what else was asked."""
        from assay.agreement.sensitivity.report import charts

        return Charts(
            chart
            for part in self.studies
            for chart in charts(part.study, self.options, part.findings)
        )

    def _tables(self, part: StudyFindings) -> list[Table]:
        """The tables of one kind of human score, each with the metrics' signatures below it."""
        from assay.agreement.sensitivity.report import tables

        return [
            replace(table, note="\n".join(filter(None, [table.note, *part.study.signatures])))
            for table in tables(part.study, self.options, part.findings)
        ]

    def _records(self, part: StudyFindings) -> Iterator[Record]:
        for finding in part.findings:
            yield from self._by_system(part, finding)
        for finding in part.findings:
            yield from self._answers(finding)

    def _by_system(self, part: StudyFindings, finding: SensitivityFinding) -> Iterator[Record]:
        stages, human = finding.stages, part.study.human
        shared: Record = {"coefficient": str(self.options.coefficient), "human": human.name}
        shared |= {"resolved": stages.candidate.resolved}
        for place, estimate in enumerate(stages.sensitivity):
            yield {
                "metric": stages.candidate.name,
                "system": part.study.systems[place],
                "quality": known(float(human.quality[place])),
                "sensitivity": known(estimate.value),
                "low": known(estimate.low),
                "high": known(estimate.high),
                "p": known(estimate.p),
                "n": estimate.n,
                "spread": known(float(human.spread[place])),
                "reason": estimate.reason or None,
                **shared,
            }
        yield self._over_systems(part, finding) | shared

    def _over_systems(self, part: StudyFindings, finding: SensitivityFinding) -> Record:
        stages, second = finding.stages, finding.stages.dependence
        agreement = stages.agreement
        return {
            "metric": stages.candidate.name,
            "system": None,
            "quality": None,
            "sensitivity": known(second.value),
            "low": known(second.low),
            "high": known(second.high),
            "p": known(second.p),
            "n": second.n,
            "spread": None,
            "reason": second.reason or None,
            "given_spread": known(stages.given_spread.value),
            "given_spread_low": known(stages.given_spread.low),
            "given_spread_high": known(stages.given_spread.high),
            "given_spread_tendency": stages.given_spread.tendency,
            **_without_outliers(stages),
            "tendency": second.tendency,
            "agreement": known(agreement.value),
            "agreement_low": known(agreement.low),
            "agreement_high": known(agreement.high),
            "agreement_p": known(agreement.p),
            **self._difference(part, finding),
        }

    def _difference(self, part: StudyFindings, finding: SensitivityFinding) -> Record:
        """How far the second stage differs from that of the first metric."""
        first = part.findings[0]
        estimate = difference(finding.stages, first.stages, self.options.coefficient)
        same = finding is first
        return {
            "compared_with": None if same else first.stages.candidate.name,
            "difference": None if same else known(estimate.value),
            "difference_low": None if same else known(estimate.low),
            "difference_high": None if same else known(estimate.high),
        }

    def _answers(self, finding: SensitivityFinding) -> Iterator[Record]:
        """What was asked besides."""
        candidate = finding.stages.candidate
        asked = {"metric": candidate.name, "resolved": candidate.resolved}
        for best in finding.best:
            yield {"question": "best", **asked, **_best(best)}
        for size in finding.sizes:
            numbers = {key: known(float(value)) for key, value in size._asdict().items()}
            yield {"question": "size", **asked, **numbers, "words": size.words}
        for slope in finding.slopes:
            yield {
                "question": "slope",
                **asked,
                "reference": self.options.slope,
                **{
                    key: known(value) if isinstance(value, float) else value or None
                    for key, value in slope._asdict().items()
                },
            }


def _without_outliers(stages: Stages) -> Record:
    some = stages.without_outliers
    return {
        "without_outliers": None if some is None else known(some.value),
        "without_outliers_p": None if some is None else known(some.p),
        "without_outliers_n": None if some is None else some.n,
    }


def _best(best: BestSystems) -> Record:
    estimate = best.agreement
    return {
        "k": best.k,
        "last": best.last,
        "agreement": known(estimate.value),
        "agreement_low": known(estimate.low),
        "agreement_high": known(estimate.high),
        "agreement_p": known(estimate.p),
        "typical": known(best.typical),
        "random_low": known(best.random_low),
        "random_high": known(best.random_high),
        "reason": estimate.reason or None,
    }
