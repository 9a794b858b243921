"""Names and relations of words in the output, counted or compared with those of the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from assay.data import Array, DataError, Segment
from assay.features.spacy import Pipeline
from assay.metrics.base import Rows
from assay.metrics.tagged import (
    WHOLE,
    Bag,
    Overlap,
    Tagged,
    TaggedItem,
    TaggedMetric,
    check_known,
    overlap_rows,
    overlaps_by_label,
    parse_labels,
    parse_weights,
    rate,
    share,
)
from assay.registry import setting

__all__ = ["Entities", "EntityF", "RelationMetric", "Relations", "XScore"]


@dataclass(frozen=True)
class Entities(TaggedMetric):
    """The number of names of some types in the output; no reference is needed.

    Types are those of the pipeline, with + between them, or `all`.
    """

    name: ClassVar[str] = "entities"
    needs_references: ClassVar[bool] = False
    scale: ClassVar[str] = "count"

    types: str = setting("ORG", key="types")
    per: Literal["text", "100words"] = setting("text", key="per")

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_labels(f"{self.name}:types", self.types)

    def check_pipeline(self, pipeline: Pipeline) -> None:
        """It finds names, of these types."""
        wanted = parse_labels(f"{self.name}:types", self.types) or ()
        check_known(f"{self.name}:types={self.types}", wanted, "names", pipeline)

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """Names and words."""
        wanted = parse_labels(f"{self.name}:types", self.types)
        counts = {
            line: (sum(wanted is None or each.label in wanted for each in text.names), text.words)
            for line, text in self.tag_outputs(segments).items()
        }
        rows = [counts[segment.hypothesis] for segment in segments]
        return np.array(rows, float).reshape(-1, 2)

    def aggregate(self, sums: Array) -> Array:
        """The number of names, in all or per hundred words."""
        return rate(sums, self.per)


@dataclass(frozen=True)
class EntityF(TaggedMetric):
    """F1 (or precision, or recall) of the output's names, in percent.

    A name is right where a name of the same type and the same words is in the reference of its
    segment, each as often as it is there.
    """

    name: ClassVar[str] = "entityf"

    types: str = setting("all", key="types")
    measure: Literal["f1", "precision", "recall"] = setting("f1", key="measure")
    lowercase: bool = setting(False, key="case", values={"yes": "lc", "no": "mixed"})

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_labels(f"{self.name}:types", self.types)

    def check_pipeline(self, pipeline: Pipeline) -> None:
        """It finds names, of these types."""
        wanted = parse_labels(f"{self.name}:types", self.types) or ()
        check_known(f"{self.name}:types={self.types}", wanted, "names", pipeline)

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """Names of the output, of the closest reference and of both, and one for the segment."""
        return overlap_rows(segments, self.tag_all(segments), self._bag)

    def aggregate(self, sums: Array) -> Array:
        """F1, precision or recall of all names together, in percent."""
        return share(sums, self.measure)

    def by_type(self, segments: Sequence[Segment]) -> dict[str, Overlap]:
        """How many names of each type are predicted, wanted and matched."""
        return overlaps_by_label(segments, self.tag_all(segments), self._bag)

    def _bag(self, text: Tagged) -> Bag:
        wanted = parse_labels(f"{self.name}:types", self.types)
        names = (name for name in text.names if wanted is None or name.label in wanted)
        return Counter(
            TaggedItem(name.label, name.text.lower() if self.lowercase else name.text)
            for name in names
        )


NO_RELATIONS = {"punct", "root", "dep"}
"""Punctuation, the word without a head, and what the parser could not name."""


@dataclass(frozen=True)
class RelationMetric(TaggedMetric):
    """Looks at some relations, each with its weight; one that is not named weighs 1.

    `types` are labels of the pipeline's parser, in lower case, with + between them, or `all` but
    punctuation, roots and the unnamed. `weights` are written `nsubj*2+amod*0.5`.
    """

    types: str = setting("all", key="types")
    weights: str = setting("")

    def __post_init__(self) -> None:
        super().__post_init__()
        wanted = parse_labels(f"{self.name}:types", self.types)
        for label in parse_weights(f"{self.name}:weights", self.weights):
            if wanted is not None and label not in wanted:
                raise DataError(
                    f"{self.name}: {label} has a weight, but does not count; add it to the types: "
                    f"types={self.types}+{label}."
                )

    def check_pipeline(self, pipeline: Pipeline) -> None:
        """It finds relations of these types."""
        wanted = parse_labels(f"{self.name}:types", self.types) or ()
        named = {*wanted, *parse_weights(f"{self.name}:weights", self.weights)}
        check_known(self.name, named, "relations", pipeline)

    def weigh(self, texts: Mapping[str, Tagged]) -> dict[str, int]:
        """The weight in thousandths of every relation in the texts that counts."""
        labels = {each.label for text in texts.values() for each in text.relations}
        if not labels and any(text.words for text in texts.values()):
            raise DataError(
                f"{self.name}: the pipeline does not parse, it finds no relations. "
                "Name another: pipeline=NAME."
            )
        wanted = parse_labels(f"{self.name}:types", self.types)
        counting = labels - NO_RELATIONS if wanted is None else labels & wanted
        given = parse_weights(f"{self.name}:weights", self.weights)
        weights = {label: given.get(label, WHOLE) for label in sorted(counting)}
        return {label: weight for label, weight in weights.items() if weight}


@dataclass(frozen=True)
class Relations(RelationMetric):
    """F1 of the output's relations against the reference's, in percent.

    Recall is the share of the reference's relations that is preserved, precision that of the
    output's relations that is not generated too often. Relations are counted by their label, with
    `match=word` by label and word.
    """

    name: ClassVar[str] = "relations"

    measure: Literal["f1", "precision", "recall"] = setting("f1", key="measure")
    match: Literal["label", "word"] = setting("label", key="match")

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(each < 0 for each in parse_weights(f"{self.name}:weights", self.weights).values()):
            raise DataError(
                f"{self.name}:weights={self.weights}: weights below 0 go with xscore, which counts "
                "without a reference; a relation that should not count here weighs 0."
            )

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """Relations of the output, of the closest reference and of both; one for the segment."""
        texts = self.tag_all(segments)
        return overlap_rows(segments, texts, self._bag(self.weigh(texts)))

    def aggregate(self, sums: Array) -> Array:
        """F1, precision or recall of all relations together, in percent."""
        return share(sums, self.measure)

    def by_type(self, segments: Sequence[Segment]) -> dict[str, Overlap]:
        """How many relations of each label are predicted, wanted and matched, times its weight."""
        texts = self.tag_all(segments)
        found = overlaps_by_label(segments, texts, self._bag(self.weigh(texts)))
        return {
            label: Overlap(*(each / WHOLE for each in overlap)) for label, overlap in found.items()
        }

    def _bag(self, weights: Mapping[str, int]) -> Callable[[Tagged], Bag]:
        def bag(text: Tagged) -> Bag:
            relations = (each for each in text.relations if each.label in weights)
            by_word = self.match == "word"
            counts = Counter(each if by_word else TaggedItem(each.label, "") for each in relations)
            return {item: weights[item.label] * count for item, count in counts.items()}

        return bag


@dataclass(frozen=True)
class XScore(RelationMetric):
    """Weighed counts of the output's relations (Rajman and Hartley, 2001); needs no reference.

    A relation that bad systems destroy weighs more than 0, one that they make too often less. By
    default relative clauses are counted.
    """

    name: ClassVar[str] = "xscore"
    needs_references: ClassVar[bool] = False
    scale: ClassVar[str] = "count"

    types: str = setting("relcl", key="types")
    per: Literal["text", "100words"] = setting("text", key="per")

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """The weights of all relations added up, and words."""
        texts = self.tag_outputs(segments)
        weights = self.weigh(texts)
        counts = {
            line: (sum(weights.get(each.label, 0) for each in text.relations), text.words)
            for line, text in texts.items()
        }
        rows = [counts[segment.hypothesis] for segment in segments]
        return np.array(rows, float).reshape(-1, 2)

    def aggregate(self, sums: Array) -> Array:
        """The sum of weights, in all or per hundred words."""
        return rate(sums, self.per) / WHOLE
