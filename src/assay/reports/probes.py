"""Probes: everything that two systems are compared on, as rows of sums per segment.

A probe is a slice and a way to score it. Its rows hold sums for every system and segment, and
`aggregate` makes scores of sums, as in a metric; so every probe is tested in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.comparison.slices import Slice
from assay.comparison.words import FrequencyBin, Vocabulary, WordClass, f_score, rare_words
from assay.data import Array, Dataset, divide
from assay.metrics.base import Statistics
from assay.statistics.intervals import interval
from assay.statistics.signflips import sign_flip_p
from assay.store.observing import Estimate, estimate, share_estimate

__all__ = [
    "KINDS",
    "Probe",
    "ProbeTest",
    "SegmentProbe",
    "SliceKind",
    "SumProbe",
    "bin_probe",
    "class_probe",
    "phrase_tests",
    "rare_word_tests",
]

SliceKind = Literal[
    "text", "label", "difficulty", "words", "frequency", "phrases", "fault", "phenomenon", "human"
]

KINDS: Mapping[SliceKind, str] = {
    "text": "Segments by what is in them",
    "label": "Documents and other labels",
    "difficulty": "Segments by difficulty",
    "words": "Words by class",
    "frequency": "Words by frequency",
    "phrases": "Single words and pairs of words",
    "fault": "Surface faults",
    "phenomenon": "Phenomena of the test suite",
    "human": "What people found",
}

PHRASE_CARRIERS = 8
"""A single word is looked at if its matches differ in so many segments."""


@dataclass(frozen=True)
class ProbeTest:
    """One probe for one pair of systems.

    `segments` are the positions of the segments looked at, `contributions` what each of them adds
    to the difference, oriented so that more is better for the first system. `specific` says how
    surely the difference goes beyond what the pair shows everywhere, as -log10 p; `nan` where that
    question does not arise.
    """

    kind: SliceKind
    name: str
    metric: str
    unit: str
    higher: bool | None
    finer: bool
    first: int
    second: int
    value: float
    other: float
    p: float
    segments: NDArray[np.intp]
    contributions: Array
    specific: float = math.nan
    size: int = 0
    """Of everything that was looked at, where `segments` are only those that differ."""
    domain: str = "segments"
    """What `segments` are: segments of the test set, or items of the suite."""

    @property
    def carriers(self) -> int:
        """The number of segments in which the systems differ."""
        return int(np.count_nonzero(self.contributions))

    @property
    def error(self) -> float:
        """The standard error of the difference; `nan` for a single segment."""
        size = max(len(self.segments), self.size)
        if size < 2:
            return math.nan
        total = float(self.contributions.sum())
        squares = float((self.contributions**2).sum()) - total**2 / size
        return math.sqrt(size / (size - 1) * max(0.0, squares))


class Whole(NamedTuple):
    """What a pair shows over the whole test set: contributions and the weight of each segment."""

    contributions: Array
    weights: Array


@dataclass(frozen=True, eq=False)
class Probe:
    """A slice and how it is scored; `higher` is None where neither more nor less is better."""

    kind: SliceKind
    name: str
    metric: str
    unit: str
    higher: bool | None
    finer: bool


@dataclass(frozen=True, eq=False)
class SegmentProbe(Probe):
    """A metric on some segments."""

    statistics: Sequence[Statistics]
    segments: NDArray[np.intp]

    @classmethod
    def of(cls, part: Slice, statistics: Sequence[Statistics], title: str) -> SegmentProbe:
        """The metric of these statistics on a slice."""
        metric = statistics[0].metric
        kind: Any = part.kind
        return cls(
            kind, part.name, title, "", metric.higher_is_better, metric.is_small,
            statistics, np.flatnonzero(part.mask),
        )  # fmt: skip

    def test(self, first: int, second: int, whole: Whole) -> ProbeTest:
        """The pair on the slice, and whether it stands out from the rest."""
        one, other = (self.statistics[at][self.segments] for at in (first, second))
        moved = one.contributions(other)
        return ProbeTest(
            self.kind, self.name, self.metric, self.unit, self.higher, self.finer, first, second,
            one.corpus(), other.corpus(), sign_flip_p(moved), self.segments, moved,
            _standing_out(whole, self.segments, float(moved.sum())),
        )  # fmt: skip

    def estimate(self, at: int, *, level: float) -> Estimate:
        """The value of one system on the slice, with its interval."""
        return estimate(self.statistics[at][self.segments], level=level)


def _standing_out(whole: Whole, segments: NDArray[np.intp], difference: float) -> float:
    """How surely the difference inside is more than what its weight would lead one to expect."""
    moved, weights = whole
    total, weight = float(moved.sum()), float(weights.sum())
    inside = float(weights[segments].sum())
    if not 0 < inside < weight:
        return 0.0
    rest = moved - total * weights / weight
    spread = float((rest**2).sum()) / weight * inside * (1 - inside / weight)
    surplus = float(rest[segments].sum())
    if spread <= 0 or surplus * difference <= 0:
        return 0.0
    return _evidence(surplus / math.sqrt(spread))


@dataclass(frozen=True, eq=False)
class SumProbe(Probe):
    """Sums that are counted for the probe itself: words of a class, faults, verdicts, errors.

    `rows` are (systems, segments, k); with `judged`, the second sum says whether there is a
    verdict, and only segments that have one for both systems count. `expected` are rows of which
    this is a part (all words), so that what stands out can be told from what is everywhere.
    """

    rows: Array
    aggregate: Callable[[Array], Array] = f_score
    expected: Array | None = None
    domain: str = "segments"
    judged: bool = False

    def test(self, first: int, second: int, whole: Whole) -> ProbeTest:
        """The pair on the probe."""
        one, other = self.rows[first], self.rows[second]
        present = one.any(axis=1) | other.any(axis=1)
        there = np.flatnonzero((one[:, 1] * other[:, 1] > 0) if self.judged else present)
        one, other = one[there], other[there]
        moved = self._oriented(_moved(one, other, self.aggregate))
        values = self.aggregate(np.stack([one.sum(axis=0), other.sum(axis=0)]))
        specific = math.nan
        if self.expected is not None:
            whole_words = [self.expected[at][there] for at in (first, second)]
            everything = self._oriented(_moved(whole_words[0], whole_words[1], self.aggregate))
            specific = self._beyond(moved, everything, one + other, first, second)
        return ProbeTest(
            self.kind, self.name, self.metric, self.unit, self.higher, self.finer, first, second,
            float(values[0]), float(values[1]), sign_flip_p(moved), there, moved, specific,
            domain=self.domain,
        )  # fmt: skip

    def estimate(self, at: int, *, level: float) -> Estimate:
        """The value of one system, with its interval: Wilson's for shares of segments or items."""
        rows = self.rows[at]
        total = rows.sum(axis=0)
        if self.judged or self.kind == "phenomenon":
            return share_estimate(float(total[0]), float(total[1]), level=level)
        there = rows[rows.any(axis=1)]
        value = float(self.aggregate(total[None, :])[0])
        without = self.aggregate(total - there)
        bounds = 0.0, 100.0 if self.unit == "%" else math.inf
        return _jackknifed(value, without, bounds, level)

    def _oriented(self, moved: Array) -> Array:
        return -moved if self.higher is False else moved

    def _beyond(
        self, moved: Array, everything: Array, both: Array, first: int, second: int
    ) -> float:
        """How surely the class differs by more than its share of all errors."""
        assert self.expected is not None
        total = (self.expected[first] + self.expected[second]).sum(axis=0)
        scores = self.aggregate(np.stack([both.sum(axis=0), total]))
        missing = 100 - np.nan_to_num(scores, nan=100.0)
        beta = min(3.0, float(divide(missing[0], missing[1])))
        rest = moved - beta * everything
        surplus, size = float(rest.sum()), math.sqrt(float((rest**2).sum()))
        if size <= 0 or surplus * float(moved.sum()) <= 0:
            return 0.0
        return _evidence(surplus / size)


