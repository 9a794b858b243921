"""How far systems are from the references by sentence scorers (MuLER, section 2.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError, Dataset
from assay.features.lexicons import Lexicon
from assay.features.tone import SentenceScorer, score_lines
from assay.languages import language_of
from assay.metrics.base import Statistics
from assay.metrics.mean import Mean
from assay.plots import bar_chart
from assay.results import (
    CellValue,
    Chart,
    Charts,
    Column,
    Columns,
    Direction,
    Record,
    Result,
    Table,
    known,
)
from assay.statistics.arrays import Array
from assay.statistics.intervals import interval
from assay.statistics.significance import bootstrap

__all__ = ["ScorerDifference", "ScorerResult", "scorer_differences"]

FEW = 0.5
"""Below this share of segments with words of the lexicon on both sides, the table warns."""

CALIBRATED = 300
"""Intervals of fewer segments are only approximate (benchmarks/calibrations/muler.py)."""

Counts: TypeAlias = NDArray[np.int64]

_MEAN = Mean("difference")


class ToneEstimate(NamedTuple):
    """A mean over segments and its bootstrap interval; `nan` where nothing was resampled."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ScorerDifference:
    """One system by one scorer: the means of s(r) - s(c) and of |s(r) - s(c)| over segments.

    `found_ref` and `found_sys` count the segments with a word of the lexicon, in any reference
    and in the system's output.
    """

    system: str
    scorer: SentenceScorer
    lexicon: Lexicon
    n: int
    signed: ToneEstimate
    absolute: ToneEstimate
    found_ref: int
    found_sys: int


@dataclass(frozen=True, eq=False)
class ScorerResult(Result):
    """Differences of all systems by all scorers."""

    differences: tuple[ScorerDifference, ...]
    level: float
    resamples: int

    def records(self) -> list[Record]:
        """One record per scorer and system."""
        return [_record(difference) for difference in self.differences]

    def tables(self) -> list[Table]:
        """A table per scorer, for their scales differ."""
        return [self._table(*group) for group in self._by_scorer()]

    def charts(self) -> Charts:
        """Bars with intervals for both kinds of difference, a chart per scorer."""
        return Charts(self._chart(*group) for group in self._by_scorer())

    def _by_scorer(self) -> list[tuple[str, list[ScorerDifference]]]:
        groups: dict[SentenceScorer, list[ScorerDifference]] = {}
        for difference in self.differences:
            groups.setdefault(difference.scorer, []).append(difference)
        return [(_title(group[0]), group) for group in groups.values()]

    def _table(self, title: str, group: Sequence[ScorerDifference]) -> Table:
        ends = ("", " low", " high") if self.resamples else ("",)
        means = tuple(f"{kind}{end}" for kind in _KINDS for end in ends)
        columns: Columns = (
            "system",
            *(Column(name, digits=3, direction=_BETTER.get(name)) for name in means),
            *(Column(name) for name in ("segments", "found ref", "found sys")),
        )
        rows: list[tuple[CellValue, ...]] = [
            (
                difference.system,
                *difference.signed[: len(ends)],
                *difference.absolute[: len(ends)],
                difference.n,
                difference.found_ref,
                difference.found_sys,
            )
            for difference in group
        ]
        return Table(title, columns, rows, self._note(group))

    def _note(self, group: Sequence[ScorerDifference]) -> str:
        lexicon = group[0].lexicon
        note = (
            "signed: the mean of reference minus system. absolute: the mean of its size. Scores "
            f"lie between {lexicon.low:g} and {lexicon.high:g}; a text without words of the "
            f"lexicon has 0. found: segments with such a word.{self._interval_note(group)}"
        )
        few = [difference.system for difference in group if _is_thin(difference)]
        if not few:
            return note
        return f"{note} Few segments have words of this lexicon: {', '.join(few)}."

    def _interval_note(self, group: Sequence[ScorerDifference]) -> str:
        if not self.resamples:
            return ""
        approximate = (
            f", approximate for fewer than {CALIBRATED} segments" if group[0].n < CALIBRATED else ""
        )
        return (
            f" low, high: {self.level:.0%} BCa bootstrap interval, {self.resamples} resamples"
            f"{approximate}."
        )

    def _chart(self, title: str, group: Sequence[ScorerDifference]) -> Chart:
        records = [
            {"system": difference.system, "kind": kind, **getattr(difference, kind)._asdict()}
            for difference in group
            for kind in _KINDS
        ]
        low, high = ("low", "high") if self.resamples else (None, None)
        chart = bar_chart(
            title, records, "system", "value", "kind",
            y_title="reference minus system", low=low, high=high,
        )  # fmt: skip
        return replace(chart, after=title)


