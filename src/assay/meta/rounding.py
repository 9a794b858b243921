"""Scores as printed: rounded before they are correlated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from assay.data import DataError
from assay.meta.panel import Candidate
from assay.metrics.base import Array
from assay.registry import parse
from assay.settings import nearest

__all__ = ["Rounding", "as_printed", "goes_by"]


def as_printed(scores: Array, digits: int) -> Array:
    """The scores as they read when printed with so many decimals.

    >>> as_printed(np.array([[31.25, 31.35]]), 1).tolist()
    [[31.2, 31.4]]
    """
    # NumPy multiplies before it rounds, so that halves may fall to the other side.
    rounded = [round(each, digits) for each in scores.ravel().tolist()]
    return np.array(rounded, float).reshape(scores.shape)


def goes_by(candidate: Candidate, name: str) -> bool:
    """Whether a metric is meant: by its title, its settings, or a short form of these."""
    if name.lower() in (candidate.name.lower(), candidate.title.lower()):
        return True
    try:
        return str(parse(name)) == (candidate.resolved or candidate.name)
    except DataError:
        return False


@dataclass(frozen=True)
class Rounding:
    """Decimals for all metrics, and for some of them other decimals; None is not rounded."""

    digits: int | None = None
    by_name: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, words: Sequence[str]) -> Rounding:
        """From words such as `1` and `chrf1=0`."""
        digits, by_name = None, {}
        for word in words:
            name, equals, number = word.rpartition("=")
            try:
                value = int(number)
            except ValueError:
                raise DataError(
                    f"--round {word}: give a number of decimals, or METRIC=DECIMALS as in chrf1=0."
                ) from None
            if equals:
                by_name[name] = value
            else:
                digits = value
        return cls(digits, by_name)

    def apply(self, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
        """The metrics with rounded scores."""
        for name in self.by_name:
            if not any(goes_by(each, name) for each in candidates):
                titles = [each.title for each in candidates]
                known = ", ".join(titles)
                raise DataError(
                    f"--round: no metric {name!r}{nearest(name, titles)} among {known}."
                )
        return tuple(self._apply(each) for each in candidates)

    def _apply(self, candidate: Candidate) -> Candidate:
        own = [value for name, value in self.by_name.items() if goes_by(candidate, name)]
        digits = own[0] if own else self.digits
        if digits is None:
            return candidate
        return replace(candidate, scores=as_printed(candidate.scores, digits))