def _moved(one: Array, other: Array, aggregate: Callable[[Array], Array]) -> Array:
    middle = (one.sum(axis=0) + other.sum(axis=0)) / 2
    half = (one - other) / 2
    moved = np.zeros(len(half))
    differ = half.any(axis=1)
    if differ.any():
        moved[differ] = aggregate(middle + half[differ]) - aggregate(middle - half[differ])
    return np.nan_to_num(moved)


def _evidence(z: float) -> float:
    """-log10 of the two-sided p of a z."""
    from scipy.special import log_ndtr

    return -(float(log_ndtr(-abs(z))) + math.log(2)) / math.log(10)


def class_probe(kind: SliceKind, part: WordClass, everything: Array | None) -> SumProbe:
    """A class of words, scored by F."""
    return SumProbe(kind, part.name, "F", "%", True, False, part.counts, f_score, everything)


@dataclass(frozen=True, eq=False)
class BinProbe(Probe):
    """Types of similar frequency, each of which counts alike: MacroF on the bin."""

    words: Vocabulary
    chosen: NDArray[np.bool_]

    def test(self, first: int, second: int, whole: Whole) -> ProbeTest:
        """The pair on the bin."""
        columns = np.flatnonzero(self.chosen)
        wanted = self.words.reference_counts[columns]
        sides = [[part[:, columns] for part in self.words.of_system(at)] for at in (first, second)]
        sums = [[np.asarray(part.sum(axis=0)).ravel() for part in side] for side in sides]
        values = [float(100 * divide(2 * m, p + wanted).mean()) for p, m in sums]
        (had, matched), (had_other, matched_other) = sides
        # Both differences in one sparse array, so that they share their places.
        both = ((matched - matched_other) + 1j * (had - had_other)).tocoo()
        change_m, change_p = both.data.real / 2, both.data.imag / 2
        middle_m = (sums[0][1] + sums[1][1])[both.col] / 2
        middle_p = (sums[0][0] + sums[1][0])[both.col] / 2 + wanted[both.col]
        moved = divide(2 * (middle_m + change_m), middle_p + change_p)
        moved -= divide(2 * (middle_m - change_m), middle_p - change_p)
        sums_by_segment = np.bincount(both.row, moved, minlength=self.words.length)
        by_segment: Array = 100 * sums_by_segment.astype(float) / len(columns)
        by_segment[np.abs(by_segment) < 1e-12] = 0.0
        there = np.flatnonzero(np.asarray(self.words.reference[:, columns].sum(axis=1)).ravel())
        there = np.union1d(there, np.flatnonzero(by_segment))
        return ProbeTest(
            self.kind, self.name, self.metric, self.unit, True, False, first, second,
            values[0], values[1], sign_flip_p(by_segment), there, by_segment[there],
            _standing_out(whole, there, float(by_segment.sum())),
        )  # fmt: skip

    def estimate(self, at: int, *, level: float) -> Estimate:
        """The value of one system on the bin, with its interval."""
        columns = np.flatnonzero(self.chosen)
        had, matched = (part[:, columns] for part in self.words.of_system(at))
        both = (matched + 1j * (had + self.words.reference[:, columns])).tocoo()
        sums = np.asarray(both.sum(axis=0)).ravel()
        own = divide(2 * sums.real, sums.imag)
        value = 100 * float(own.mean())
        left = sums[both.col] - both.data
        lost = divide(2 * left.real, left.imag) - own[both.col]
        by_segment = np.bincount(both.row, lost, minlength=self.words.length)
        there = np.bincount(both.row, minlength=self.words.length) > 0
        without: Array = value + 100 * by_segment[there] / len(columns)
        return _jackknifed(value, without, (0.0, 100.0), level)


