"""The agreement of metrics with people: every metric, coefficient and language pair."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from assay.agreement.agree import (
    Agreement,
    Shuffles,
    agree,
    confidences,
    confidences_of_corpora,
)
from assay.agreement.coefficients import COEFFICIENTS, Coefficient, Kendall, Pearson
from assay.agreement.differences import MetricComparison, compare_metrics, williams
from assay.agreement.panel import Candidate, Humans, Panel, outliers
from assay.agreement.summary import LeaveOut
from assay.data import DataError, is_human
from assay.statistics.arrays import Array
from assay.statistics.correlation import By, Mask, pearson_rows

__all__ = [
    "CorrelateOptions",
    "Finding",
    "correlate_each",
    "prepared",
]


@dataclass(frozen=True)
class CorrelateOptions:
    """What is asked about the agreement of metrics with people.

    `coefficients` may be given by name. `compare` asks which metrics agree better than others, by
    `trials` random swaps.
    """

    coefficients: tuple[Coefficient, ...] = (Pearson(), Kendall())
    by: By = "none"
    compare: bool = False
    trials: int = 1000
    alpha: float = 0.05
    leave_out: LeaveOut = "none"
    outliers: Literal["keep", "drop"] = "keep"
    humans: Humans = "out"

    def __post_init__(self) -> None:
        """The coefficients themselves, each once."""
        coefficients = tuple(COEFFICIENTS.parse_all(self.coefficients))
        object.__setattr__(self, "coefficients", coefficients)
        if not 0 < self.alpha < 1:
            raise DataError(f"alpha {self.alpha:g}: give a share between 0 and 1, such as 0.05.")


@dataclass(frozen=True, eq=False)
class Finding:
    """What one coefficient says of all metrics of a panel.

    `comparison` is there where it was asked for; `williams[i, j]`, for Pearson's r over systems
    or of one system, is the two-sided p of metrics i and j by Williams' test.
    """

    panel: Panel
    coefficient: Coefficient
    agreements: tuple[Agreement, ...]
    comparison: MetricComparison | None = None
    williams: Array | None = None


def prepared(panel: Panel, questions: CorrelateOptions) -> Panel:
    """The panel without whom the questions leave out, and without systems nobody rated."""
    if questions.humans == "out":
        people = [name for name in panel.systems if is_human(name)]
        panel = panel.without(people, "human translations")
    rated = np.asarray(~np.isnan(panel.human).all(axis=1))
    unrated = [name for name, known in zip(panel.systems, rated, strict=True) if not known]
    panel = panel.without(unrated, "no human score")
    if questions.outliers == "drop":
        far = outliers(panel.human_of_systems())
        names = [name for name, is_far in zip(panel.systems, far, strict=True) if is_far]
        panel = panel.without(names, "outliers: further than 2.5 robust deviations from the median")
    missing, size = int(np.isnan(panel.human).sum()), panel.human.size
    note = f"{missing:,} of {size:,} human scores are missing."
    return replace(panel, notes=(*panel.notes, note)) if missing else panel


def correlate_each(
    panels: Sequence[Panel], questions: CorrelateOptions, *, seed: int
) -> Iterator[Finding]:
    """What every coefficient says of every panel, one after the other as they are ready."""
    for panel in panels:
        for coefficient in questions.coefficients:
            agreements = tuple(
                _agreement(panel, candidate, coefficient, questions, seed)
                for candidate in panel.candidates
            )
            finding = Finding(panel, coefficient, agreements)
            several = sum(not math.isnan(agreement.value) for agreement in agreements) > 1
            compared = questions.compare and coefficient.needs == "scores" and several
            yield _compared(finding, questions, seed) if compared else finding


def _agreement(
    panel: Panel,
    candidate: Candidate,
    coefficient: Coefficient,
    questions: CorrelateOptions,
    seed: int,
) -> Agreement:
    if coefficient.needs == "segments":
        return _from_segments(panel, candidate, coefficient, questions.trials, seed)
    shuffles = Shuffles(questions.trials, np.random.default_rng(seed))
    return agree(candidate.oriented, panel.human, coefficient, by=questions.by, shuffles=shuffles)


def _from_segments(
    panel: Panel, candidate: Candidate, coefficient: Coefficient, trials: int, seed: int
) -> Agreement:
    """The agreement of confidences over the panel's items; at system level over its segments.

    People's confidences and the metric's are over the same items: those that people rated and
    the metric scored, for both systems of a pair.
    """
    if len(panel.systems) < 2:
        return _unknown("fewer than two systems")
    human = panel.ratings if panel.granularity == "system" else panel.human
    if human is None:
        return _unknown(f"{coefficient.title} needs human scores of segments")
    if panel.granularity == "system" and not candidate.statistics:
        return _unknown(f"{coefficient.title} needs the metric's scores of segments")
    scored = (
        candidate.known_segments()
        if panel.granularity == "system"
        else ~np.isnan(candidate.oriented)
    )
    known = ~np.isnan(human) & scored
    gold = confidences(
        np.where(known, human, np.nan), trials=trials, rng=np.random.default_rng(seed)
    )
    own = _own(panel, candidate, known, trials, seed)
    return agree(own[:, None], gold[:, None], coefficient)


def _own(panel: Panel, candidate: Candidate, known: Mask, trials: int, seed: int) -> Array:
    """The metric's confidences, over what is known; the same swaps as for people's."""
    rng = np.random.default_rng(seed)
    if panel.granularity == "system":
        systems = candidate.statistics
        return confidences_of_corpora(systems, known, lower=candidate.lower, trials=trials, rng=rng)
    return confidences(np.where(known, candidate.oriented, np.nan), trials=trials, rng=rng)


def _unknown(reason: str) -> Agreement:
    return Agreement(math.nan, math.nan, 0, 0, reason)


def _compared(finding: Finding, questions: CorrelateOptions, seed: int) -> Finding:
    """The finding with every metric tested against every other."""
    panel, coefficient = finding.panel, finding.coefficient
    # What has no value is not compared: two scores would correlate perfectly.
    scores = {
        each.name: np.full_like(panel.human, np.nan) if agreement.reason else each.oriented
        for each, agreement in zip(panel.candidates, finding.agreements, strict=True)
    }
    comparison = compare_metrics(
        scores,
        panel.human,
        coefficient,
        by=questions.by,
        trials=questions.trials,
        alpha=questions.alpha,
        rng=np.random.default_rng(seed),
    )
    # Williams' test is for scores that are independent of each other.
    apart = isinstance(coefficient, Pearson) and questions.by == "none" and 1 in panel.human.shape
    return replace(finding, comparison=comparison, williams=_williams(panel) if apart else None)


def _williams(panel: Panel) -> Array:
    """Williams' p of every metric against every other, over what all three have scored."""
    count = len(panel.candidates)
    p = np.full((count, count), np.nan)
    for i, first in enumerate(panel.candidates):
        for j, second in enumerate(panel.candidates):
            if i != j:
                three = np.stack([first.oriented, second.oriented, panel.human]).reshape(3, -1)
                a, b, gold = three[:, ~np.isnan(three).any(axis=0)]
                ours, theirs = float(pearson_rows(a, gold)), float(pearson_rows(b, gold))
                p[i, j] = williams(ours, theirs, float(pearson_rows(a, b)), len(gold))
    return p
