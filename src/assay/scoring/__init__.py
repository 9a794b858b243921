"""Scores of all systems by all metrics at once, with whatever is asked about them."""

from assay.scoring.compute import SEED, score, score_dataset, score_each, system_statistics
from assay.scoring.entries import ALPHA, Grouped, MetricScores, Questions, labels
from assay.scoring.report import ScoreResult

__all__ = [
    "ALPHA",
    "SEED",
    "Grouped",
    "MetricScores",
    "Questions",
    "ScoreResult",
    "labels",
    "score",
    "score_dataset",
    "score_each",
    "system_statistics",
]
