"""How far people agree who decided the same outputs."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.statistics.arrays import divide

__all__ = ["RaterAgreement", "Ratings", "cohens_kappa", "krippendorff_alpha", "pairwise_agreement"]

Ratings = Sequence[Sequence[Hashable]]
"""One row per annotator, one column per output; None where the annotator said nothing."""

_NOTHING = -1


class RaterAgreement(NamedTuple):
    """Two annotators, by their positions, and how far they agree on what both decided.

    `agreed` of `shared` outputs have the same decision; `kappa` is Cohen's.
    """

    first: int
    second: int
    shared: int
    agreed: int
    kappa: float


def cohens_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Cohen's kappa of two annotators, over what both decided.

    1 is full agreement, 0 as much as by chance. It is `nan` where both gave one and the same
    answer throughout, or share nothing: chance alone would agree as well.

    >>> cohens_kappa(["pass", "pass", "fail", "fail"], ["pass", "fail", "fail", "fail"])
    0.5
    """
    codes = _codes([first, second])
    a, b = codes[:, (codes != _NOTHING).all(axis=0)]
    count = len(a)
    if not count:
        return math.nan
    labels = int(codes.max()) + 1
    chance = float(np.bincount(a, minlength=labels) @ np.bincount(b, minlength=labels)) / count**2
    return math.nan if chance == 1 else (float(np.mean(a == b)) - chance) / (1 - chance)


def krippendorff_alpha(ratings: Ratings) -> float:
    """Krippendorff's alpha for nominal decisions of any number of annotators, with gaps.

    Outputs that fewer than two decided say nothing. It is `nan` where nothing is left, or where
    all decisions are the same.
    """
    codes = _codes(ratings)
    labels = np.arange(codes.max(initial=_NOTHING) + 1)
    counts = (codes[:, :, None] == labels).sum(axis=0)
    counts = counts[counts.sum(axis=1) >= 2]
    each, totals = counts.sum(axis=1), counts.sum(axis=0)
    total = int(totals.sum())
    expected = float(totals @ (total - totals)) / max(1, total - 1)
    if not expected:
        return math.nan
    pairs = (counts * (each[:, None] - counts)).sum(axis=1)
    return 1 - float(divide(pairs, each - 1).sum()) / expected


def pairwise_agreement(ratings: Ratings) -> list[RaterAgreement]:
    """Every two annotators who decided some output both."""
    found = []
    for i, j in combinations(range(len(ratings)), 2):
        both = [
            a == b
            for a, b in zip(ratings[i], ratings[j], strict=True)
            if a is not None and b is not None
        ]
        if both:
            kappa = cohens_kappa(ratings[i], ratings[j])
            found.append(RaterAgreement(i, j, len(both), sum(both), kappa))
    return found


def _codes(ratings: Ratings) -> NDArray[np.int_]:
    """Numbers for the answers; the same for the same answer, _NOTHING for none."""
    known: dict[Hashable, int] = {None: _NOTHING}
    rows = [[known.setdefault(answer, len(known) - 1) for answer in row] for row in ratings]
    return np.array(rows, int).reshape(len(rows), len(rows[0]) if rows else 0)
