"""Agreement of scores (correlations, pairs in order, which is closer) and of people's decisions."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.data import Array, DataError, divide

__all__ = [
    "By",
    "Concordance",
    "Mask",
    "RaterAgreement",
    "Ratings",
    "cohens_kappa",
    "commonly_known",
    "concordance",
    "differences",
    "grouped",
    "krippendorff_alpha",
    "means",
    "pair_positions",
    "pairwise_agreement",
    "pearson_rows",
    "pearson_swap_test",
    "ranks",
    "swapped_values",
    "swaps_of_units",
]


By = Literal["none", "item", "system"]
"""Compared within each item, within each system, or all with all."""

Mask: TypeAlias = NDArray[np.bool_]

FLAT = 1e-13
"""A variance below this share of the mean square is rounding, and the scores are all equal."""

PAIRS_AT_ONCE = 2**24
"""Pairs are worked off in blocks of about so many."""

FEW = 64
"""Groups of up to so many members are compared pair by pair, larger ones by sorting."""

SCORES_AT_ONCE = 2**21
"""Trials are worked off in blocks of about so many scores."""

SLACK = 1e-12
"""A difference that falls short of the observed one by this much still reaches it."""


def grouped(scores: Any, by: By) -> Array:
    """Scores (..., systems, items) as (..., groups, members).

    >>> grouped([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "item").tolist()
    [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    """
    values = np.asarray(scores, float)
    match by:
        case "item":
            return np.swapaxes(values, -1, -2)
        case "system":
            return values
        case "none":
            return values.reshape(*values.shape[:-2], 1, -1)
    raise DataError(f"scores are grouped by item, by system or by none, not by {by!r}.")


def means(values: Array) -> Array:
    """The mean over the last axis without what is unknown; `nan` where nothing is known."""
    known = ~np.isnan(values)
    count = known.sum(axis=-1)
    total = np.where(known, values, 0.0).sum(axis=-1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def pearson_rows(first: Array, second: Array) -> Array:
    """Pearson's r along the last axis: (..., members) twice to (...).

    Members of which one score is missing are left out; `nan` where one side does not vary.
    """
    known = ~(np.isnan(first) | np.isnan(second))
    count = np.maximum(known.sum(axis=-1, keepdims=True), 1)
    a, flat_a = _centred(first, known, count)
    b, flat_b = _centred(second, known, count)
    spread = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    flat = flat_a | flat_b | (spread == 0)
    r = (a * b).sum(axis=-1) / np.where(flat, 1.0, spread)
    return np.where(flat, np.nan, np.clip(r, -1, 1))


def ranks(values: Array, known: np.ndarray) -> Array:
    """Ranks along the last axis among what is known, ties sharing theirs; `nan` elsewhere."""
    from scipy.stats import rankdata

    ranked = rankdata(np.where(known, values, np.inf), axis=-1)
    return np.where(known, ranked, np.nan)


def _centred(values: Array, known: np.ndarray, count: np.ndarray) -> tuple[Array, np.ndarray]:
    """The known values less their mean, 0 elsewhere, and whether they do not vary."""
    filled = np.where(known, values, 0.0)
    centred = np.where(known, filled - filled.sum(axis=-1, keepdims=True) / count, 0.0)
    size = (filled * filled).sum(axis=-1)
    return centred, (centred * centred).sum(axis=-1) <= FLAT * size


@lru_cache(8)
def pair_positions(members: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first and the second member of every pair."""
    return np.triu_indices(members, 1)


def differences(values: Array) -> Array:
    """First less second member of every pair along the last axis: (..., members) to (..., pairs).

    >>> differences(np.array([5.0, 3.0, 4.0])).tolist()
    [2.0, 1.0, -1.0]
    """
    first, second = pair_positions(values.shape[-1])
    return np.asarray(values[..., first] - values[..., second])


@dataclass(frozen=True, eq=False)
class Concordance:
    """How many pairs of each group agree, disagree and are tied on either side or on both."""

    agree: Array
    disagree: Array
    human_ties: Array
    metric_ties: Array
    both_ties: Array

    @property
    def total(self) -> Array:
        """All pairs with both scores known."""
        one_sided = self.human_ties + self.metric_ties - self.both_ties
        return self.agree + self.disagree + one_sided


def concordance(metric: Array, human: Array) -> Concordance:
    """Pairs counted along the last axis: (..., groups, members) against (groups, members)."""
    shape = np.broadcast_shapes(metric.shape, human.shape)
    own = np.broadcast_to(metric, shape).reshape(-1, *shape[-2:])
    counts = _by_pairs(own, human) if shape[-1] <= FEW else _by_sorting(own, human)
    return Concordance(*(count.reshape(shape[:-1]) for count in counts))


def _by_pairs(metric: Array, human: Array) -> list[Array]:
    """Every pair looked at, a block of them at a time."""
    gaps = differences(human)
    step = max(1, PAIRS_AT_ONCE // max(1, gaps.size))
    starts = range(0, max(1, len(metric)), step)
    parts = [_counts(differences(metric[start : start + step]), gaps) for start in starts]
    return [np.concatenate(blocks) for blocks in zip(*parts, strict=True)]


def _counts(metric: Array, human: Array) -> tuple[Array, ...]:
    known = ~(np.isnan(metric) | np.isnan(human))
    m, g = np.sign(metric), np.sign(human)
    product = m * g
    masks = (product > 0, product < 0, (g == 0) & known, (m == 0) & known, (m == 0) & (g == 0))
    return tuple(mask.sum(axis=-1).astype(float) for mask in masks)


def _by_sorting(metric: Array, human: Array) -> list[Array]:
    """Groups one by one, in n log n steps each."""
    counts = [
        _sorted_counts(own, theirs)
        for rows in metric
        for own, theirs in zip(rows, human, strict=True)
    ]
    return list(np.array(counts, float).reshape(*metric.shape[:-1], 5).transpose(2, 0, 1))


def _sorted_counts(metric: Array, human: Array) -> tuple[float, ...]:
    from scipy.stats import kendalltau

    known = ~(np.isnan(metric) | np.isnan(human))
    m, g = metric[known], human[known]
    total = math.comb(len(m), 2)
    tied_g, tied_m, tied_both = _tied(g), _tied(m), _tied(np.stack([m, g], axis=1))
    untied = total - tied_g - tied_m + tied_both
    if tied_g == total or tied_m == total:
        return 0, 0, tied_g, tied_m, tied_both
    # tau-b is this surplus over the square root, so the surplus is a whole number again.
    spread = math.sqrt(total - tied_g) * math.sqrt(total - tied_m)
    surplus = round(kendalltau(m, g).statistic * spread)
    return (untied + surplus) / 2, (untied - surplus) / 2, tied_g, tied_m, tied_both


def _tied(values: Array) -> int:
    """The number of pairs of equal rows."""
    _, counts = np.unique(values, axis=0, return_counts=True)
    return int((counts * (counts - 1) // 2).sum())


def swapped_values(
    first: Array,
    second: Array,
    human: Array,
    overall: Callable[[Array, Array], Array],
    swaps: Iterable[Mask],
    *,
    by: By = "none",
) -> Array:
    """The values of two metrics in every trial, (trials, 2).

    All scores are (systems, items), standardised, and `nan` in the same places. `overall` is the
    agreement of (..., groups, members) with (groups, members) scores, (...). `swaps` gives (trials,
    systems, items) masks, a block at a time: where True, the two metrics change places.
    """
    grouped_human = grouped(human, by)
    blocks = [np.zeros((0, 2))]
    for swap in swaps:
        sides = (np.where(swap, second, first), np.where(swap, first, second))
        values = [overall(grouped(side, by), grouped_human) for side in sides]
        blocks.append(np.stack(values, axis=-1))
    return np.concatenate(blocks)


def pearson_swap_test(
    first: Array, second: Array, human: Array, *, trials: int, rng: np.random.Generator
) -> float:
    """The two-sided p of two metrics' (systems, items) scores correlating differently with people.

    By Pearson's r over all scores of which all three are known. In each trial the scores of the two
    metrics change places at random, those of all systems on an item together, since they depend on
    each other; p is the share of trials, the observed one among them, with a difference at least as
    large either way.
    """
    if trials < 1:
        raise DataError(f"{trials} trials: give at least 1.")
    a, b, people = commonly_known(first, second, human)

    def values(swaps: Iterable[Mask]) -> Array:
        return swapped_values(a, b, people, lambda *sides: means(pearson_rows(*sides)), swaps)

    observed = np.subtract(*values([np.zeros((1, *human.shape), bool)])[0])
    delta = np.subtract(*values(_swaps(human.shape, trials, rng)).T)
    if math.isnan(observed):
        return math.nan
    reached = np.count_nonzero(np.abs(delta) >= abs(observed) - SLACK)
    return float((reached + 1) / (trials + 1))


def commonly_known(first: Array, second: Array, human: Array) -> tuple[Array, Array, Array]:
    """Two metrics' standardised scores and people's, `nan` where one of the three is unknown."""
    known = ~(np.isnan(first) | np.isnan(second) | np.isnan(human))
    a, b, people = (np.where(known, scores, np.nan) for scores in (first, second, human))
    return _standardised(a), _standardised(b), people


def _standardised(scores: Array) -> Array:
    """The scores with mean 0 and standard deviation 1; all 0 where they do not vary."""
    spread = float(np.nanstd(scores)) if np.isfinite(scores).any() else 0.0
    centred = scores - (np.nanmean(scores) if np.isfinite(scores).any() else 0.0)
    return np.asarray(centred / spread if spread > 0 else centred)


def swaps_of_units(shape: tuple[int, ...], trials: int, rng: np.random.Generator) -> Mask:
    """What changes places in each trial of (systems, items) scores: items, (trials, items).

    Where there is one item only, it is each system by itself.
    """
    units = shape[1] if shape[1] > 1 else shape[0]
    step = max(1, SCORES_AT_ONCE // max(1, units))
    starts = range(0, trials, step)
    blocks = [rng.random((min(step, trials - at), units)) < 0.5 for at in starts]
    return np.concatenate([np.zeros((0, units), bool), *blocks])


def _swaps(shape: tuple[int, ...], trials: int, rng: np.random.Generator) -> Iterator[Mask]:
    """The same as masks of all scores, a block of trials at a time."""
    units = swaps_of_units(shape, trials, rng)
    drawn = (-1, 1, shape[1]) if shape[1] > 1 else (-1, shape[0], 1)
    step = max(1, SCORES_AT_ONCE // max(1, math.prod(shape)))
    for at in range(0, trials, step):
        block = units[at : at + step].reshape(drawn)
        yield np.broadcast_to(block, (len(block), *shape))


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
