"""Counts of what is found in outputs, without a reference."""

from __future__ import annotations

from typing import Literal

from assay.metrics.base import Array, divide

__all__ = ["rate"]


def rate(sums: Array, per: Literal["text", "100words"]) -> Array:
    """What is found in the whole text, or in a hundred of its words, from (b, 2) sums."""
    found, words = sums.T
    return found if per == "text" else 100 * divide(found, words)
