"""MuLER of every feature and system: how much of what a feature can gain or lose is lost."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from assay.data import Array, DataError, Segment
from assay.decomposition.mask import Line, Masks, MaskUnit, Spans, masks_of
from assay.decomposition.texts import Annotated, FeaturePlaces, MaskedTexts, Usage, plain_segments
from assay.features.annotation import Feature
from assay.metrics.base import Metric, Rows, Statistics
from assay.metrics.mean import Mean
from assay.metrics.neural.bertscore import Places, Stretches
from assay.registry import did_you_mean

__all__ = [
    "ENOUGH",
    "FEW",
    "MANY",
    "PRESETS",
    "UNMASKED",
    "Annotated",
    "Decomposition",
    "Editable",
    "FeaturePlaces",
    "FeatureScore",
    "MaskedTexts",
    "Parts",
    "Preset",
    "decompose",
    "edited",
    "is_few",
    "plain_segments",
    "preset_named",
    "ratio",
]


@dataclass(frozen=True)
class Preset:
    """A way to score the sentences of a feature."""

    name: str
    level: Literal["corpus", "sentence"]
    scale: float
    meaning: str

    def metric(self, metric: Metric) -> Metric:
        """The metric as this preset wants it."""
        return metric.as_in_muler_paper() if self.name == "paper" else metric

    def statistics(self, metric: Metric, rows: Rows) -> Statistics:
        """Rows whose aggregate is the figure: the metric's own, or the mean of sentence scores."""
        if self.level == "corpus":
            return Statistics(metric, rows)
        return Mean(str(metric)).of(metric.each(rows))


PRESETS = {
    preset.name: preset
    for preset in (
        Preset("corpus", "corpus", 1.0, "the metric's corpus score of the sentences of I"),
        Preset("sentence", "sentence", 1.0, "the mean of the metric's sentence scores"),
        Preset(
            "paper",
            "sentence",
            0.01,
            "the mean of unsmoothed sentence BLEU (or stemmed ROUGE-L precision), 0-1",
        ),
    )
}


def preset_named(name: str) -> Preset:
    """The preset of that name; a wrong one is a `DataError`."""
    if name not in PRESETS:
        known = ", ".join(PRESETS)
        raise DataError(f"no preset {name!r}{did_you_mean(name, PRESETS)}. Presets: {known}.")
    return PRESETS[name]


UNMASKED = Masks("word", "", "", "")
"""For texts that stay as they are."""


@runtime_checkable
class Editable(Protocol):
    """A metric that can take words of both sides for equal, or for like nothing else."""

    def masked_rows(
        self, segments: Sequence[Segment], places: Sequence[Places]
    ) -> tuple[Rows, Rows]:
        """One row per place at best, and one at worst."""


def edited(
    metric: Metric, texts: Sequence[MaskedTexts], segments: Sequence[Segment]
) -> Iterator[tuple[MaskedTexts, tuple[Rows, Rows]]]:
    """The rows of the best and the worst, feature by feature; `segments` are those of all systems.

    All features together, so that the words of each segment are compared once.
    """
    if not isinstance(metric, Editable) or not metric.needs_references:
        raise DataError(f"{metric} does not compare with references, which MuLER needs.")
    return _edited(metric, texts, segments)


def _edited(
    metric: Editable, texts: Sequence[MaskedTexts], segments: Sequence[Segment]
) -> Iterator[tuple[MaskedTexts, tuple[Rows, Rows]]]:
    places = [_places(masked) for masked in texts]
    best, worst = metric.masked_rows(segments, [place for own in places for place in own])
    ends = list(accumulate(map(len, places)))
    for masked, start, end in zip(texts, [0, *ends], ends, strict=False):
        yield masked, (best[start:end], worst[start:end])


def _places(texts: MaskedTexts) -> list[Places]:
    """Where the chosen segments of all systems have the feature, one system after the other."""
    annotated, feature = texts.places.annotated, texts.feature
    shared = {
        at: [*map(_stretches, annotated.reference_lines[at], spans)]
        for at, spans in texts.places.references[feature].items()
    }
    return [
        Places(
            number * len(annotated) + at,
            _stretches(annotated.lines[name][at], by_feature[feature][at]),
            shared[at],
        )
        for number, (name, by_feature) in enumerate(texts.places.systems.items())
        for at in texts.chosen[name].tolist()
    ]


def _stretches(line: Line, spans: Spans) -> Stretches:
    """The letters of the tokens; the blank after the last one is none of them."""
    return [(line.starts[start], line.starts[end] - 1) for start, end, _ in spans]


FEW = 30
"""Fewer sentences than this have no p: the t-test's errors are off there (docs/muler.md)."""

ENOUGH = 100
"""Fewer have no interval: where most sentences are right, one in six would miss the truth."""

MANY = 300
"""Fewer have an approximate interval: it covers 88 to 97 %, and from here on 92 to 98 %."""


def is_few(n: int) -> bool:
    """Whether so many sentences are too few for a test."""
    return n < FEW


