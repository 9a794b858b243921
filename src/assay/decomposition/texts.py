"""The texts of a test set by feature: where each has it, and the texts with it masked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError, Dataset, Segment
from assay.decomposition.mask import (
    FeatureText,
    Line,
    Masks,
    MaskUnit,
    Spans,
    Treat,
    always,
    line_of,
    mask_best,
    mask_extremes,
    mask_side,
    side_of,
)
from assay.decomposition.mask import mask as mask_pair
from assay.features.annotation import Annotation, Annotator, Feature, Finder
from assay.features.select import annotate_dataset
from assay.io.files import FilePath
from assay.progress import Track
from assay.text import Side, language_notes

__all__ = [
    "Annotated",
    "AnnotatedFeatures",
    "FeaturePlaces",
    "FeatureTexts",
    "MaskedTexts",
    "Usage",
    "annotate",
    "plain_segments",
]


class AnnotatedFeatures(NamedTuple):
    """Annotated texts, the features that are looked at, and what to know about both.

    `sides` are those whose language decided how texts were annotated.
    """

    texts: Annotated
    features: list[Feature]
    sides: tuple[Side, ...]
    notes: tuple[str, ...]


def annotate(
    data: Dataset,
    features: str | Sequence[str],
    *,
    annotator: str | Annotator | None,
    pipeline: str,
    tags: Sequence[FilePath],
    cache: bool,
    track: Track,
) -> AnnotatedFeatures:
    """The texts of a dataset as MuLER needs them; see `annotate_dataset`."""
    notes: list[str] = []
    annotated = annotate_dataset(
        data,
        [features] if isinstance(features, str) else list(features),
        annotator=annotator,
        pipeline=pipeline,
        tags=tags,
        cache=cache,
        track=partial(track, label="Tagging"),
        warn=notes.append,
    )
    sides: tuple[Side, ...] = ("target",) if annotated.by_language else ()
    texts = Annotated(annotated.systems, annotated.references)
    notes += language_notes(data, sides)
    return AnnotatedFeatures(texts, annotated.features, sides, tuple(notes))


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

    @cached_property
    def lines(self) -> Mapping[str, Sequence[Line]]:
        """The systems' texts, laid out to be masked."""
        return {name: [line_of(text) for text in texts] for name, texts in self.systems.items()}

    @cached_property
    def reference_lines(self) -> Sequence[Sequence[Line]]:
        """The references, laid out to be masked."""
        return [[line_of(text) for text in texts] for texts in self.references]


def plain_segments(annotated: Annotated) -> list[Segment]:
    """The texts of all systems as they are, one system after the other."""
    references = [tuple([line.text for line in lines]) for lines in annotated.reference_lines]
    return [
        Segment(line.text, shared)
        for lines in annotated.lines.values()
        for line, shared in zip(lines, references, strict=True)
    ]


class Usage(NamedTuple):
    """How a text uses a feature: its share of all words, and of its words how many are distinct."""

    frequency: float
    uniqueness: float

    @classmethod
    def of(cls, texts: Iterable[Annotation], sides: Iterable[FeatureText]) -> Usage:
        """Of the words of the texts; no word with the feature leaves uniqueness unknown."""
        total = sum(len(text.tokens) for text in texts)
        words = [side.tokens[at].lower() for side in sides for at in side.positions]
        return cls(
            len(words) / total if total else np.nan,
            len(set(words)) / len(words) if words else np.nan,
        )


class FeaturePlaces(NamedTuple):
    """All texts, gone through once for all features: by feature and segment, where they have it.

    A segment's references are there together, as soon as one of them has the feature.
    """

    annotated: Annotated
    references: Mapping[Feature, Mapping[int, Sequence[Spans]]]
    systems: Mapping[str, Mapping[Feature, Mapping[int, Spans]]]

    @classmethod
    def of(cls, annotated: Annotated, features: Sequence[Feature]) -> FeaturePlaces:
        """Look for the features in every text."""
        find = Finder(features)
        systems: dict[str, dict[Feature, dict[int, Spans]]] = {}
        for name, texts in annotated.systems.items():
            own = systems[name] = {feature: {} for feature in features}
            for at, text in enumerate(texts):
                for feature, spans in find(text).items():
                    own[feature][at] = spans
        references: dict[Feature, dict[int, Sequence[Spans]]] = {
            feature: {} for feature in features
        }
        for at, shared in enumerate(annotated.references):
            by_text = [find(text) for text in shared]
            for feature in dict.fromkeys(feature for own in by_text for feature in own):
                references[feature][at] = [spans.get(feature, ()) for spans in by_text]
        return cls(annotated, references, systems)

    def usage(self, feature: Feature, system: str) -> Usage:
        """How a system uses words of the feature."""
        texts = self.annotated.systems[system]
        return Usage.of(texts, FeatureTexts(texts, self.systems[system][feature]).values())

    def reference_usage(self, feature: Feature) -> Usage:
        """How the first reference uses them."""
        texts = [references[0] for references in self.annotated.references]
        spans = {at: by_text[0] for at, by_text in self.references[feature].items()}
        return Usage.of(texts, FeatureTexts(texts, spans).values())


