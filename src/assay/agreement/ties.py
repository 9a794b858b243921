"""Accuracy with ties: the best threshold for one metric, and the swap test of two.

A pair is right where the metric orders it as people do and differs by more than a threshold, or
where people tie it and the metric differs by no more. With a growing threshold, ties of people come
in and pairs in the right order go out: between two thresholds, the accuracy cannot exceed that of
the lower one with all ties between them. So pairs are counted in windows of differences, and only
windows that may hold the best threshold are looked into. No list of all pairs is ever made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay import kernel
from assay.data import Array
from assay.statistics.correlation import SLACK, Mask

__all__ = ["Calibrated", "calibrated", "concordances", "swapped_ties_p", "tied_share"]

WINDOWS = 512
"""Differences are counted in about so many windows at a time."""

CHUNK = 64
"""So many windows, then it is asked whether larger thresholds can still be better."""

SAMPLED = 2**17
"""The edges of the first windows are quantiles of so many differences."""

LISTED = 2**21
"""Up to so many pairs are listed and sorted; more are counted in narrower windows first."""

ROUNDS = 4
"""So often windows are narrowed for trials that are not decided, before these are worked out."""

TRIALS = 1024
"""So many trials at a time, one bit each."""

TIED = 1e-12
"""Accuracies that differ by no more are equal."""


class Calibrated(NamedTuple):
    """The best accuracy, and the threshold that gives it: differences up to it are ties."""

    accuracy: float
    epsilon: float


class _SizedGroups(NamedTuple):
    """Groups of one size: scores in ascending order within each group, which begin at `starts`.

    `human` are people's ranks, `rows` are twice the unit that a score belongs to, plus 1 for those
    of a second metric. A pair adds `weight` to the mean over all groups.
    """

    values: Array
    human: NDArray[np.int32]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    weight: float


def calibrated(metric: Array, human: Array) -> Calibrated:
    """The threshold that makes most pairs of (groups, members) scores right; the smallest such.

    The accuracy is the mean over groups; unknown scores (`nan`) are left out.
    """
    parts = _parts([metric], human)
    if not parts:
        return Calibrated(math.nan, math.nan)
    windows = _PairWindows.counted(parts, _edges(parts))
    best, epsilon = windows.base[0] + windows.ties[0], 0.0
    windows = windows.promising(best)
    while windows.pairs.sum() > LISTED and (narrower := windows.narrowed(parts)) is not None:
        windows = narrower.promising(best)
    for size, accuracy in windows.thresholds(parts):
        if accuracy > best + TIED:
            best, epsilon = accuracy, size
    # Counted again, so that the figure has no rounding of many sums.
    final = _PairWindows.counted(parts, np.unique([-1.0, 0.0, epsilon, np.inf]))
    return Calibrated(float(final.ties[:-1].sum() + final.right[-1]), epsilon)


def tied_share(metric: Array, human: Array) -> float:
    """The share of pairs that people do not tell apart: the mean over groups."""
    return float(sum(part.weight * _tied_pairs(part) for part in _parts([metric], human)))


@dataclass(frozen=True, eq=False)
class _PairWindows:
    """Pairs by their difference: above `low`, and up to `high`; in ascending order.

    `ties` are those that people tie, `right` those in people's order, both weighted; `base` is the
    accuracy at the lower edge. `least` and `most` are the sizes there are, `pairs` counts them.
    """

    low: Array
    high: Array
    base: Array
    ties: Array
    right: Array
    least: Array
    most: Array
    pairs: NDArray[np.int64]

    @classmethod
    def counted(
        cls, parts: Sequence[_SizedGroups], edges: Array, base: float = math.nan
    ) -> _PairWindows:
        """All windows between edges; `base` is by default the accuracy where nothing is tied."""
        ties, right = np.zeros((2, len(edges) - 1))
        pairs = np.zeros(len(ties), np.int64)
        least, most = np.full(len(ties), np.inf), np.full(len(ties), -np.inf)
        for part in parts:
            counts, sizes = kernel.pair_windows(part.values, part.human, part.starts, edges)
            ties += part.weight * counts[:, 0]
            right += part.weight * counts[:, 1]
            pairs += counts.sum(axis=1)
            least, most = np.minimum(least, sizes[:, 0]), np.maximum(most, sizes[:, 1])
        start = float(right.sum()) if math.isnan(base) else base
        gained = np.cumsum(ties - right)
        before = start + np.concatenate([[0.0], gained[:-1]])
        return cls(edges[:-1], edges[1:], before, ties, right, least, most, pairs)

    def promising(self, best: float) -> _PairWindows:
        """The windows that may hold the best threshold, if `best` can be reached elsewhere."""
        known = max(best, float((self.base + self.ties - self.right).max(initial=best)))
        return self[(self.ties > 0) & (self.base + self.ties > known - TIED) & (self.high > 0)]

    def narrowed(self, parts: Sequence[_SizedGroups]) -> _PairWindows | None:
        """Narrower windows in place of all that hold several sizes; None where none does."""
        several = self.least < self.most
        if not several.any():
            return None
        count = max(2, WINDOWS // int(several.sum()))
        found = []
        for run in _runs(self.low, self.high):
            inner = [
                np.linspace(self.least[at], self.most[at], count, endpoint=False)[
                    int(several[at]) :
                ]
                for at in run
            ]
            edges = np.concatenate([self.low[run], self.high[run], *inner])
            edges = np.unique(edges[(edges >= self.low[run[0]]) & (edges <= self.high[run[-1]])])
            found.append(_PairWindows.counted(parts, edges, float(self.base[run[0]])))
        joined = _PairWindows(
            *(np.concatenate(each) for each in zip(*map(_columns, found), strict=True))
        )
        return joined if (joined.pairs > 0).sum() > len(self.pairs) else None

    def thresholds(self, parts: Sequence[_SizedGroups]) -> Iterator[tuple[float, float]]:
        """Sizes in ascending order at which most is right among their neighbours, with how much."""
        for run in _runs(self.low, self.high):
            short = self.pairs[run].sum() <= LISTED
            for some in [run] if short else run[:, None]:
                first, last = some[0], some[-1]
                if self.least[first] == self.most[last]:
                    ends = self.base + self.ties - self.right
                    yield float(self.most[last]), float(ends[last])
                else:
                    yield self._best_between(parts, first, last)

    def _best_between(
        self, parts: Sequence[_SizedGroups], first: int, last: int
    ) -> tuple[float, float]:
        """The smallest size at which most is right, from a list of all pairs of some windows."""
        edges = np.array([self.low[first], self.high[last]])
        listed = []
        for part in parts:
            sizes, gains = kernel.pairs_within(part.values, part.human, part.starts, edges)
            listed.append((sizes, part.weight * gains))
        sizes, gains = (np.concatenate(each) for each in zip(*listed, strict=True))
        order = np.argsort(sizes, kind="stable")
        sizes, totals = sizes[order], self.base[first] + np.cumsum(gains[order])
        ends = np.flatnonzero(np.append(sizes[1:] > sizes[:-1], True))
        best = ends[np.argmax(totals[ends] > totals[ends].max() - TIED)]
        return float(sizes[best]), float(totals[best])

    def __getitem__(self, chosen: Mask) -> _PairWindows:
        return _PairWindows(*(column[chosen] for column in _columns(self)))


def _columns(windows: _PairWindows) -> tuple[Any, ...]:
    return (
        *(windows.low, windows.high, windows.base, windows.ties, windows.right),
        *(windows.least, windows.most, windows.pairs),
    )


def _runs(low: Array, high: Array) -> Iterator[NDArray[np.intp]]:
    """The positions of windows that follow each other without a gap."""
    if len(low):
        yield from np.split(np.arange(len(low)), np.flatnonzero(low[1:] > high[:-1]) + 1)


def _parts(
    metrics: Sequence[Array], human: Array, units: NDArray[np.intp] | None = None
) -> list[_SizedGroups]:
    """The scores that are known on all sides, by the number of them in their group."""
    known = ~np.isnan(np.stack([*metrics, human])).any(axis=0)
    members = known.sum(axis=1)
    groups = int((members > 1).sum())
    ranked = np.zeros(human.shape, np.int32)
    ranked[known] = np.unique(human[known], return_inverse=True)[1].ravel()
    places = np.zeros(human.shape, int) if units is None else units
    parts = []
    for count in np.unique(members[members > 1]):
        chosen = known & (members == count)[:, None]
        shape = (-1, int(count))
        values = np.hstack([metric[chosen].reshape(shape) for metric in metrics])
        rows = np.hstack([2 * places[chosen].reshape(shape) + at for at in range(len(metrics))])
        theirs = np.tile(ranked[chosen].reshape(shape), (1, len(metrics)))
        order = np.argsort(values, axis=1, kind="stable")
        values, rows, theirs = (
            np.ascontiguousarray(np.take_along_axis(each, order, axis=1))
            for each in (values, rows, theirs)
        )
        starts = np.arange(len(values) + 1, dtype=np.int64) * values.shape[1]
        weight = 1 / (groups * math.comb(int(count), 2))
        parts.append(
            _SizedGroups(
                values.ravel(), theirs.ravel(), starts, rows.astype(np.int32).ravel(), weight
            )
        )
    return parts


def _tied_pairs(part: _SizedGroups, *, metrics: int = 1) -> int:
    """The pairs of outputs that people tie, where each has the scores of so many metrics."""
    ordered = np.sort(part.human.reshape(-1, int(part.starts[1])), axis=1)
    new = np.ones(ordered.shape, bool)
    new[:, 1:] = ordered[:, 1:] > ordered[:, :-1]
    counts = np.diff(np.append(np.flatnonzero(new), ordered.size)) // metrics
    return int((counts * (counts - 1) // 2).sum())


def _edges(parts: Sequence[_SizedGroups]) -> Array:
    """Edges of windows that hold about as many pairs each; differences of 0 have their own."""
    found = []
    for part in parts:
        size = int(part.starts[1])
        at = np.linspace(0, len(part.values) - 1, min(len(part.values), SAMPLED // 64)).astype(int)
        # Partners spread over the same group.
        others = at // size * size + (at[:, None] * 7919 + np.arange(64) * size // 64).T % size
        found.append(np.abs(part.values[at] - part.values[others]).ravel())
    sizes = np.concatenate(found)
    inner = np.quantile(sizes, np.arange(1, WINDOWS) / WINDOWS, method="lower")
    return np.unique([-1.0, 0.0, *inner[inner > 0], np.inf])


def concordances(
    first: Array, second: Array, human: Array, units: NDArray[np.intp], swaps: Mask
) -> NDArray[np.int64]:
    """Pairs of two metrics' known scores counted after each trial's swaps, (trials, 2, 5).

    Pairs that agree with people, disagree, are tied by people, by the metric and by both.
    """
    levels, ranked = np.unique(np.concatenate([first, second]), return_inverse=True)
    one, other = ranked.astype(np.int32).reshape(2, -1)
    theirs = np.unique(human, return_inverse=True)[1].astype(np.int32).ravel()
    masks = np.ascontiguousarray(swaps)
    return kernel.swapped_concordance(
        one, other, theirs, units.astype(np.int32), masks, len(levels)
    )


def swapped_ties_p(
    first: Array, second: Array, human: Array, units: NDArray[np.intp], swaps: Mask
) -> float:
    """The two-sided p of two metrics' accuracies with ties, over all `swaps`, (trials, units).

    Scores are (groups, members), `nan` in the same places; in a trial, those of a unit change
    places where it is True. p is the share of trials, the observed one among them, with a
    difference at least as large either way. Most are decided by bounds, the others worked out.
    """
    sides = [calibrated(scores, human).accuracy for scores in (first, second)]
    if any(map(math.isnan, sides)):
        return math.nan
    threshold = abs(sides[0] - sides[1]) - SLACK
    parts = _parts([first, second], human, units)
    trials = _SwapTrials((first, second), human, units, swaps)
    blocks = (np.arange(at, min(at + TRIALS, len(swaps))) for at in range(0, len(swaps), TRIALS))
    reached = sum(_reached(parts, trials[block], threshold) for block in blocks)
    return float((reached + 1) / (len(swaps) + 1))


@dataclass(frozen=True, eq=False)
class _SwapTrials:
    """Two metrics' scores, (groups, members), and in which trials a unit's change places."""

    scores: tuple[Array, Array]
    human: Array
    units: NDArray[np.intp]
    swaps: Mask

    def __getitem__(self, chosen: NDArray[np.intp]) -> _SwapTrials:
        return _SwapTrials(self.scores, self.human, self.units, self.swaps[chosen])

    def right(self) -> Array:
        """The share of pairs in people's order, ties aside, (trials, 2)."""
        total = np.zeros((len(self.swaps), 2))
        known = ~np.isnan(self.human)
        members = known.sum(axis=1)
        groups = int((members > 1).sum())
        for at in np.flatnonzero(members > 1):
            here = at, known[at]
            first, second = (scores[here] for scores in self.scores)
            counts = concordances(first, second, self.human[here], self.units[here], self.swaps)
            total += counts[:, :, 0] / (groups * math.comb(int(members[at]), 2))
        return total

    def count(self, parts: Sequence[_SizedGroups], edges: Array) -> tuple[Array, Array]:
        """Weighted pairs that people tie, and in people's order: both (windows, trials, 2)."""
        trials, size = self.swaps.shape
        rows = np.stack([~self.swaps.T, self.swaps.T], axis=1).reshape(2 * size, trials)
        packed = np.packbits(rows, axis=1, bitorder="little")
        packed = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
        bits = np.ascontiguousarray(packed).view(np.uint64)
        moved = self.swaps.T.astype(float)
        total = np.zeros((2, len(edges) - 1, trials, 2))
        for part in parts:
            one, degrees = kernel.swapped_windows(
                part.values, part.human, part.starts, edges, part.rows, bits, trials
            )
            pairs = degrees.sum(axis=2, keepdims=True) / 2
            # A pair is on the second side where neither of its scores is on the first.
            own = degrees.reshape(*degrees.shape[:2], size, 2).astype(float)
            firsts = own[..., 0].sum(axis=-1, keepdims=True) + (own[..., 1] - own[..., 0]) @ moved
            both = np.stack([one, pairs - firsts + one], axis=-1)
            total += part.weight * np.moveaxis(both, 1, 0)
        return total[0], total[1]

    def accuracies(self, trial: int) -> tuple[float, float]:
        """Both metrics' accuracies in a trial, worked out."""
        swap = self.swaps[trial][self.units]
        first, second = self.scores
        sides = np.where(swap, second, first), np.where(swap, first, second)
        one, other = (calibrated(side, self.human).accuracy for side in sides)
        return one, other