@dataclass(frozen=True)
class FeatureScore:
    """Scores on the sentences of I, those in which both sides have the feature; `nan` is unknown.

    `plain`, `oracle` and `anti` are the metric's scores of the texts as they are and masked for
    the best and the worst; `muler` is (oracle - plain) / (oracle - anti), lower is better; `abl`
    its numerator. `per_sentence`, `negative` and `undefined` look at each sentence by itself.
    `under`, `over` and `equal` are the shares of I in which the output has the feature less often
    than the reference, more often, or just as often. `frequency` is the share of all words,
    `uniqueness` that of distinct words among those with the feature. `p` compares with the first
    system; `p_bh` is corrected over the features. There is no p where either system has few
    sentences (`FEW`), and no interval of fewer than `ENOUGH`.
    """

    feature: Feature
    system: str
    n: int
    plain: float
    oracle: float
    anti: float
    muler: float
    low: float
    high: float
    abl: float
    under: float
    over: float
    equal: float
    frequency_ref: float
    frequency_sys: float
    uniqueness_ref: float
    uniqueness_sys: float
    per_sentence: float
    negative: int
    undefined: int
    p: float = math.nan
    p_bh: float = math.nan

    @property
    def is_thin(self) -> bool:
        """Whether there are too few sentences to say anything."""
        return is_few(self.n)

    @property
    def is_approximate(self) -> bool:
        """Whether there is an interval, but of too few sentences to be sure of it."""
        return self.n < MANY and not math.isnan(self.low)

    def with_correction(self, p: float) -> FeatureScore:
        """The same with its corrected p."""
        return replace(self, p_bh=p)


class Parts(NamedTuple):
    """One system's texts with one feature, three times: as they are, at best and at worst.

    `chosen` are the segments of I, those that have the feature on both sides.
    """

    chosen: NDArray[np.intp]
    plain: Statistics
    oracle: Statistics
    anti: Statistics

    def scores(self) -> Array:
        """Plain, oracle and anti-oracle, (3,)."""
        if not len(self.chosen):
            return np.full(3, np.nan)
        return np.array([part.corpus() for part in (self.plain, self.oracle, self.anti)])

    def without_each(self) -> Array:
        """The same without each segment of I in turn, (3, |I|)."""
        return np.array([part.without_each() for part in (self.plain, self.oracle, self.anti)])


@dataclass(frozen=True, eq=False)
class Decomposition:
    """What `decompose` finds, by feature and then by system."""

    metric: Metric
    preset: Preset
    features: tuple[Feature, ...]
    systems: tuple[str, ...]
    parts: Mapping[tuple[Feature, str], Parts]
    counts: Mapping[tuple[Feature, str], NDArray[np.intp]]
    places: FeaturePlaces

    @cached_property
    def usage(self) -> Mapping[tuple[Feature, str], tuple[Usage, Usage]]:
        """How the first reference and the output use the words of every feature."""
        wanted = {feature: self.places.reference_usage(feature) for feature in self.features}
        return {
            (feature, system): (wanted[feature], self.places.usage(feature, system))
            for feature, system in self.parts
        }


def ratio(scores: Array) -> Array:
    """MuLER from plain, oracle and anti-oracle scores; `nan` where the last two are equal."""
    plain, oracle, anti = scores
    spread = oracle - anti
    known = np.abs(spread) > 1e-12 * np.maximum(np.abs(oracle), np.abs(anti))
    gain = oracle - plain
    return np.where(known, np.divide(gain, spread, out=np.zeros_like(gain), where=known), np.nan)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Masked texts are millions of small tuples: to look for cycles in them takes half the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_uncollected()
def decompose(
    annotated: Annotated,
    metric: Metric,
    features: Sequence[Feature],
    *,
    preset: Preset = PRESETS["corpus"],
    per: MaskUnit = "token",
) -> Decomposition:
    """Score the texts as they are, and for every feature masked for the best and for the worst."""
    metric = preset.metric(metric)
    segments = plain_segments(annotated)
    places = FeaturePlaces.of(annotated, features)
    extremes = _extremes(places, metric, segments, features, per)
    plain = preset.statistics(metric, metric.statistics(segments).rows)
    parts: dict[tuple[Feature, str], Parts] = {}
    counts: dict[tuple[Feature, str], NDArray[np.intp]] = {}
    for masked, rows in extremes:
        oracle, anti = (preset.statistics(metric, masked_rows) for masked_rows in rows)
        feature, start = masked.feature, 0
        for number, system in enumerate(annotated.systems):
            key, chosen = (feature, system), masked.chosen[system]
            own = slice(start, start := start + len(chosen))
            as_is = plain[number * len(annotated) + chosen]
            parts[key] = Parts(chosen, as_is, oracle[own], anti[own])
            counts[key] = masked.counts(system)
    systems = tuple(annotated.systems)
    return Decomposition(metric, preset, tuple(features), systems, parts, counts, places)


def _extremes(
    places: FeaturePlaces,
    metric: Metric,
    segments: Sequence[Segment],
    features: Sequence[Feature],
    per: MaskUnit,
) -> Iterator[tuple[MaskedTexts, tuple[Rows, Rows]]]:
    """The rows of the best and the worst: of masked texts, or of edited similarities."""
    if isinstance(metric, Editable):
        as_is = [MaskedTexts(places, feature, UNMASKED, per) for feature in features]
        return edited(metric, as_is, segments)
    masks = masks_of(metric, segments)
    return _scored((MaskedTexts(places, feature, masks, per) for feature in features), metric)


def _scored(
    texts: Iterable[MaskedTexts], metric: Metric
) -> Iterator[tuple[MaskedTexts, tuple[Rows, Rows]]]:
    """The rows of the best and the worst, feature by feature.

    The kernel works while Python waits or does something else: here it masks the next feature.
    """

    def rows(oracle: list[Segment], anti: list[Segment]) -> tuple[Rows, Rows]:
        return metric.statistics(oracle).rows, metric.statistics(anti).rows

    with ThreadPoolExecutor(1) as scorer:
        waiting: list[tuple[MaskedTexts, Future[tuple[Rows, Rows]]]] = []
        for masked in texts:
            waiting.append((masked, scorer.submit(rows, *masked.extremes())))
            if len(waiting) > 1:
                before, scored = waiting.pop(0)
                yield before, scored.result()
        for before, scored in waiting:
            yield before, scored.result()
