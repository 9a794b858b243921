"""Words in colour: how much each helps or hurts a score, and which ones people tagged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from assay.bmx.explaining import Explanation
from assay.metrics.base import Array
from assay.results import Span, Words, graded

__all__ = ["largest_importance", "shaded_words", "tagged_words"]

NOTHING = 1e-9
"""Importances up to this share of the score (of 1 for lower scores) are rounding."""


def largest_importance(explanations: Iterable[Explanation]) -> float:
    """The size of the largest importance that is known and more than rounding; 0 for none."""
    sizes = [0.0]
    for each in explanations:
        known = np.abs(each.importances[np.isfinite(each.importances)])
        score = abs(each.score) if np.isfinite(each.score) else 0.0
        sizes += known[known > NOTHING * max(1.0, score)].tolist()
    return max(sizes)


def shaded_words(tokens: Sequence[str], helps: Array, largest: float) -> Words:
    """Words by what each does to the score: good by degrees above 0, bad below, of the `largest`.

    Every word's own number is its remark; unknown ones have neither mark nor number.
    """
    return tuple(
        _word(token, float(each), largest) for token, each in zip(tokens, helps, strict=True)
    )


def tagged_words(tokens: Sequence[str], tags: NDArray[np.bool_]) -> Words:
    """The words, with those that people tagged noted."""
    runs = groupby(zip(tokens, tags.tolist(), strict=True), key=lambda pair: pair[1])
    return tuple(
        Span(" ".join(token for token, _ in run), "note" if tagged else "") for tagged, run in runs
    )


def _word(token: str, helps: float, largest: float) -> Span:
    if not np.isfinite(helps):
        return Span(token)
    return Span(token, graded(helps / largest) if largest else "", f"{helps:+.4g}")
