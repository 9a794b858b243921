"""Names in the output (Babych and Hartley, 2004): where meaning is lost, so are they."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from assay.data import Segment
from assay.features.pipelines import Pipeline
from assay.metrics.base import Array, Rows
from assay.settings import setting
from assay.tasks.counts import rate
from assay.tasks.labels import check_known, parse_labels
from assay.tasks.metric import TaggedMetric

__all__ = ["Entities"]


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