@dataclass(frozen=True, eq=False)
class _AccuracyBounds:
    """What windows say of the accuracies in all trials.

    `base`, `ties` and `right` are as those of `_PairWindows`, (windows, trials, 2). `lower`,
    (trials, 2), is an accuracy that is reached, in one of these windows or elsewhere.
    """

    low: Array
    high: Array
    base: Array
    ties: Array
    right: Array
    lower: Array

    @property
    def upper(self) -> Array:
        """What no accuracy exceeds, (trials, 2)."""
        highest = (self.base + self.ties).max(axis=0, initial=0.0)
        return np.asarray(np.maximum(self.lower, highest))

    @property
    def last(self) -> Array:
        """The accuracies at the highest edge, (trials, 2)."""
        return np.asarray(self.base[-1] + self.ties[-1] - self.right[-1])

    @classmethod
    def first(cls, parts: Sequence[_SizedGroups], trials: _SwapTrials) -> _AccuracyBounds:
        """From small to large thresholds, until larger ones cannot be better in any trial."""
        base = trials.right()
        lower, edges = np.zeros_like(base), _edges(parts)
        # People tie the same pairs whatever changes places; both metrics have them.
        left = sum(part.weight * _tied_pairs(part, metrics=2) for part in parts)
        found: list[_AccuracyBounds] = []
        for at in range(0, len(edges) - 1, CHUNK):
            found.append(
                cls.between(parts, trials, edges[at : at + CHUNK + 1], base=base, lower=lower)
            )
            base, lower = found[-1].last, found[-1].lower
            left = left - found[-1].ties.sum(axis=0)
            if (base + left <= lower).all():
                break
        return cls.joined(found)

    @classmethod
    def between(
        cls,
        parts: Sequence[_SizedGroups],
        trials: _SwapTrials,
        edges: Array,
        *,
        base: Array,
        lower: Array,
    ) -> _AccuracyBounds:
        """All windows between edges, where `base` is the accuracy at the lowest, (trials, 2)."""
        ties, right = trials.count(parts, edges)
        ends = base + np.cumsum(ties - right, axis=0)
        before = np.concatenate([base[None], ends[:-1]])
        lower = np.maximum(lower, ends.max(axis=0))
        return cls(edges[:-1], edges[1:], before, ties, right, lower)

    @classmethod
    def joined(cls, several: Sequence[_AccuracyBounds]) -> _AccuracyBounds:
        """The windows of all."""
        columns = [(one.low, one.high, one.base, one.ties, one.right) for one in several]
        low, high, base, ties, right = map(np.concatenate, zip(*columns, strict=True))
        lower = np.max([one.lower for one in several], axis=0)
        return cls(low, high, base, ties, right, lower)

    def narrowed(
        self, parts: Sequence[_SizedGroups], trials: _SwapTrials, left: NDArray[np.intp]
    ) -> _AccuracyBounds | None:
        """The same for some trials, in narrower windows where these may have their best threshold.

        None where windows cannot be narrower.
        """
        lower = self.lower[left]
        ties, base = self.ties[:, left], self.base[:, left]
        chosen = ((ties > 0) & (base + ties > lower)).any(axis=(1, 2)) & (self.high > 0)
        places = np.flatnonzero(chosen)
        if not len(places):
            return None
        count = max(2, WINDOWS // len(places))
        low, high = self.low[places], np.minimum(self.high[places], _largest(parts))
        found = []
        for run in _runs(low, high):
            edges = np.unique([np.linspace(low[at], high[at], count + 1) for at in run])
            if len(edges) <= len(run) + 1:
                return None
            own = base[places[run[0]]]
            found.append(_AccuracyBounds.between(parts, trials, edges, base=own, lower=lower))
        return _AccuracyBounds.joined(found)


def _reached(parts: Sequence[_SizedGroups], trials: _SwapTrials, threshold: float) -> int:
    """In how many trials the accuracies differ by the threshold."""
    bounds: _AccuracyBounds | None = _AccuracyBounds.first(parts, trials)
    reached = 0
    for _ in range(ROUNDS):
        if bounds is None:
            break
        lower, upper = bounds.lower, bounds.upper
        least, most = lower[:, 0] - upper[:, 1], upper[:, 0] - lower[:, 1]
        sure = (least >= threshold) | (most <= -threshold)
        reached += int(np.count_nonzero(sure))
        left = np.flatnonzero(~sure & ((most >= threshold) | (least <= -threshold)))
        trials = trials[left]
        if not len(left):
            return reached
        bounds = bounds.narrowed(parts, trials, left)
    deltas = [np.subtract(*trials.accuracies(at)) for at in range(len(trials.swaps))]
    return reached + int(np.count_nonzero(np.abs(deltas) >= threshold))


def _largest(parts: Sequence[_SizedGroups]) -> float:
    """No difference is larger."""
    return float(max(np.ptp(part.values) for part in parts))