def _jackknifed(
    value: float, without: Array, bounds: tuple[float, float], level: float
) -> Estimate:
    low, high, _ = interval(
        value, np.zeros(0), level=level, method="jackknife", jackknife=without, bounds=bounds
    )
    return Estimate(value, low, high, len(without), "jackknife")


def bin_probe(part: FrequencyBin, words: Vocabulary) -> BinProbe:
    """A bin of frequency, scored by MacroF."""
    return BinProbe("frequency", part.name, "MacroF1", "", True, False, words, part.chosen)


def rare_word_tests(
    dataset: Dataset, words: Vocabulary, first: int, second: int
) -> list[ProbeTest]:
    """Words found nowhere else, per 100 words of the reference."""
    part = rare_words(dataset, words, (first, second))
    rows = np.zeros((len(dataset.systems), words.length, 2))
    rows[[first, second]] = part.counts
    probe = SumProbe("words", part.name, "per 100 words", "", False, False, rows, _per_hundred)
    return [probe.test(first, second, Whole(np.zeros(0), np.zeros(0)))]


def _per_hundred(sums: Array) -> Array:
    return 100 * divide(sums[:, 0], sums[:, 1])


def phrase_tests(words: Vocabulary, first: int, second: int) -> list[ProbeTest]:
    """Words or pairs of words that match in one system and not in the other, or are used more."""
    (had, matched), (had_other, matched_other) = (words.of_system(at) for at in (first, second))
    both = ((matched - matched_other) + 1j * (had - had_other)).tocsc()
    both.sum_duplicates()
    sums = [
        np.asarray(part.sum(axis=0)).ravel() for part in (had, matched, had_other, matched_other)
    ]
    counts = np.diff(both.indptr)
    found = []
    for column in np.flatnonzero(counts >= PHRASE_CARRIERS):
        span = slice(both.indptr[column], both.indptr[column + 1])
        rows, changes = both.indices[span].astype(np.intp), both.data[span]
        p, m, p_other, m_other = (float(part[column]) for part in sums)
        found += _phrase(
            words, int(column), first, second, rows, changes, (p, m), (p_other, m_other)
        )
    return found


