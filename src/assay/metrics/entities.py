"""Names in the output (Babych and Hartley, 2004), counted and against the reference's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from assay.data import Segment
from assay.features.pipelines import Pipeline
from assay.metrics.base import Rows
from assay.metrics.tagged import (
    Bag,
    Overlap,
    Tagged,
    TaggedItem,
    TaggedMetric,
    check_known,
    overlap_rows,
    overlaps_by_label,
    parse_labels,
    rate,
    share,
)
from assay.settings import setting
from assay.statistics.arrays import Array

__all__ = ["Entities", "EntityF"]


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
