"""Two metrics' scores that change places at random, and how far they agree with people then.

Scores of an item change places together. So what is a sum over items, over groups or over pairs is
prepared once, and a trial only chooses what to add up.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from assay.agreement.coefficients import AccuracyWithTies, Coefficient, Pearson
from assay.agreement.ties import concordances, swapped_ties_p
from assay.data import Array, DataError
from assay.statistics.correlation import (
    FLAT,
    SLACK,
    By,
    Concordance,
    Mask,
    commonly_known,
    concordance,
    grouped,
    means,
    swapped_values,
    swaps_of_units,
)

__all__ = ["permutation_p"]

TRIALS = 1000

_NOTHING = Concordance(*np.zeros((5, 1)))

SCORES_AT_ONCE = 2**21
"""Trials are worked off in blocks of about so many scores."""


def permutation_p(
    first: Array,
    second: Array,
    human: Array,
    coefficient: Coefficient,
    *,
    by: By = "none",
    trials: int = TRIALS,
    rng: np.random.Generator,
) -> float:
    """The two-sided p of two metrics' (systems, items) scores agreeing differently with people.

    In each trial, the metrics' standardised scores change places on a random half of the items,
    for all systems together, since these depend on each other; with one item only, for each
    system by itself. p is the share of trials, the observed one among them, with a difference at
    least as large either way.
    """
    if trials < 1:
        raise DataError(f"{trials} trials: give at least 1.")
    a, b, people = commonly_known(first, second, human)
    swaps = swaps_of_units(human.shape, trials, rng)
    if isinstance(coefficient, AccuracyWithTies):
        one, other, theirs = (np.ascontiguousarray(grouped(x, by)) for x in (a, b, people))
        return swapped_ties_p(one, other, theirs, _units(human, by), swaps)
    every = np.concatenate([np.zeros((1, swaps.shape[1]), bool), swaps])
    delta = np.subtract(*_values(a, b, people, coefficient, by, every).T)
    if math.isnan(delta[0]):
        return math.nan
    reached = np.count_nonzero(np.abs(delta[1:]) >= abs(delta[0]) - SLACK)
    return float((reached + 1) / (trials + 1))


def _values(
    a: Array, b: Array, people: Array, coefficient: Coefficient, by: By, swaps: Mask
) -> Array:
    """The values of both metrics in every trial, (trials, 2)."""
    several = people.shape[1] > 1
    if several and by == "item" and type(coefficient).overall is Coefficient.overall:
        return _of_whole_groups(a, b, people, coefficient, swaps)
    if several and by == "item" and coefficient.from_counts(_NOTHING) is not None:
        return _of_counted_groups(a, b, people, coefficient, swaps)
    if several and by != "item" and type(coefficient) is Pearson:
        return _of_sums(grouped(a, by), grouped(b, by), grouped(people, by), swaps)
    if by != "item" and coefficient.from_counts(_NOTHING) is not None:
        return _of_counts(a, b, people, coefficient, by, swaps)
    shape = (len(swaps), 1, people.shape[1]) if several else (len(swaps), len(people), 1)
    masks = np.broadcast_to(swaps.reshape(shape), (len(swaps), *people.shape))
    step = max(1, SCORES_AT_ONCE // max(1, people.size))
    blocks = (masks[at : at + step] for at in range(0, len(swaps), step))
    return swapped_values(a, b, people, coefficient.overall, blocks, by=by)


def _units(human: Array, by: By) -> NDArray[np.intp]:
    """What changes places together, of every (groups, members) score: its item, or its system."""
    systems, items = np.indices(human.shape)
    units = items if human.shape[1] > 1 else systems
    return np.ascontiguousarray(grouped(units, by)).astype(np.intp)


def _of_whole_groups(
    a: Array, b: Array, people: Array, coefficient: Coefficient, swaps: Mask
) -> Array:
    """Where groups are items, the value of a whole group is one metric's or the other's."""
    one, other = (coefficient.each(scores.T, people.T) for scores in (a, b))
    sides = np.where(swaps, other, one), np.where(swaps, one, other)
    return np.stack([means(side) for side in sides], axis=-1)


def _of_counted_groups(
    a: Array, b: Array, people: Array, coefficient: Coefficient, swaps: Mask
) -> Array:
    """The same from the pairs in order of each item, where their groups are not averaged."""
    one, other = (_columns(concordance(scores.T, people.T)) for scores in (a, b))
    sides = (
        Concordance(*(np.where(swaps, y, x) for x, y in zip(*both, strict=True)))
        for both in ((one, other), (other, one))
    )
    return np.stack([np.asarray(coefficient.from_counts(side)) for side in sides], axis=-1)


def _columns(counts: Concordance) -> tuple[Array, ...]:
    ties = counts.human_ties, counts.metric_ties, counts.both_ties
    return counts.agree, counts.disagree, *ties


def _of_sums(a: Array, b: Array, people: Array, swaps: Mask) -> Array:
    """Pearson's r of (groups, members) scores, from sums over items; a group has all of them."""
    groups = len(people)
    known = ~np.isnan(people)
    # Less their mean, people's scores need no sum of their own.
    count = np.maximum(known.sum(axis=1, keepdims=True), 1)
    theirs = np.where(known, people, 0.0)
    centred = np.where(known, theirs - theirs.sum(axis=1, keepdims=True) / count, 0.0)
    spread = (centred**2).sum(axis=1)
    flat = spread <= FLAT * (theirs**2).sum(axis=1)
    members = people.shape[1] // swaps.shape[1]
    sums = []
    for scores in (a, b):
        own = np.where(known, scores, 0.0)
        of_score = np.stack([own, own**2, own * centred])
        sums.append(of_score.reshape(3, groups, members, -1).sum(axis=2))
    stay, move = (~swaps).astype(float), swaps.astype(float)
    values = []
    for one, other in (sums, sums[::-1]):
        total, squares, product = (stay @ x.T + move @ y.T for x, y in zip(one, other, strict=True))
        own_spread = squares - total**2 / count[:, 0]
        still = flat | (own_spread <= FLAT * squares) | (spread * own_spread <= 0)
        r = product / np.sqrt(np.where(still, 1.0, spread * own_spread))
        values.append(means(np.where(still, np.nan, np.clip(r, -1, 1))))
    return np.stack(values, axis=-1)


def _of_counts(
    a: Array, b: Array, people: Array, coefficient: Coefficient, by: By, swaps: Mask
) -> Array:
    """From pairs in order, where they are all the coefficient needs."""
    own, other, theirs = (grouped(scores, by) for scores in (a, b, people))
    units, known = _units(people, by), ~np.isnan(theirs)
    counts = np.stack(
        [
            concordances(one[at], two[at], human[at], unit[at], swaps)
            for one, two, human, unit, at in zip(own, other, theirs, units, known, strict=True)
        ],
        axis=-2,
    )
    sides = (Concordance(*counts[:, side].T.swapaxes(1, 2)) for side in (0, 1))
    return np.stack([np.asarray(coefficient.from_counts(side)) for side in sides], axis=-1)
