"""Scores of all systems by all metrics at once, with whatever is asked about them."""

from assay.scoring.entries import Grouped, MetricScores, labels
from assay.scoring.questions import ALPHA, Questions
from assay.scoring.result import ScoreResult
from assay.scoring.run import SEED, score, score_dataset, score_each, system_statistics

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
