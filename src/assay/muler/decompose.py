"""MuLER of every feature and system: how much of what a feature can gain or lose is lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay import weights
from assay.data import DataError, Segment
from assay.features.annotation import Annotation, Feature, Finder, TokenSpan
from assay.metrics.base import Array, Metric, Statistics
from assay.muler.mask import Masks, Per, Side, always, mask_side, masks_of, plain_text, side_of
from assay.muler.mask import mask as mask_pair
from assay.muler.presets import PRESETS, Preset

__all__ = [
    "Annotated",
    "Decomposition",
    "FoundFeatures",
    "MaskedTexts",
    "Parts",
    "Usage",
    "decompose",
    "ratio",
]


@dataclass(frozen=True, eq=False)
class Annotated:
    """The texts of a test set with their annotations: references as one tuple per segment."""

    systems: Mapping[str, Sequence[Annotation]]
    references: Sequence[tuple[Annotation, ...]]

    def __post_init__(self) -> None:
        for name, lines in self.systems.items():
            if len(lines) != len(self.references):
                raise DataError(
                    f"system {name!r}: {len(lines)} annotated texts for "
                    f"{len(self.references)} segments."
                )

    def __len__(self) -> int:
        return len(self.references)


class Parts(NamedTuple):
    """One system's texts with one feature, three times: as they are, at best and at worst.

    `chosen` are the segments of I, those that have the feature on both sides.
    """

    chosen: NDArray[np.intp]
    plain: Statistics
    oracle: Statistics
    anti: Statistics

    def scores(self, drawn: Array | None = None) -> Array:
        """Plain, oracle and anti-oracle, (3,), or (3, b) under (b, N) weights of all segments."""
        parts = (self.plain, self.oracle, self.anti)
        if not len(self.chosen):
            return np.full((3,) if drawn is None else (3, len(drawn)), np.nan)
        if drawn is None:
            return np.array([part.corpus() for part in parts])
        mine = np.ascontiguousarray(drawn[:, self.chosen])
        return np.array([part.score(mine) for part in parts])

    def without_each(self) -> Array:
        """The same without each segment of I in turn, (3, |I|)."""
        return np.array([part.without_each() for part in (self.plain, self.oracle, self.anti)])


class Usage(NamedTuple):
    """How a text uses a feature: its share of all words, and of its words how many are distinct."""

    frequency: float
    uniqueness: float

    @classmethod
    def of(cls, sides: Sequence[Side]) -> Usage:
        """Count the words that have the feature; no such word leaves uniqueness unknown."""
        words = [side.tokens[at].lower() for side in sides for at in side.positions]
        total = sum(len(side.tokens) for side in sides)
        return cls(
            len(words) / total if total else np.nan,
            len(set(words)) / len(words) if words else np.nan,
        )


@dataclass(frozen=True, eq=False)
class Decomposition:
    """What `decompose` finds, by feature and then by system."""

    metric: Metric
    preset: Preset
    features: tuple[Feature, ...]
    systems: tuple[str, ...]
    parts: Mapping[tuple[Feature, str], Parts]
    counts: Mapping[tuple[Feature, str], NDArray[np.intp]]
    usage: Mapping[tuple[Feature, str], tuple[Usage, Usage]]

    def replicates(self, *, resamples: int, rng: np.random.Generator) -> dict[tuple, Array]:  # type: ignore[type-arg]
        """MuLER on the same resamples of all segments, by feature and system."""
        length = len(next(iter(self.counts.values())))
        found: dict[tuple[Feature, str], list[Array]] = {key: [] for key in self.parts}
        for drawn in weights.resamples(length, resamples, rng=rng):
            for key, parts in self.parts.items():
                found[key].append(ratio(parts.scores(drawn)))
        return {key: np.concatenate(blocks) for key, blocks in found.items()}


def ratio(scores: Array) -> Array:
    """MuLER from plain, oracle and anti-oracle scores; `nan` where the last two are equal."""
    plain, oracle, anti = scores
    spread = oracle - anti
    known = np.abs(spread) > 1e-12 * np.maximum(np.abs(oracle), np.abs(anti))
    gain = oracle - plain
    return np.where(known, np.divide(gain, spread, out=np.zeros_like(gain), where=known), np.nan)


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
    plain = metric.statistics(_plain_segments(annotated)).rows
    systems = tuple(annotated.systems)
    parts: dict[tuple[Feature, str], Parts] = {}
    counts: dict[tuple[Feature, str], NDArray[np.intp]] = {}
    usage: dict[tuple[Feature, str], tuple[Usage, Usage]] = {}
    found = FoundFeatures.of(annotated, features)
    for feature in features:
        masked = MaskedTexts.of(found, feature, masks_of(metric), per)
        oracle, anti = (
            metric.statistics(masked.segments(kind)).rows for kind in ("oracle", "anti")
        )
        start = 0
        for number, system in enumerate(systems):
            chosen = masked.chosen[system]
            own = slice(start, start := start + len(chosen))
            rows = plain[number * len(annotated) + chosen], oracle[own], anti[own]
            parts[feature, system] = Parts(chosen, *(preset.statistics(metric, r) for r in rows))
            counts[feature, system] = masked.counts(system)
            usage[feature, system] = masked.usage(system)
    return Decomposition(metric, preset, tuple(features), systems, parts, counts, usage)


def _plain_segments(annotated: Annotated) -> list[Segment]:
    references = [tuple(map(plain_text, each)) for each in annotated.references]
    return [
        Segment(plain_text(annotation), shared)
        for lines in annotated.systems.values()
        for annotation, shared in zip(lines, references, strict=True)
    ]


class FoundText(NamedTuple):
    """A text and where its features are."""

    annotation: Annotation
    spans: Mapping[Feature, Sequence[TokenSpan]]

    def side(self, feature: Feature) -> Side:
        """The text with the places of one feature."""
        return side_of(self.annotation, self.spans.get(feature, ()))


class FoundFeatures(NamedTuple):
    """All texts, gone through once for all features."""

    references: Sequence[tuple[FoundText, ...]]
    systems: Mapping[str, Sequence[FoundText]]

    @classmethod
    def of(cls, annotated: Annotated, features: Sequence[Feature]) -> FoundFeatures:
        """Look for the features in every text."""
        find = Finder(features)
        return cls(
            [
                tuple(FoundText(each, find(each)) for each in texts)
                for texts in annotated.references
            ],
            {
                name: [FoundText(each, find(each)) for each in texts]
                for name, texts in annotated.systems.items()
            },
        )


@dataclass(frozen=True, eq=False)
class MaskedTexts:
    """The texts of I for one feature, ready to be masked."""

    masks: Masks
    per: Per
    references: Sequence[tuple[Side, ...]]
    systems: Mapping[str, Sequence[Side]]
    chosen: Mapping[str, NDArray[np.intp]]

    @classmethod
    def of(cls, found: FoundFeatures, feature: Feature, masks: Masks, per: Per) -> MaskedTexts:
        """A segment is chosen where both sides have the feature."""
        references = [tuple(each.side(feature) for each in texts) for texts in found.references]
        there = np.array([any(side.positions for side in sides) for sides in references], bool)
        systems = {
            name: [each.side(feature) for each in texts] for name, texts in found.systems.items()
        }
        chosen = {
            name: np.flatnonzero(there & np.array([bool(s.positions) for s in sides], bool))
            for name, sides in systems.items()
        }
        return cls(masks, per, references, systems, chosen)

    def segments(self, kind: str) -> list[Segment]:
        """The chosen segments of all systems, one system after the other, masked."""
        treat = always("oracle" if kind == "oracle" else "anti")
        if self.masks.policy == "type":
            return [
                Segment(*mask_pair(self.systems[name][at], self.references[at], self.masks, treat))
                for name, at in self._places()
            ]
        shared: dict[int, tuple[str, ...]] = {}
        found = []
        for name, at in self._places():
            if at not in shared:
                own = self.masks.reference
                shared[at] = tuple(
                    mask_side(side, self.masks, own, treat, self.per)
                    for side in self.references[at]
                )
            hypothesis = self.systems[name][at]
            text = mask_side(hypothesis, self.masks, self.masks.hypothesis, treat, self.per)
            found.append(Segment(text, shared[at]))
        return found

    def counts(self, system: str) -> NDArray[np.intp]:
        """Occurrences in the first reference and in the output, (N, 2)."""
        pairs = zip(self.references, self.systems[system], strict=True)
        return np.array([(len(r[0].spans), len(s.spans)) for r, s in pairs], np.intp).reshape(-1, 2)

    def usage(self, system: str) -> tuple[Usage, Usage]:
        """How the first reference and the output use words of the feature."""
        return Usage.of([sides[0] for sides in self.references]), Usage.of(self.systems[system])

    def _places(self) -> Iterator[tuple[str, int]]:
        return ((name, int(at)) for name in self.systems for at in self.chosen[name])
