"""MuLER with all that says how far to trust it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError
from assay.features.annotation import Feature
from assay.metrics.base import Array, Metric
from assay.muler.decompose import Annotated, Decomposition, Parts, decompose, ratio
from assay.muler.display import Display
from assay.muler.mask import Per
from assay.muler.presets import PRESETS, Preset
from assay.muler.scores import FeatureScore
from assay.results import Chart, Record, Table
from assay.significance import benjamini_hochberg, bootstrap_p, interval

__all__ = ["MulerResult", "Sentences", "by_sentence", "muler"]


@dataclass(frozen=True, eq=False)
class MulerResult:
    """MuLER of systems by features."""

    metric: Metric
    preset: Preset
    systems: tuple[str, ...]
    features: tuple[Feature, ...]
    scores: tuple[FeatureScore, ...]
    resamples: int

    def records(self) -> list[Record]:
        """One record per system and feature."""
        return [self._record(each) for each in self.scores]

    def tables(self) -> list[Table]:
        """The standard report of every system, and comparisons where there are several."""
        return self._display().tables()

    def charts(self) -> list[Chart]:
        """MuLER by feature, and what the paper's figures show."""
        return self._display().charts()

    def _display(self) -> Display:
        return Display(self.metric, self.preset, self.systems, self.features, self.scores)

    def _record(self, each: FeatureScore) -> Record:
        values = {f.name: getattr(each, f.name) for f in fields(each)}
        feature = values.pop("feature")
        record = {
            "system": values.pop("system"),
            "metric": str(self.metric),
            "feature": feature.name,
            "kind": feature.kind,
            **values,
        }
        return {key: None if _is_nan(value) else value for key, value in record.items()}


def muler(
    annotated: Annotated,
    metric: Metric,
    features: Sequence[Feature],
    *,
    preset: Preset = PRESETS["corpus"],
    per: Per = "token",
    resamples: int = 1000,
    rng: np.random.Generator,
) -> MulerResult:
    """Take a metric apart by features, with bootstrap intervals and paired tests.

    `resamples=0` leaves intervals and tests out.
    """
    if not features:
        raise DataError("no feature to look at: name some with -f.")
    found = decompose(annotated, metric, features, preset=preset, per=per)
    drawn = found.replicates(resamples=resamples, rng=rng) if resamples else {}
    scores = [each for feature in found.features for each in _of_feature(found, feature, drawn)]
    return MulerResult(
        found.metric, preset, found.systems, found.features, _corrected(scores), resamples
    )


def _of_feature(
    found: Decomposition, feature: Feature, drawn: dict[tuple[Feature, str], Array]
) -> list[FeatureScore]:
    first = found.systems[0]
    scores: list[FeatureScore] = []
    for system in found.systems:
        key = feature, system
        parts = found.parts[key]
        plain, oracle, anti = parts.scores() * found.preset.scale
        value = float(ratio(np.array([plain, oracle, anti])))
        low, high = _interval(parts, value, drawn.get(key))
        sentences = by_sentence(parts, found.metric.higher_is_better)
        under, over, equal = _discrepancy(found.counts[key][parts.chosen])
        of_reference, of_system = found.usage[key]
        scores.append(
            FeatureScore(
                feature=feature,
                system=system,
                n=len(parts.chosen),
                plain=float(plain),
                oracle=float(oracle),
                anti=float(anti),
                muler=value,
                low=low,
                high=high,
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
                p=_p(drawn, feature, system, first, value, scores),
            )
        )
    return scores


def _interval(parts: Parts, value: float, drawn: Array | None) -> tuple[float, float]:
    if drawn is None or math.isnan(value) or len(parts.chosen) < 2:
        return math.nan, math.nan
    low, high, _ = interval(value, drawn, jackknife=ratio(parts.without_each()))
    return low, high


class Sentences(NamedTuple):
    """MuLER as the mean of sentences' ratios, and the sentences that have none."""

    ratio: float
    negative: int
    undefined: int


def by_sentence(parts: Parts, higher_is_better: bool) -> Sentences:
    """The variant of the paper's Tables 3 and 15: a ratio per sentence, where it makes sense.

    A sentence counts where masking gains something and no more than there is to gain; the sum is
    divided by all of I. Sentences that lose by the oracle are negative (appendix G), those where
    oracle and anti-oracle are equal undefined.
    """
    if not len(parts.chosen):
        return Sentences(math.nan, 0, 0)
    sign = 1 if higher_is_better else -1
    plain, oracle, anti = (sign * each.segments() for each in parts[1:])
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


def _p(
    drawn: dict[tuple[Feature, str], Array],
    feature: Feature,
    system: str,
    first: str,
    value: float,
    scores: Sequence[FeatureScore],
) -> float:
    """How likely chance alone would set the system so far apart from the first one."""
    if system == first or not drawn or math.isnan(value) or math.isnan(scores[0].muler):
        return math.nan
    differences = drawn[feature, system] - drawn[feature, first]
    return float(bootstrap_p(differences, value, scores[0].muler))


def _corrected(scores: Sequence[FeatureScore]) -> tuple[FeatureScore, ...]:
    """The same with p corrected over the features of each system (Benjamini and Hochberg)."""
    found = list(scores)
    for system in {each.system for each in scores}:
        own = [at for at, each in enumerate(found) if each.system == system]
        for at, p in zip(own, benjamini_hochberg([found[at].p for at in own]), strict=True):
            found[at] = found[at].with_correction(float(p))
    return tuple(found)


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)
