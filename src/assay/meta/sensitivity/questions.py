"""What can be asked about the sensitivity of metrics."""

from __future__ import annotations

from dataclasses import dataclass

from assay.data import DataError
from assay.meta.coefficients import Coefficient, Kendall, Pearson, Spearman
from assay.meta.named import coefficient_named

__all__ = ["SensitivityQuestions"]


@dataclass(frozen=True)
class SensitivityQuestions:
    """What to find out besides the two stages.

    `best` asks for the agreement among the best k systems, `sizes` for that on so many words (none
    named: round numbers), `slope` names the reference system of the difficulty slope. `reach` is
    the agreement that counts as agreeing.
    """

    coefficient: str = "pearson"
    resamples: int = 1000
    best: bool = False
    sizes: tuple[int, ...] | None = None
    reach: float = 0.8
    slope: str | None = None

    def __post_init__(self) -> None:
        """The coefficient is one that can be negative, and 0 by chance."""
        found = coefficient_named(self.coefficient)
        if not isinstance(found, Pearson | Spearman | Kendall):
            raise DataError(
                f"--coefficient {self.coefficient}: sensitivity is a correlation; "
                "choose pearson, spearman, kendall or kendall-c."
            )
        if self.resamples < 1:
            raise DataError("the number of resamples is at least 1.")
        if not -1 <= self.reach <= 1:
            raise DataError(f"--reach {self.reach:g}: give a correlation between -1 and 1.")

    @property
    def named(self) -> Coefficient:
        """The coefficient itself."""
        return coefficient_named(self.coefficient)
