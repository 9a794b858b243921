"""ROUGE (Lin, 2004), equal to the rouge_score package's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from assay import kernel
from assay.data import Array, Segment, divide
from assay.metrics.base import Metric, Rows, explained_limit
from assay.registry import setting
from assay.text import rewrite

__all__ = ["ROUGE"]

_COLUMNS = {"precision": 0, "recall": 1, "f": 2}


@dataclass(frozen=True)
class ROUGE(Metric):
    """N-gram overlap (1-9) or longest common subsequence (L, Lsum), the mean over segments, 0-100.

    Words are runs of a-z and 0-9 after lowercasing. Of several references the one with the best F
    counts. Lsum splits sentences at newlines inside a segment.
    """

    name: ClassVar[str] = "rouge"
    ignores_blanks: ClassVar[bool] = True

    type: Literal["1", "2", "3", "4", "5", "6", "7", "8", "9", "L", "Lsum"] = setting(
        "L", key="type"
    )
    value: Literal["f", "precision", "recall"] = setting("f", key="value")
    stem: bool = setting(False, key="stem")

    @property
    def title(self) -> str:
        """ROUGE-1, ROUGE-L ..."""
        return f"ROUGE-{self.type}"

    def placeholder(self, number: int) -> str:
        """A word of a-z and 0-9, which is all it sees; no two have the same stem."""
        return f"zqxz{number}zqx"

    def as_in_muler_paper(self) -> ROUGE:
        """Stemmed ROUGE-L precision."""
        return ROUGE(type="L", value="precision", stem=True)

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """The segment's value, and one to count it."""
        order = int(self.type) if self.type.isdigit() else 0
        lowered = rewrite(segments, str.lower)
        with explained_limit(self, segments, "words"):
            values = kernel.rouge(lowered, order, self.type == "Lsum", self.stem)
        return np.column_stack([values[:, _COLUMNS[self.value]], np.ones(len(values))])

    def aggregate(self, sums: Array) -> Array:
        """The mean in percent."""
        total, count = sums.T
        return 100 * divide(total, count)
