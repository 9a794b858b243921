"""Scores of all systems by all metrics at once, with whatever is asked about them."""

from assay.scoring.compute import score, score_dataset, score_each
from assay.scoring.report import ALPHA, MetricScores, ScoreOptions, ScoreResult

__all__ = [
    "ALPHA",
    "MetricScores",
    "ScoreOptions",
    "ScoreResult",
    "score",
    "score_dataset",
    "score_each",
]
