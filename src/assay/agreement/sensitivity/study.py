"""Metrics and people on the same texts of the same systems, and what is asked of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.agreement.coefficients import COEFFICIENTS, Coefficient, Pearson
from assay.agreement.panel import Candidate, lower_is_better
from assay.agreement.sensitivity.texts import BLOCK, People, Texts
from assay.data import DataError, Scores
from assay.metrics.base import Metric, Statistics, labels
from assay.metrics.mean import Mean
from assay.statistics.arrays import Array

__all__ = [
    "SensitivityOptions",
    "Study",
    "candidate_of",
    "corpus_scores",
    "imported",
    "text_scores",
]


@dataclass(frozen=True, eq=False)
class Study:
    """What is compared: `candidates` have (systems, texts) scores, as people have.

    A text's score is that of the segments that people rated: both look at the same words.
    """

    systems: tuple[str, ...]
    texts: Texts
    people: People
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        systems: Sequence[str],
        texts: Texts,
        people: People,
        statistics: Sequence[Sequence[Statistics]],
        *,
        lower: Sequence[str] = (),
        notes: Sequence[str] = (),
        signatures: Sequence[str] = (),
    ) -> Study:
        """From the statistics of every metric and system; `lower` names those to turn round.

        `signatures` say how the metrics were computed, and stand below every table.
        """
        titles = labels([each[0].metric for each in statistics])
        if twice := next((title for title in titles if titles.count(title) > 1), None):
            raise DataError(f"two metrics are called {twice!r}; rename a file of scores.")
        candidates = tuple(
            candidate_of(each, title, texts, people, lower=lower)
            for each, title in zip(statistics, titles, strict=True)
        )
        told = (*people.notes, *notes)
        return cls(tuple(systems), texts, people, candidates, told, tuple(signatures))


def candidate_of(
    statistics: Sequence[Statistics],
    title: str,
    texts: Texts,
    people: People,
    *,
    lower: Sequence[str] = (),
) -> Candidate:
    """A metric's score of what people rated of each text; `nan` where that is nothing."""
    read = texts.totals(people.rated.astype(float)) > 0
    scores = np.where(read, _by_text(statistics, texts, people.rated), np.nan)
    metric = statistics[0].metric
    turned = not metric.higher_is_better or _counts_errors(metric, statistics, lower)
    name = title if isinstance(metric, Mean) else metric.requested
    return Candidate(name, title, scores, turned, tuple(statistics))


def imported(scores: Scores) -> list[Statistics]:
    """The statistics of each system from segment scores of another metric."""
    return [Mean(scores.name).of(values) for values in scores.values]


def text_scores(candidate: Candidate, texts: Texts) -> Array:
    """The scores of whole texts, rated or not, (systems, texts)."""
    everything = np.ones((len(candidate.statistics), 1))
    return _by_text(candidate.statistics, texts, everything)


def corpus_scores(candidate: Candidate, texts: Texts, weights: Array) -> Array:
    """The systems' scores with texts weighted by (b, texts), more is better: (b, systems).

    All segments count, rated or not: systems are compared on the same words.
    """
    step = max(1, BLOCK // max(1, len(texts.labels)))
    blocks = [weights[at : at + step] for at in range(0, len(weights), step)]
    scores = np.concatenate(
        [
            np.array([each.score(texts.of_segments(block)) for each in candidate.statistics]).T
            for block in blocks
        ]
    )
    return -scores if candidate.lower else scores


def _by_text(statistics: Sequence[Statistics], texts: Texts, rated: NDArray[Any]) -> Array:
    """The scores of what counts in each text, (systems, texts)."""
    blocks = [
        [each.score(block * row) for each, row in zip(statistics, rated, strict=True)]
        for block in texts.memberships()
    ]
    return np.concatenate([np.array(block) for block in blocks], axis=1)


def _counts_errors(metric: Metric, statistics: Sequence[Statistics], lower: Sequence[str]) -> bool:
    if not isinstance(metric, Mean):
        return False
    totals = np.array([each.rows[:, 0] for each in statistics])
    return metric.label in lower or lower_is_better(metric.label, totals)


@dataclass(frozen=True)
class SensitivityOptions:
    """What to find out besides the two stages.

    `best` asks for the agreement among the best k systems, `sizes` for that on so many words (none
    named: round numbers), `slope` names the reference system of the difficulty slope. `reach` is
    the agreement that counts as agreeing.
    """

    coefficient: Coefficient = Pearson()
    resamples: int = 1000
    best: bool = False
    sizes: tuple[int, ...] | None = None
    reach: float = 0.8
    slope: str | None = None

    def __post_init__(self) -> None:
        """The coefficient is one that has an interval by Fisher's z."""
        object.__setattr__(self, "coefficient", COEFFICIENTS.parse(self.coefficient))
        if math.isnan(self.coefficient.error(0.0, 100)):
            raise DataError(
                f"--coefficient {self.coefficient}: sensitivity is a correlation; "
                "choose pearson, spearman, kendall or kendall-c."
            )
        if self.resamples < 1:
            raise DataError("the number of resamples is at least 1.")
        if not -1 <= self.reach <= 1:
            raise DataError(f"--reach {self.reach:g}: give a correlation between -1 and 1.")
