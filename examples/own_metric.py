"""A metric of one's own: rows of sums per segment, and what to make of their total.

Length ratio: words of the output per word of the reference. Intervals, tests, favoritism and
everything else work on it at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.comparison.favoritism import favor
from assay.data import Array, Segment, divide
from assay.demo import read_demo
from assay.metrics.base import Metric, Rows, parse
from assay.registry import register, setting


@register
@dataclass(frozen=True)
class LengthRatio(Metric):
    """Words of the output per word of the first reference, in percent."""

    name: ClassVar[str] = "length"

    lowercase: bool = setting(False)

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """Words of the output, words of the reference."""
        return np.array(
            [[len(s.hypothesis.split()), len(s.references[0].split())] for s in segments], float
        )

    def aggregate(self, sums: Array) -> Array:
        """Their ratio in percent."""
        return 100 * divide(*sums.T)


print(favor(read_demo(), [parse("length")], count=3))
