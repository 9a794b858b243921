"""Metrics and people on the same texts of the same systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.meta.candidates import lower_is_better
from assay.meta.panel import Candidate
from assay.meta.sensitivity.people import People
from assay.meta.sensitivity.texts import Texts
from assay.metrics.base import Array, Metric, Statistics
from assay.metrics.mean import Mean
from assay.scores import Scores
from assay.scoring import labels

__all__ = ["Study", "candidate_of", "corpus_scores", "imported", "text_scores"]


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
    ) -> Study:
        """From the statistics of every metric and system; `lower` names those to turn round."""
        titles = labels([each[0].metric for each in statistics])
        candidates = tuple(
            candidate_of(each, title, texts, people, lower=lower)
            for each, title in zip(statistics, titles, strict=True)
        )
        return cls(tuple(systems), texts, people, candidates, (*people.notes, *notes))


def candidate_of(
    statistics: Sequence[Statistics],
    title: str,
    texts: Texts,
    people: People,
    *,
    lower: Sequence[str] = (),
) -> Candidate:
    """A metric's score of what people rated of each text; `nan` where that is nothing."""
    scores = np.array(
        [
            np.where(known.any(axis=1), each.score(known.astype(float)), np.nan)
            for each, rated in zip(statistics, people.rated, strict=True)
            for known in [texts.membership * rated > 0]
        ]
    )
    metric = statistics[0].metric
    turned = not metric.higher_is_better or _counts_errors(metric, statistics, lower)
    name = title if isinstance(metric, Mean) else str(metric)
    return Candidate(name, title, scores, turned, tuple(statistics))


def imported(scores: Scores) -> list[Statistics]:
    """The statistics of each system from segment scores of another metric."""
    return [Mean(scores.name).of(values) for values in scores.values]


def text_scores(candidate: Candidate, texts: Texts) -> Array:
    """The scores of whole texts, rated or not, (systems, texts)."""
    return np.array([each.score(texts.membership) for each in candidate.statistics])


def corpus_scores(candidate: Candidate, texts: Texts, weights: Array) -> Array:
    """The systems' scores with texts weighted by (b, texts), more is better: (b, systems).

    All segments count, rated or not: systems are compared on the same words.
    """
    spread = texts.of_segments(weights)
    scores = np.array([each.score(spread) for each in candidate.statistics]).T
    return -scores if candidate.lower else scores


def _counts_errors(metric: Metric, statistics: Sequence[Statistics], lower: Sequence[str]) -> bool:
    if not isinstance(metric, Mean):
        return False
    totals = np.array([each.rows[:, 0] for each in statistics])
    return metric.label in lower or lower_is_better(metric.label, totals)