class FeatureTexts(Mapping[int, FeatureText]):
    """A system's texts with a feature, by segment; each side is made when asked for."""

    def __init__(self, texts: Sequence[Annotation], spans: Mapping[int, Spans]) -> None:
        self._texts = texts
        self._spans = spans

    def __getitem__(self, at: int) -> FeatureText:
        return side_of(self._texts[at], self._spans[at])

    def __iter__(self) -> Iterator[int]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)


@dataclass(frozen=True, eq=False)
class MaskedTexts:
    """The texts with one feature, ready to be masked."""

    places: FeaturePlaces
    feature: Feature
    masks: Masks
    per: MaskUnit

    @cached_property
    def chosen(self) -> Mapping[str, NDArray[np.intp]]:
        """By system the segments of I: both sides have the feature."""
        wanted = self.places.references[self.feature]
        return {
            name: np.array([at for at in by_feature[self.feature] if at in wanted], np.intp)
            for name, by_feature in self.places.systems.items()
        }

    @cached_property
    def references(self) -> Mapping[int, tuple[FeatureText, ...]]:
        """The references of the segments in which one of them has the feature."""
        texts = self.places.annotated.references
        places = self.places.references[self.feature]
        return {at: tuple(map(side_of, texts[at], spans)) for at, spans in places.items()}

    @cached_property
    def systems(self) -> Mapping[str, FeatureTexts]:
        """The outputs that have the feature."""
        texts = self.places.annotated.systems
        return {
            name: FeatureTexts(texts[name], by_feature[self.feature])
            for name, by_feature in self.places.systems.items()
        }

    def segments(self, treat: Treat) -> list[Segment]:
        """The chosen segments of all systems, one system after the other, masked."""
        places = [(name, at) for name in self.systems for at in self.chosen[name].tolist()]
        if self.masks.policy == "type":
            return [
                Segment(*mask_pair(self.systems[name][at], self.references[at], self.masks, treat))
                for name, at in places
            ]
        masks, per = self.masks, self.per
        shared = {
            at: tuple([mask_side(side, masks, masks.reference, treat, per) for side in sides])
            for at, sides in self.references.items()
        }
        texts = [
            mask_side(self.systems[name][at], masks, masks.hypothesis, treat, per)
            for name, at in places
        ]
        return _segments(texts, [shared[at] for _, at in places])

    def extremes(self) -> tuple[list[Segment], list[Segment]]:
        """The same masked for the best and for the worst."""
        if self.masks.policy == "type":
            return self.segments(always("oracle")), self.segments(always("anti"))
        if self.per == "token":
            return self._by_token()
        oracle = self.segments(always("oracle"))
        shared, own = self.masks.shared, self.masks.hypothesis
        worst = [segment[0].replace(shared, own) for segment in oracle]
        return oracle, _segments(worst, [segment[1] for segment in oracle])

    def _by_token(self) -> tuple[list[Segment], list[Segment]]:
        """What `segments` gives for the best and for the worst, without looking at every word.

        The shared mask can stay in the references at worst: the outputs have another one there.
        """
        annotated, feature, masks = self.places.annotated, self.feature, self.masks
        lines = annotated.reference_lines
        shared = {
            at: tuple([mask_best(*text, masks) for text in zip(lines[at], spans, strict=True)])
            for at, spans in self.places.references[feature].items()
        }
        oracle: list[Segment] = []
        anti: list[Segment] = []
        for name, by_feature in self.places.systems.items():
            chosen, own, spans = (
                self.chosen[name].tolist(),
                annotated.lines[name],
                by_feature[feature],
            )
            outputs = mask_extremes([own[at] for at in chosen], [spans[at] for at in chosen], masks)
            references = [shared[at] for at in chosen]
            oracle += _segments(outputs.best, references)
            anti += _segments(outputs.worst, references)
        return oracle, anti

    def counts(self, system: str) -> NDArray[np.intp]:
        """Occurrences in the first reference and in the output, (N, 2)."""
        given = self.places.systems[system][self.feature]
        counts = self._wanted.copy()
        counts[list(given), 1] = [len(spans) for spans in given.values()]
        return counts

    @cached_property
    def _wanted(self) -> NDArray[np.intp]:
        """Occurrences in the first reference, and none in the output."""
        wanted = self.places.references[self.feature]
        counts = np.zeros((len(self.places.annotated), 2), np.intp)
        counts[list(wanted), 0] = [len(spans[0]) for spans in wanted.values()]
        return counts


def _segments(texts: Iterable[str], references: Iterable[tuple[str, ...]]) -> list[Segment]:
    # Twice as fast as to call `Segment`.
    return list(map(_make_segment, zip(texts, references, repeat(""), strict=False)))


_make_segment = partial(tuple.__new__, Segment)
