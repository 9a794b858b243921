"""The texts of a test set by feature: where each has it, and the texts with it masked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError, Segment
from assay.features.annotation import Annotation, Feature, Finder
from assay.muler.mask import (
    Masks,
    Per,
    Side,
    Spans,
    Treat,
    always,
    mask_all,
    mask_side,
    plain_text,
    side_of,
)
from assay.muler.mask import mask as mask_pair

__all__ = ["Annotated", "FoundFeatures", "MaskedTexts", "Sides", "Usage", "plain_segments"]


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


def plain_segments(annotated: Annotated) -> list[Segment]:
    """The texts of all systems as they are, one system after the other."""
    references = [tuple(map(plain_text, each)) for each in annotated.references]
    return [
        Segment(plain_text(annotation), shared)
        for lines in annotated.systems.values()
        for annotation, shared in zip(lines, references, strict=True)
    ]


class Usage(NamedTuple):
    """How a text uses a feature: its share of all words, and of its words how many are distinct."""

    frequency: float
    uniqueness: float

    @classmethod
    def of(cls, texts: Iterable[Annotation], sides: Iterable[Side]) -> Usage:
        """Of the words of the texts; no word with the feature leaves uniqueness unknown."""
        total = sum(len(text.tokens) for text in texts)
        words = [side.tokens[at].lower() for side in sides for at in side.positions]
        return cls(
            len(words) / total if total else np.nan,
            len(set(words)) / len(words) if words else np.nan,
        )


class FoundFeatures(NamedTuple):
    """All texts, gone through once for all features: by feature and segment, where they have it.

    A segment's references are there together, as soon as one of them has the feature.
    """

    annotated: Annotated
    references: Mapping[Feature, Mapping[int, Sequence[Spans]]]
    systems: Mapping[str, Mapping[Feature, Mapping[int, Spans]]]

    @classmethod
    def of(cls, annotated: Annotated, features: Sequence[Feature]) -> FoundFeatures:
        """Look for the features in every text."""
        find = Finder(features)
        systems: dict[str, dict[Feature, dict[int, Spans]]] = {}
        for name, texts in annotated.systems.items():
            own = systems[name] = {feature: {} for feature in features}
            for at, text in enumerate(texts):
                for feature, spans in find(text).items():
                    own[feature][at] = spans
        references: dict[Feature, dict[int, Sequence[Spans]]] = {f: {} for f in features}
        for at, shared in enumerate(annotated.references):
            found = [find(text) for text in shared]
            for feature in dict.fromkeys(feature for each in found for feature in each):
                references[feature][at] = [spans.get(feature, ()) for spans in found]
        return cls(annotated, references, systems)

    def usage(self, feature: Feature, system: str) -> Usage:
        """How a system uses words of the feature."""
        texts = self.annotated.systems[system]
        return Usage.of(texts, Sides(texts, self.systems[system][feature]).values())

    def reference_usage(self, feature: Feature) -> Usage:
        """How the first reference uses them."""
        texts = [each[0] for each in self.annotated.references]
        spans = {at: each[0] for at, each in self.references[feature].items()}
        return Usage.of(texts, Sides(texts, spans).values())


class Sides(Mapping[int, Side]):
    """A system's texts with a feature, by segment; each side is made when asked for."""

    def __init__(self, texts: Sequence[Annotation], spans: Mapping[int, Spans]) -> None:
        self._texts = texts
        self._spans = spans

    def __getitem__(self, at: int) -> Side:
        return side_of(self._texts[at], self._spans[at])

    def __iter__(self) -> Iterator[int]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)

    def counts(self) -> list[int]:
        """How often each text has the feature."""
        return [len(spans) for spans in self._spans.values()]

    def masked(self, chosen: Iterable[int], masks: Masks) -> list[str]:
        """Some of the texts with the shared mask on every token."""
        return mask_all(((self._texts[at].tokens, self._spans[at]) for at in chosen), masks)


@dataclass(frozen=True, eq=False)
class MaskedTexts:
    """The texts with one feature, ready to be masked.

    `chosen` are the segments of I, and `wanted` counts the feature in all segments of the first
    reference.
    """

    masks: Masks
    per: Per
    references: Mapping[int, tuple[Side, ...]]
    systems: Mapping[str, Sides]
    chosen: Mapping[str, NDArray[np.intp]]
    wanted: NDArray[np.intp]

    @classmethod
    def of(cls, found: FoundFeatures, feature: Feature, masks: Masks, per: Per) -> MaskedTexts:
        """A segment is chosen where both sides have the feature."""
        references = {
            at: tuple(map(side_of, found.annotated.references[at], spans))
            for at, spans in found.references[feature].items()
        }
        systems = {
            name: Sides(found.annotated.systems[name], by_feature[feature])
            for name, by_feature in found.systems.items()
        }
        chosen = {
            name: np.array([at for at in sides if at in references], np.intp)
            for name, sides in systems.items()
        }
        wanted = np.zeros(len(found.annotated), np.intp)
        wanted[list(references)] = [len(sides[0].spans) for sides in references.values()]
        return cls(masks, per, references, systems, chosen, wanted)

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
        return list(map(Segment, texts, [shared[at] for _, at in places]))

    def extremes(self) -> tuple[list[Segment], list[Segment]]:
        """The same masked for the best and for the worst."""
        if self.masks.policy == "type":
            return self.segments(always("oracle")), self.segments(always("anti"))
        shared, own = self.masks.shared, self.masks.hypothesis
        oracle = self._oracle() if self.per == "token" else self.segments(always("oracle"))
        # The shared mask can stay in the references: the outputs have another one there.
        worst = [segment[0].replace(shared, own) for segment in oracle]
        return oracle, list(map(Segment, worst, [segment[1] for segment in oracle]))

    def _oracle(self) -> list[Segment]:
        """What `segments` gives for the best, without looking at every word."""
        masks, best = self.masks, always("oracle")
        shared = {
            at: tuple([mask_side(side, masks, masks.shared, best) for side in sides])
            for at, sides in self.references.items()
        }
        found: list[Segment] = []
        for name, sides in self.systems.items():
            chosen = self.chosen[name].tolist()
            references = [shared[at] for at in chosen]
            found += map(Segment, sides.masked(chosen, masks), references)
        return found

    def counts(self, system: str) -> NDArray[np.intp]:
        """Occurrences in the first reference and in the output, (N, 2)."""
        sides = self.systems[system]
        given = np.zeros_like(self.wanted)
        given[list(sides)] = sides.counts()
        return np.column_stack([self.wanted, given])