def scorer_differences(
    dataset: Dataset,
    scorers: Sequence[SentenceScorer],
    *,
    level: float = 0.95,
    resamples: int = 1000,
    rng: np.random.Generator,
) -> ScorerResult:
    """How far every system is from the references by every scorer, over all segments.

    With several references, a segment's difference is the mean of those to each of them. All
    intervals come from the same resamples of the segments; `resamples=0` leaves them out.
    """
    if not scorers:
        raise DataError("no scorer given: pass at least one, such as sentiment.")
    if not dataset.systems or not len(dataset):
        raise DataError("sentence scorers compare systems with references: there are none.")
    _check_references(dataset)
    for scorer in scorers:
        if scorer.needs_english:
            scorer.check_language(language_of(dataset, "target"))
    measured = [one for scorer in scorers for one in _measure(dataset, scorer)]
    statistics = [own for one in measured for own in (one.signed, one.absolute)]
    replicates = bootstrap(statistics, resamples=resamples, rng=rng)
    pairs = zip(statistics, replicates, strict=True)
    estimates = iter([_estimate(own, sample, level) for own, sample in pairs])
    differences = [one.with_estimates(next(estimates), next(estimates)) for one in measured]
    return ScorerResult(tuple(differences), level, resamples)


class _Measured(NamedTuple):
    """One system by one scorer, before anything is resampled."""

    system: str
    scorer: SentenceScorer
    lexicon: Lexicon
    signed: Statistics
    absolute: Statistics
    found_ref: int
    found_sys: int

    def with_estimates(self, signed: ToneEstimate, absolute: ToneEstimate) -> ScorerDifference:
        return ScorerDifference(
            self.system, self.scorer, self.lexicon, len(self.signed), signed, absolute,
            self.found_ref, self.found_sys,
        )  # fmt: skip


def _check_references(dataset: Dataset) -> None:
    for number, references in enumerate(dataset.references, 1):
        if not references:
            raise DataError(f"scorers compare with references, but segment {number} has none.")


def _measure(dataset: Dataset, scorer: SentenceScorer) -> list[_Measured]:
    lexicon = scorer.lexicon()
    lines = [*chain.from_iterable(dataset.references), *chain(*dataset.systems.values())]
    scored = score_lines(lexicon, lines, negation=scorer.negates)
    counts = np.array([len(references) for references in dataset.references], np.int64)
    cut, shape = int(counts.sum()), (len(dataset.systems), len(dataset))
    found_ref = np.count_nonzero(_means(scored.found[:cut].astype(float), counts))
    found_sys = np.count_nonzero(scored.found[cut:].reshape(shape), axis=1)
    systems = zip(dataset.systems, scored.scores[cut:].reshape(shape), found_sys, strict=True)
    return [
        _Measured(
            name, scorer, lexicon, *_statistics(scored.scores[:cut], counts, scores),
            int(found_ref), int(count),
        )
        for name, scores, count in systems
    ]  # fmt: skip


def _statistics(references: Array, counts: Counts, scores: Array) -> tuple[Statistics, Statistics]:
    """The signed and the absolute difference of every segment, as means to be resampled."""
    differences = references - np.repeat(scores, counts)
    return _MEAN.of(_means(differences, counts)), _MEAN.of(_means(np.abs(differences), counts))


def _means(values: Array, counts: Counts) -> Array:
    """The mean over the references of each segment, which stand one after the other."""
    starts = np.cumsum(counts) - counts
    means: Array = np.add.reduceat(values, starts) / counts
    return means


def _estimate(statistics: Statistics, replicates: Array, level: float) -> ToneEstimate:
    value = statistics.corpus()
    jackknife = statistics.without_each()
    limits = interval(value, replicates, level=level, jackknife=jackknife)
    return ToneEstimate(value, limits.low, limits.high)


def _is_thin(difference: ScorerDifference) -> bool:
    return min(difference.found_ref, difference.found_sys) < FEW * difference.n


def _title(difference: ScorerDifference) -> str:
    return f"{difference.scorer.title}: {difference.lexicon.name}"


def _record(difference: ScorerDifference) -> Record:
    record: Record = {
        "system": difference.system,
        "scorer": difference.scorer.title,
        "lexicon": difference.lexicon.name,
        "n": difference.n,
    }
    for kind in _KINDS:
        value, low, high = map(known, getattr(difference, kind))
        record |= {kind: value, f"{kind}_low": low, f"{kind}_high": high}
    return record | {"found_ref": difference.found_ref, "found_sys": difference.found_sys}


_KINDS = ("signed", "absolute")
_BETTER: dict[str, Direction] = {"absolute": "low"}
