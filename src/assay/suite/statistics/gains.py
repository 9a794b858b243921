"""Two versions of a system on the same items: the difference in every row of the table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from assay.metrics.base import Array, divide
from assay.suite.model import Item
from assay.suite.statistics.first_cluster import Correction, corrected
from assay.suite.statistics.groups import Level, Tally, averaged, grouped, tally
from assay.suite.statistics.proportions import Exactness
from assay.suite.statistics.signflips import sign_flips

__all__ = ["Gain", "gains_of"]


@dataclass(frozen=True)
class Gain:
    """A row of the table before and after: percentages over the same items, and their difference.

    `gained` and `lost` are how many items pass only after and only before. `p` is McNemar's, two-
    tailed, of macro-averages by sign flips; `p_corrected` takes the other rows of its level into
    account. `level`, `name` and `category` are as in `accuracy.Row`.
    """

    level: Level
    name: str
    category: str
    items: int
    before: float
    after: float
    gain: float
    gained: int
    lost: int
    p: float
    p_corrected: float


def gains_of(
    items: Sequence[Item], pair: Array, *, method: Exactness, correct: Correction
) -> tuple[Gain, ...]:
    """The gains from the first row of `pair` to the second: 1, 0 or, in both, `nan` per item.

    A macro-average is over the categories or phenomena that have items.
    """
    groups = grouped(items)
    table = tally(groups, pair)
    heads = [_Head(group.level, group.name, group.category) for group in groups]
    parts = [table.of([at]) for at in range(len(groups))]
    for macro, some in averaged(groups, table).items():
        heads.append(_Head(macro, f"{macro}-average", ""))
        parts.append(some)
    raw = np.array([_two_tailed(counts, method) for counts in parts])
    new = corrected(raw, [head.level for head in heads], correct)
    each = zip(heads, parts, raw.tolist(), new.tolist(), strict=True)
    return tuple(_gain(*one) for one in each)


class _Head(NamedTuple):
    level: Level
    name: str
    category: str


def _gain(head: _Head, counts: Tally, p: float, p_corrected: float) -> Gain:
    """The row of one group, or of the average over several."""
    items = int(counts.items[:, 0].sum())
    shares = 100 * divide(counts.passed, counts.items)
    before, after = shares.mean(axis=0).tolist() if items else (math.nan, math.nan)
    return Gain(
        *head,
        items=items,
        before=before,
        after=after,
        gain=after - before,
        gained=int(counts.won[:, 1, 0].sum()),
        lost=int(counts.won[:, 0, 1].sum()),
        p=p,
        p_corrected=p_corrected,
    )


def _two_tailed(counts: Tally, method: Exactness) -> float:
    """Twice the smaller tail, `nan` without items."""
    items = counts.items[:, 0]
    if not items.any():
        return math.nan
    gained, lost = counts.won[:, 1, 0], counts.won[:, 0, 1]
    tails = (sign_flips(*both, items, method=method) for both in ((gained, lost), (lost, gained)))
    return min(1.0, 2 * min(tails))
