"""chrF and chrF++ (Popović, 2015, 2017), equal to sacreBLEU's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from assay import kernel
from assay.data import Array, DataError, Segment, divide
from assay.metrics.base import LONGEST_NGRAM, Metric, Rows
from assay.registry import setting
from assay.text import rewrite

__all__ = ["CHRF"]

_EPS = 1e-16


@dataclass(frozen=True)
class CHRF(Metric):
    """F score over character n-grams, and word n-grams for chrF++, 0-100.

    Of several references the one with the best F counts. `legacy` is sacreBLEU 1.4's way: only
    the first reference, and n-grams of the hypothesis count even where the reference has none.
    """

    name: ClassVar[str] = "chrf"
    keeps_references: ClassVar[bool] = True

    lowercase: bool = setting(False, key="case", values={"yes": "lc", "no": "mixed"})
    eps_smoothing: bool = setting(False, key="eff", values={"yes": "no", "no": "yes"})
    char_order: int = setting(6, key="nc")
    word_order: int = setting(0, key="nw")
    whitespace: bool = setting(False, key="space")
    beta: float = setting(2)
    legacy: bool = setting(False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.char_order, self.word_order) < 0 or self._orders < 1:
            raise DataError("chrf needs char_order or word_order of at least 1, neither negative.")
        if max(self.char_order, self.word_order) > LONGEST_NGRAM:
            raise DataError(f"chrf:char_order and chrf:word_order are at most {LONGEST_NGRAM}.")
        if self.beta <= 0:
            raise DataError("chrf:beta is a number above 0.")

    @property
    def title(self) -> str:
        """chrF2, chrF2++, chrF1 ..."""
        return f"chrF{self.beta:g}" + "+" * self.word_order

    @property
    def ignores_blanks(self) -> bool:  # type: ignore[override]  # here it is up to settings
        """Whether characters alone count, without blanks."""
        return not self.whitespace and not self.word_order

    @property
    def mask_policy(self) -> Literal["word", "length", "type"]:
        """Characters count."""
        return "length"

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """Per order: n-grams of the hypothesis, of the best reference, and shared."""
        if self.lowercase:
            segments = rewrite(segments, str.lower)
        return kernel.character_ngrams(
            segments,
            self.char_order,
            self.word_order,
            float(self.beta**2),
            self.whitespace,
            self.eps_smoothing,
            self.legacy,
        )

    def pair_rows(
        self,
        hypotheses: Sequence[Sequence[str]],
        references: Sequence[Sequence[str]],
        sources: Sequence[str] = (),
    ) -> Rows:
        """The same for every pair of texts of a segment; every text is read once."""
        if self.lowercase:
            hypotheses = [list(map(str.lower, texts)) for texts in hypotheses]
            references = [list(map(str.lower, texts)) for texts in references]
        return kernel.character_pairs(
            hypotheses, references, self.char_order, self.word_order, self.whitespace, self.legacy
        )

    def aggregate(self, sums: Array) -> Array:
        """F of the mean precision and recall over orders; per order with `eps_smoothing`."""
        hypothesis, reference, match = np.moveaxis(sums.reshape(len(sums), self._orders, 3), 2, 0)
        factor = self.beta**2
        if self.eps_smoothing:
            precision = np.where(hypothesis > 0, divide(match, hypothesis), _EPS)
            recall = np.where(reference > 0, divide(match, reference), _EPS)
            bottom = factor * precision + recall
            each = np.where(bottom > 0, divide((1 + factor) * precision * recall, bottom), _EPS)
            return np.asarray(100 * each.sum(axis=1) / self._orders)
        there = (hypothesis > 0) & (reference > 0)
        orders = there.sum(axis=1)
        precision = divide(np.where(there, divide(match, hypothesis), 0).sum(axis=1), orders)
        recall = divide(np.where(there, divide(match, reference), 0).sum(axis=1), orders)
        return 100 * divide((1 + factor) * precision * recall, factor * precision + recall)

    @property
    def _orders(self) -> int:
        return self.char_order + self.word_order