def quoted(phrase: str) -> str:
    """The phrase between quotation marks that it does not hold itself, where that can be.

    >>> print(quoted("on"), quoted(', "'))
    “on” ‘, "’
    """
    return f"‘{phrase}’" if set(phrase) & set('"“”„') else f"“{phrase}”"


def _phrase(
    words: Vocabulary,
    column: int,
    first: int,
    second: int,
    rows: NDArray[np.intp],
    changes: Any,
    one: tuple[float, float],
    other: tuple[float, float],
) -> list[ProbeTest]:
    name, wanted = quoted(words.types[column]), float(words.reference_counts[column])
    matches, uses = changes.real, changes.imag
    found = []
    (p, m), (p_other, m_other) = one, other
    if np.count_nonzero(matches) >= PHRASE_CARRIERS:
        middle_m, middle = (m + m_other) / 2, (p + p_other) / 2 + wanted
        moved = 100 * (
            divide(2 * middle_m + matches, middle + uses / 2)
            - divide(2 * middle_m - matches, middle - uses / 2)
        )
        value = 200 * m / (p + wanted) if p + wanted else math.nan
        value_other = 200 * m_other / (p_other + wanted) if p_other + wanted else math.nan
        found.append(
            ProbeTest(
                "phrases", name, "F", "%", True, False, first, second, value, value_other,
                sign_flip_p(moved), rows, moved, size=words.length,
            )
        )  # fmt: skip
    if np.count_nonzero(uses) >= PHRASE_CARRIERS:
        found.append(
            ProbeTest(
                "phrases", name, "uses", "", None, False, first, second, p, p_other,
                sign_flip_p(uses), rows, uses, size=words.length,
            )
        )  # fmt: skip
    return found
