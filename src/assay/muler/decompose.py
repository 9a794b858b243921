"""MuLER of every feature and system: how much of what a feature can gain or lose is lost."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import Segment
from assay.features.annotation import Feature
from assay.metrics.base import Array, Metric, Rows, Statistics
from assay.muler.editing import UNMASKED, Editable, edited
from assay.muler.mask import Per, masks_of
from assay.muler.presets import PRESETS, Preset
from assay.muler.texts import Annotated, FoundFeatures, MaskedTexts, Usage, plain_segments

__all__ = [
    "Annotated",
    "Decomposition",
    "FoundFeatures",
    "MaskedTexts",
    "Parts",
    "decompose",
    "plain_segments",
    "ratio",
]


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
    found: FoundFeatures

    @cached_property
    def usage(self) -> Mapping[tuple[Feature, str], tuple[Usage, Usage]]:
        """How the first reference and the output use the words of every feature."""
        wanted = {feature: self.found.reference_usage(feature) for feature in self.features}
        return {
            (feature, system): (wanted[feature], self.found.usage(feature, system))
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
    per: Per = "token",
) -> Decomposition:
    """Score the texts as they are, and for every feature masked for the best and for the worst."""
    metric = preset.metric(metric)
    segments = plain_segments(annotated)
    found = FoundFeatures.of(annotated, features)
    extremes = _extremes(found, metric, segments, features, per)
    plain = preset.statistics(metric, metric.statistics(segments).rows)
    parts: dict[tuple[Feature, str], Parts] = {}
    counts: dict[tuple[Feature, str], NDArray[np.intp]] = {}
    for masked, rows in extremes:
        oracle, anti = (preset.statistics(metric, each) for each in rows)
        feature, start = masked.feature, 0
        for number, system in enumerate(annotated.systems):
            key, chosen = (feature, system), masked.chosen[system]
            own = slice(start, start := start + len(chosen))
            as_is = plain[number * len(annotated) + chosen]
            parts[key] = Parts(chosen, as_is, oracle[own], anti[own])
            counts[key] = masked.counts(system)
    systems = tuple(annotated.systems)
    return Decomposition(metric, preset, tuple(features), systems, parts, counts, found)


def _extremes(
    found: FoundFeatures,
    metric: Metric,
    segments: Sequence[Segment],
    features: Sequence[Feature],
    per: Per,
) -> Iterator[tuple[MaskedTexts, tuple[Rows, Rows]]]:
    """The rows of the best and the worst: of masked texts, or of edited similarities."""
    if isinstance(metric, Editable):
        as_is = [MaskedTexts(found, feature, UNMASKED, per) for feature in features]
        return edited(metric, as_is, segments)
    masks = masks_of(metric, segments)
    return _scored((MaskedTexts(found, feature, masks, per) for feature in features), metric)


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
