"""MuLER with all that says how far to trust it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError
from assay.decomposition.decompose import (
    ENOUGH,
    PRESETS,
    Annotated,
    Decomposition,
    FeatureScore,
    Parts,
    Preset,
    decompose,
    is_few,
    ratio,
)
from assay.decomposition.mask import MaskUnit
from assay.decomposition.report import MulerReport
from assay.features.annotation import Feature
from assay.metrics.base import Metric
from assay.results import Charts, Record, Result, Table, known
from assay.statistics.arrays import Array
from assay.statistics.intervals import Interval, jackknife_interval, jackknife_p
from assay.statistics.significance import benjamini_hochberg

__all__ = ["MulerEstimate", "MulerResult", "Sentences", "by_sentence", "muler"]


_UNKNOWN = Interval(math.nan, math.nan, math.nan)


@dataclass(frozen=True, eq=False)
class MulerResult(Result):
    """MuLER of systems by features."""

    metric: Metric
    preset: Preset
    systems: tuple[str, ...]
    features: tuple[Feature, ...]
    scores: tuple[FeatureScore, ...]
    tested: bool

    def records(self) -> list[Record]:
        """One record per system and feature."""
        return [self._record(each) for each in self.scores]

    def tables(self) -> list[Table]:
        """The standard report of every system, and comparisons where there are several."""
        return self._shown().tables()

    def charts(self) -> Charts:
        """MuLER by feature, and what the paper's figures show."""
        return Charts(self._shown().charts())

    def _shown(self) -> MulerReport:
        return MulerReport(
            self.metric, self.preset, self.systems, self.features, self.scores, self.tested
        )

    def _record(self, each: FeatureScore) -> Record:
        values = {f.name: getattr(each, f.name) for f in fields(each)}
        feature = values.pop("feature")
        record = {
            "system": values.pop("system"),
            "metric": self.metric.requested,
            "resolved": str(self.metric),
            "feature": feature.name,
            "kind": feature.kind,
            **values,
            "few": each.is_thin,
            "approximate": each.is_approximate,
        }
        return {key: known(value) for key, value in record.items()}


def muler(
    annotated: Annotated,
    metric: Metric,
    features: Sequence[Feature],
    *,
    preset: Preset = PRESETS["corpus"],
    per: MaskUnit = "token",
    tested: bool = True,
) -> MulerResult:
    """Take a metric apart by features, with intervals and paired tests against the first system.

    Both are by jackknife, so that nothing is drawn at random; `tested=False` leaves them out. A
    feature of few sentences has neither.
    """
    if not features:
        raise DataError("no feature to look at: name some with -f.")
    found = decompose(annotated, metric, features, preset=preset, per=per)
    scores = [each for feature in found.features for each in _of_feature(found, feature, tested)]
    return MulerResult(
        found.metric, preset, found.systems, found.features, _corrected(scores), tested
    )


@dataclass(frozen=True, eq=False)
class MulerEstimate:
    """MuLER of one feature and system, by leaving out each sentence of I in turn."""

    parts: Parts

    @cached_property
    def value(self) -> float:
        """MuLER."""
        return float(ratio(self.parts.scores()))

    @cached_property
    def without_each(self) -> Array:
        """MuLER without each sentence of I."""
        if len(self.parts.chosen) < 2:
            return np.full(len(self.parts.chosen), np.nan)
        return ratio(self.parts.without_each())

    def interval(self) -> Interval:
        """The 95 % interval, however few sentences there are."""
        return jackknife_interval(self.value, self.without_each)

    def p(self, first: MulerEstimate) -> float:
        """How likely chance alone would set the system so far apart from the first one.

        Every sentence that either has in I is left out of both.
        """
        segments = np.union1d(self.parts.chosen, first.parts.chosen)
        own, other = self._over(segments), first._over(segments)
        return jackknife_p(self.value - first.value, own - other)

    def _over(self, segments: NDArray[np.intp]) -> Array:
        values = np.full(len(segments), self.value)
        values[np.searchsorted(segments, self.parts.chosen)] = self.without_each
        return values


def _of_feature(found: Decomposition, feature: Feature, tested: bool) -> list[FeatureScore]:
    first = MulerEstimate(found.parts[feature, found.systems[0]])
    scores: list[FeatureScore] = []
    for system in found.systems:
        key = feature, system
        parts = found.parts[key]
        plain, oracle, anti = parts.scores() * found.preset.scale
        n = len(parts.chosen)
        estimate = first if system == found.systems[0] else MulerEstimate(parts)
        interval = estimate.interval() if tested and n >= ENOUGH else _UNKNOWN
        few = is_few(min(n, len(first.parts.chosen)))
        sentences = by_sentence(parts, found.metric)
        under, over, equal = _discrepancy(found.counts[key][parts.chosen])
        of_reference, of_system = found.usage[key]
        scores.append(
            FeatureScore(
                feature=feature,
                system=system,
                n=n,
                plain=float(plain),
                oracle=float(oracle),
                anti=float(anti),
                muler=estimate.value,
                low=interval.low,
                high=interval.high,
                abl=float(oracle - plain),
                under=under,
                over=over,
                equal=equal,
                frequency_ref=of_reference.frequency,
                frequency_sys=of_system.frequency,
                uniqueness_ref=of_reference.uniqueness,
                uniqueness_sys=of_system.uniqueness,
                per_sentence=sentences.ratio,
                negative=sentences.negative,
                undefined=sentences.undefined,
                p=estimate.p(first) if tested and not few and estimate is not first else math.nan,
            )
        )
    return scores


class Sentences(NamedTuple):
    """MuLER as the mean of sentences' ratios, and the sentences that have none."""

    ratio: float
    negative: int
    undefined: int


def by_sentence(parts: Parts, metric: Metric) -> Sentences:
    """The variant of the paper's Tables 3 and 15: a ratio per sentence, where it makes sense.

    A sentence counts where masking gains something and no more than there is to gain; the sum is
    divided by all of I. Sentences that lose by the oracle are negative (appendix G), those where
    oracle and anti-oracle are equal undefined.
    """
    if not len(parts.chosen):
        return Sentences(math.nan, 0, 0)
    plain, oracle, anti = (metric.oriented(part.segments()) for part in parts[1:])
    gain, spread = oracle - plain, oracle - anti
    tiny = 1e-9 * np.maximum(1, np.abs(oracle))
    good = (gain > tiny) & (gain <= spread + tiny)
    total = float((gain[good] / spread[good]).sum())
    negative = int(np.count_nonzero(gain < -tiny))
    undefined = int(np.count_nonzero(np.abs(spread) <= tiny))
    return Sentences(total / len(gain), negative, undefined)


def _discrepancy(counts: NDArray[np.intp]) -> tuple[float, float, float]:
    """The shares of I in which the output has the feature less, more and just as often."""
    if not len(counts):
        return math.nan, math.nan, math.nan
    wanted, given = counts.T
    return (
        float(np.mean(wanted > given)),
        float(np.mean(wanted < given)),
        float(np.mean(wanted == given)),
    )


def _corrected(scores: Sequence[FeatureScore]) -> tuple[FeatureScore, ...]:
    """The same with p corrected over the features of each system (Benjamini and Hochberg)."""
    found = list(scores)
    for system in {each.system for each in scores}:
        own = [at for at, each in enumerate(found) if each.system == system]
        for at, p in zip(own, benjamini_hochberg([found[at].p for at in own]), strict=True):
            found[at] = found[at].with_correction(float(p))
    return tuple(found)
