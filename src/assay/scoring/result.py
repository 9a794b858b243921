"""What `score` gives back: one entry per metric, shown as tables, charts and records."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from assay.results import Chart, Record, Table
from assay.scoring.display import Display
from assay.scoring.entries import MetricScores, parts
from assay.scoring.questions import Questions
from assay.significance import Comparison

__all__ = ["ScoreResult"]

_KEYS = ("system", "metric", "signature", "score")


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
            "p": asked.test != "none",
            "p_holm": asked.test != "none",
            "effect": asked.test != "none",
            "cluster": asked.test != "none" and asked.all_pairs,
            "document": asked.documents,
            "group": asked.groups,
            "segment": asked.segments,
            "reference": any(entry.winners is not None for entry in self.by_metric),
        }
        keys = [*_KEYS, *(key for key, wanted in extra.items() if wanted)]
        values = {key: record.get(key) for key in keys}
        return {key: None if _is_nan(value) else value for key, value in values.items()}

    def _records(self, entry: MetricScores) -> Iterator[Record]:
        pairs = entry.comparisons or []
        against_baseline = {} if self.questions.all_pairs else {each.first: each for each in pairs}
        for at in range(len(self.systems)):
            record = self._record(entry, at, entry.corpus[at])
            if entry.intervals:
                record |= {"low": entry.intervals[at].low, "high": entry.intervals[at].high}
            if entry.clusters:
                record |= {"cluster": entry.clusters[at]}
            yield record | self._compared(against_baseline.get(at))
        for each in pairs if self.questions.all_pairs else []:
            record = self._record(entry, each.first, entry.corpus[each.first])
            yield record | self._compared(each)
        yield from self._part_records(entry)

    def _part_records(self, entry: MetricScores) -> Iterator[Record]:
        for at in range(len(self.systems)):
            for kind, (names, scores) in parts(entry):
                for name, value in zip(names, scores[at], strict=True):
                    yield self._record(entry, at, value) | {kind: name}
            if entry.segments is not None:
                for number, value in enumerate(entry.segments[at], 1):
                    record = self._record(entry, at, value) | {"segment": number}
                    if entry.winners is not None:
                        record["reference"] = int(entry.winners[at, number - 1]) + 1
                    yield record

    def _record(self, entry: MetricScores, at: int, value: float) -> Record:
        return {
            "system": self.systems[at],
            "metric": str(entry.metric),
            "signature": entry.signature,
            "score": float(value),
        }

    def _compared(self, each: Comparison | None) -> Record:
        if each is None:
            return {}
        names = ("difference", "p", "p_holm", "effect")
        return {"baseline": self.systems[each.second], **{n: getattr(each, n) for n in names}}


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)
