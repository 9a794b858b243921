"""What `score` gives back: one entry per metric, shown as tables, charts and records."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from assay.metrics.base import Array
from assay.results import Chart, Record, Table
from assay.scoring.display import Display
from assay.scoring.entries import MetricScores, Part, parts
from assay.scoring.questions import Questions
from assay.significance import Comparison

__all__ = ["ScoreResult"]

_KEYS = ("system", "metric", "resolved", "signature", "score")


@dataclass(frozen=True, eq=False)
class ScoreResult:
    """Scores of systems by metrics."""

    systems: tuple[str, ...]
    by_metric: tuple[MetricScores, ...]
    questions: Questions

    def records(self) -> list[Record]:
        """One record per system and metric; then per pair, document and segment where asked."""
        return [self._complete(each) for entry in self.by_metric for each in self._records(entry)]

    def tables(self) -> list[Table]:
        """An overview, and for each metric what was asked about it."""
        return Display(self.systems, self.by_metric, self.questions).tables()

    def charts(self) -> list[Chart]:
        """Bars with intervals, and for all pairs of many systems a map of the differences."""
        return Display(self.systems, self.by_metric, self.questions).charts()

    def _complete(self, record: Record) -> Record:
        """All records have the same keys in the same order, and None for the unknown (nan)."""
        asked = self.questions
        extra = {
            "low": asked.confidence,
            "high": asked.confidence,
            "baseline": asked.test != "none",
            "difference": asked.test != "none",
            "difference_low": asked.test != "none",
            "difference_high": asked.test != "none",
            "p": asked.test != "none",
            "p_holm": asked.test != "none",
            "test": asked.test != "none",
            "effect": asked.test != "none",
            "cluster": asked.test != "none" and asked.all_pairs,
            "document": asked.documents,
            "group": asked.groups,
            "n": asked.documents or asked.groups,
            "segment": asked.segments,
            "reference": any(entry.winners is not None for entry in self.by_metric),
        }
        keys = [*_KEYS, *(key for key, wanted in extra.items() if wanted)]
        values = {key: record.get(key) for key in keys}
        return {key: None if _is_nan(value) else value for key, value in values.items()}

    def _records(self, entry: MetricScores) -> Iterator[Record]:
        whole = Part("", entry.length, entry.corpus, entry.intervals, entry.comparisons)
        for at, record in enumerate(self._part_records(entry, whole)):
            ranked = entry.clusters and at < len(self.systems)
            yield record | ({"cluster": entry.clusters[at]} if ranked and entry.clusters else {})
        for kind, grouped in parts(entry):
            for part in grouped:
                for record in self._part_records(entry, part):
                    yield record | {kind: part.name}
        if entry.segments is not None:
            yield from self._segment_records(entry, entry.segments)

    def _part_records(self, entry: MetricScores, part: Part) -> Iterator[Record]:
        """A record per system, and where all pairs were asked for, one per pair."""
        pairs, every = part.comparisons or [], self.questions.all_pairs
        against_first = {} if every else {each.first: each for each in pairs}
        for at, score in enumerate(part.scores):
            record = self._record(entry, at, score) | {"n": part.segments}
            if part.intervals:
                record |= {"low": part.intervals[at].low, "high": part.intervals[at].high}
            yield record | self._compared(entry, part, against_first.get(at))
        for each in pairs if every else []:
            record = self._record(entry, each.first, part.scores[each.first])
            yield record | {"n": part.segments} | self._compared(entry, part, each)

    def _segment_records(self, entry: MetricScores, scores: Array) -> Iterator[Record]:
        metric, signature = entry.segment_metric
        scored = {"resolved": str(metric), "signature": signature}
        for at in range(len(self.systems)):
            for number, value in enumerate(scores[at], 1):
                record = self._record(entry, at, value) | scored | {"segment": number}
                if entry.winners is not None:
                    record["reference"] = int(entry.winners[at, number - 1]) + 1
                yield record

    def _record(self, entry: MetricScores, at: int, value: float) -> Record:
        return {
            "system": self.systems[at],
            "metric": entry.metric.requested,
            "resolved": str(entry.metric),
            "signature": entry.signature,
            "score": float(value),
        }

    def _compared(self, entry: MetricScores, part: Part, each: Comparison | None) -> Record:
        if each is None:
            return {}
        return {
            "baseline": self.systems[each.second],
            "difference": each.difference,
            "difference_low": each.low,
            "difference_high": each.high,
            "p": each.p,
            "p_holm": each.p_holm,
            "test": self.questions.test_name(entry.metric, part.segments),
            "effect": each.effect,
        }


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)
