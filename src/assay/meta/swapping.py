"""Two metrics whose scores change places at random: the trials of a permutation test.

Both are standardised first, so that their scores can stand in for each other (Deutsch et al.,
2021, "perm-both").
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.meta.coefficients import Coefficient
from assay.meta.grouping import By, Mask, grouped
from assay.meta.pairs import differences
from assay.meta.ties import AccuracyWithTies, gains, right
from assay.metrics.base import Array

__all__ = ["standardised", "swapped_values"]


def standardised(scores: Array) -> Array:
    """The scores with mean 0 and standard deviation 1; all 0 where they do not vary."""
    spread = float(np.nanstd(scores)) if np.isfinite(scores).any() else 0.0
    centred = scores - (np.nanmean(scores) if np.isfinite(scores).any() else 0.0)
    return np.asarray(centred / spread if spread > 0 else centred)


def swapped_values(
    first: Array,
    second: Array,
    gold: Array,
    coefficient: Coefficient,
    by: By,
    swaps: Iterable[Mask],
) -> Array:
    """The values of both metrics in every trial, (trials, 2).

    `swaps` gives (trials, systems, items) masks, a block at a time: where True, the two metrics
    change places. Scores are compared where all three are known.
    """
    known = ~(np.isnan(first) | np.isnan(second) | np.isnan(gold))
    a, b, human = (np.where(known, each, np.nan) for each in (first, second, gold))
    a, b = standardised(a), standardised(b)
    human = grouped(human, by)
    if isinstance(coefficient, AccuracyWithTies):
        trials = _Trials.of(grouped(a, by), grouped(b, by), human)
        masks = (mask for block in swaps for mask in grouped(block, by).astype(bool))
        return np.array([trials.values(mask) for mask in masks])
    blocks = [_both(a, b, block, human, coefficient, by) for block in swaps]
    return np.concatenate(blocks)


def _both(a: Array, b: Array, swap: Mask, human: Array, coefficient: Coefficient, by: By) -> Array:
    """The values of both metrics in a block of trials."""
    sides = (np.where(swap, b, a), np.where(swap, a, b))
    values = [coefficient.overall(grouped(side, by), human) for side in sides]
    return np.stack(values, axis=-1)


@dataclass(frozen=True, eq=False)
class _Trials:
    """Everything that trials of the accuracy with ties share.

    After a swap a pair's difference is one of four: both members' scores from one metric, both
    from the other, or one of each. All four are sorted once; a trial picks one of each pair.
    """

    pair: NDArray[np.int32]  # of every difference, in order of size
    kind: NDArray[np.int8]
    gain: NDArray[np.float64]
    ends: NDArray[np.bool_]  # the last of equal sizes
    right: NDArray[np.float64]  # (4, pairs): what the pair adds where it is no tie
    groups: NDArray[np.intp]
    members: tuple[NDArray[np.intp], NDArray[np.intp]]

    @classmethod
    def of(cls, a: Array, b: Array, human: Array) -> _Trials:
        """From (groups, members) scores."""
        first, second = np.triu_indices(human.shape[-1], 1)
        gaps = differences(human)
        known = ~np.isnan(gaps)
        counts = known.sum(axis=-1, keepdims=True)
        weights = np.broadcast_to(
            1 / (max(1, int((counts > 0).sum())) * np.maximum(counts, 1)), known.shape
        )[known]
        sign = np.sign(gaps[known]).astype(np.int8)
        own = [(x[:, first] - y[:, second])[known] for x, y in ((a, a), (a, b), (b, a), (b, b))]
        size = np.abs(np.concatenate(own))
        order = np.argsort(size, kind="stable")
        size = size[order]
        groups, pairs = np.nonzero(known)
        return cls(
            pair=np.tile(np.arange(len(sign), dtype=np.int32), 4)[order],
            kind=np.repeat(np.arange(4, dtype=np.int8), len(sign))[order],
            gain=np.concatenate([gains(sign, each, weights) for each in own])[order],
            ends=np.append(size[1:] > size[:-1], True),
            right=np.stack([weights * right(sign, each) for each in own]),
            groups=groups,
            members=(first[pairs], second[pairs]),
        )

    def values(self, swapped: Mask) -> tuple[float, float]:
        """The calibrated accuracies of both metrics after a swap of (groups, members)."""
        one, other = (swapped[self.groups, each].astype(np.int8) for each in self.members)
        kind = 2 * one + other
        return self._best(kind), self._best((3 - kind).astype(np.int8))

    def _best(self, kind: NDArray[np.int8]) -> float:
        start = float(self.right[kind, np.arange(len(kind))].sum())
        chosen = kind[self.pair] == self.kind
        totals = np.cumsum(np.where(chosen, self.gain, 0.0))
        return min(1.0, start + max(0.0, float(totals[self.ends].max(initial=0.0))))
