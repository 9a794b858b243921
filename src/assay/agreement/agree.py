"""How far a metric agrees with people, and whether it agrees better than another one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.agreement.coefficients import Coefficient, Measured, Pearson, Tested
from assay.agreement.swaps import TRIALS, permutation_p
from assay.data import Array
from assay.metrics.base import Statistics
from assay.progress import HERE, Mapper, current_cluster
from assay.statistics.correlation import (
    By,
    Mask,
    grouped,
    means,
    pearson_rows,
    ranks,
)
from assay.statistics.significance import rank_clusters, swapped_differences

__all__ = [
    "Agreement",
    "MetricComparison",
    "Shuffles",
    "agree",
    "compare_metrics",
    "confidences",
    "confidences_of_corpora",
    "permutation_p",
    "williams",
    "williams_of_all",
]


BLOCK = 2**20
"""Shuffles are worked off in blocks of about so many scores."""

_NO_PAIR = "pair of systems can be compared"

SLACK = 1e-12
"""A value that falls short of the observed one by this much still reaches it."""


class Shuffles(NamedTuple):
    """So many random orders of systems and items, for a test of no agreement at all."""

    trials: int
    rng: np.random.Generator


@dataclass(frozen=True)
class Agreement:
    """A coefficient's value, and how far to trust it.

    `n` counts the scores compared, `groups` the groups that have a value. Where `value` is `nan`,
    `reason` says why. `chance` is what a metric that knows nothing gets, where that is not 0.
    `test` says where the two-sided `p` comes from.
    """

    value: float
    p: float
    n: int
    groups: int = 1
    reason: str = ""
    chance: float = 0.0
    epsilon: float = math.nan
    test: str = ""


def agree(
    metric: Array,
    human: Array,
    coefficient: Coefficient,
    *,
    by: By = "none",
    shuffles: Shuffles | None = None,
) -> Agreement:
    """The agreement of (systems, items) scores with people's; `nan` is unknown.

    Within groups, the value is that of all groups together. Scores of one system, or of one item,
    are independent of each other, and p is the coefficient's own. Scores of several systems on
    several items are not (whatever is hard is hard for all systems, and a good system is good
    everywhere): p is then the share of `shuffles` of the metric's systems and items that agree
    as well, and there is none without them.
    """
    own, theirs = grouped(metric, by), grouped(human, by)
    known = ~(np.isnan(own) | np.isnan(theirs))
    own, theirs = np.where(known, own, np.nan), np.where(known, theirs, np.nan)
    n, most = int(known.sum()), int(known.sum(axis=-1).max(initial=0))
    enough = most >= coefficient.least
    value, chance, groups, epsilon = (
        coefficient.measure(own, theirs) if enough else Measured(math.nan)
    )
    if math.isnan(value):
        return Agreement(math.nan, math.nan, n, 0, _reason(own, theirs, most, coefficient))
    both = ~(np.isnan(metric) | np.isnan(human))
    p, test = math.nan, ""
    if min(both.any(axis=0).sum(), both.any(axis=1).sum()) == 1:
        p, test = coefficient.p(own[known], theirs[known])
    elif shuffles is not None:
        p, test = _shuffled(metric, human, coefficient, by, shuffles)
    return Agreement(value, p, n, groups, "", chance, epsilon, test)


def _reason(own: Array, human: Array, most: int, coefficient: Coefficient) -> str:
    """Why there is no value."""
    if not most:
        what = "score is known on both sides" if coefficient.needs == "scores" else _NO_PAIR
        return f"no {what}"
    if most < coefficient.least:
        return f"only {most} scores to compare; {coefficient.title} needs {coefficient.least}"
    if not _varies(human):
        return "all human scores are equal"
    return "no pair can be compared" if _varies(own) else "all metric scores are equal"


def _varies(scores: Array) -> bool:
    known = ~np.isnan(scores)
    low = np.where(known, scores, np.inf).min(axis=-1)
    high = np.where(known, scores, -np.inf).max(axis=-1)
    return bool((high > low).any())


def _shuffled(
    metric: Array, human: Array, coefficient: Coefficient, by: By, shuffles: Shuffles
) -> Tested:
    """The p of the scores having to do with each other at all.

    If they had not, any order of the systems and any order of the items would be as likely as the
    one at hand. Measured by Pearson's r, for every other coefficient by that of the ranks: to
    count all pairs in every trial would take minutes, and would say the same.
    """
    if not isinstance(coefficient, Pearson):
        metric, human = _ranked(metric, by), _ranked(human, by)
    theirs = grouped(human, by)
    observed = float(means(pearson_rows(grouped(metric, by), theirs)))
    if math.isnan(observed):
        return Tested(math.nan, "")
    reached = sum(
        np.count_nonzero(np.abs(means(pearson_rows(grouped(block, by), theirs)))
                         >= abs(observed) - SLACK)
        for block in _orders(metric, shuffles)
    )  # fmt: skip
    p = (reached + 1) / (shuffles.trials + 1)
    how = "" if isinstance(coefficient, Pearson) else " (rank correlation)"
    return Tested(float(p), f"{shuffles.trials:,} random orders of systems and items{how}")


def _orders(metric: Array, shuffles: Shuffles) -> Iterator[Array]:
    """Blocks (trials, systems, items) of the scores with systems and items in random order."""
    systems, items = metric.shape
    step = max(1, BLOCK // max(1, metric.size))
    for at in range(0, shuffles.trials, step):
        count = min(step, shuffles.trials - at)
        rows, columns = (
            shuffles.rng.permuted(np.tile(np.arange(size), (count, 1)), axis=1)
            for size in (systems, items)
        )
        yield metric[rows[:, :, None], columns[:, None, :]]


def _ranked(scores: Array, by: By) -> Array:
    """The ranks of known scores within their groups, (systems, items)."""
    groups = grouped(scores, by)
    ranked = ranks(groups, ~np.isnan(groups))
    return np.asarray(ranked.T if by == "item" else ranked.reshape(scores.shape))


SOFT_BLOCK = 2**24


def confidences(scores: Array, *, trials: int = TRIALS, rng: np.random.Generator) -> Array:
    """How sure (systems, items) scores are that the first of two systems is better, (pairs,).

    That is one less the one-sided p of a paired permutation test of the difference in means, over
    the items that both have. The same swaps serve all pairs, so give two metrics generators of
    the same seed. Ties count half. `nan` for pairs without a common item.
    """
    first, second = np.triu_indices(len(scores), 1)
    gaps = scores[first] - scores[second]
    known = ~np.isnan(gaps)
    filled = np.where(known, gaps, 0.0)
    observed = filled.sum(axis=1)
    slack = 1e-12 * np.maximum(np.abs(filled).sum(axis=1), 1e-300)
    below = np.zeros(len(gaps))
    step = max(1, SOFT_BLOCK // max(1, filled.shape[1]))
    for at in range(0, trials, step):
        count = min(step, trials - at)
        signs = np.where(rng.random((count, filled.shape[1])) < 0.5, -1.0, 1.0)
        below += _below(signs @ filled.T, observed, slack)
    return np.where(known.any(axis=1), below / trials, np.nan)


def confidences_of_corpora(
    systems: Sequence[Statistics],
    known: Mask,
    *,
    lower: bool = False,
    trials: int = TRIALS,
    rng: np.random.Generator,
) -> Array:
    """The same for a corpus metric: whole segments change places, and the corpus is scored.

    `known`, (systems, segments), says which segments count: of two systems those that both have.
    `lower` says that less is better.
    """
    swaps = rng.random((trials, len(systems[0]))) < 0.5
    pairs = list(combinations(range(len(systems)), 2))
    alike: dict[bytes, list[int]] = {}
    for place, (one, other) in enumerate(pairs):
        alike.setdefault((known[one] & known[other]).tobytes(), []).append(place)
    confidence = np.full(len(pairs), np.nan)
    for common, places in alike.items():
        items = np.flatnonzero(np.frombuffer(common, bool))
        if len(items):
            chosen = [pairs[place] for place in places]
            own = {at: systems[at][items] for at in sorted({at for pair in chosen for at in pair})}
            confidence[places] = _of_pairs(own, chosen, swaps[:, items], -1 if lower else 1)
    return confidence


def _of_pairs(
    systems: Mapping[int, Statistics], pairs: Sequence[tuple[int, int]], swaps: Mask, sign: int
) -> Array:
    """The confidences of pairs of systems that have the same segments in common, (pairs,)."""
    scores = {place: own.corpus() for place, own in systems.items()}
    numbers = {place: number for number, place in enumerate(systems)}
    own = list(systems.values())
    chosen = [(numbers[i], numbers[j]) for i, j in pairs]
    observed = np.array([scores[i] - scores[j] for i, j in pairs])
    slack = 1e-12 * np.array([max(abs(scores[i]), 1e-300) for i, _ in pairs])
    below = np.zeros(len(pairs))
    step = max(1, SOFT_BLOCK // max(len(pairs), len(own[0])))
    for first in range(0, len(swaps), step):
        stay = (~swaps[first : first + step]).astype(float)
        deltas = np.stack(list(swapped_differences(own, chosen, stay)), axis=1)
        below += _below(sign * deltas, sign * observed, slack)
    return below / len(swaps)


def _below(deltas: Array, observed: Array, slack: Array) -> Array:
    """How many trials fall below what was observed; ties count half."""
    less = deltas < observed - slack
    tied = np.abs(deltas - observed) <= slack
    return np.asarray(less.sum(axis=0) + tied.sum(axis=0) / 2)


def williams(first: float, second: float, between: float, n: int) -> float:
    """The two-sided p of two metrics correlating differently with people, by Williams' test.

    `first` and `second` are the metrics' correlations with people, `between` that of the two
    metrics with each other, all over the same `n` scores (Williams, 1959; Steiger, 1980), which
    are independent of each other: those of systems, not of many systems on many segments.

    >>> round(williams(0.9, 0.8, 0.7, 20), 4)
    0.1878
    """
    from scipy.special import stdtr

    if n < 4 or any(map(math.isnan, (first, second, between))):
        return math.nan
    k = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    mean = (first + second) / 2
    spread = 2 * k * (n - 1) / (n - 3) + mean**2 * (1 - between) ** 3
    if spread <= 0:
        return 1.0 if first == second else 0.0
    t = (first - second) * math.sqrt((n - 1) * (1 + between) / spread)
    return float(2 * stdtr(n - 3, -abs(t)))


def williams_of_all(metrics: Sequence[Array], human: Array) -> Array:
    """Williams' p of every metric against every other, over what all three have scored."""
    p = np.full((len(metrics), len(metrics)), np.nan)
    for i, first in enumerate(metrics):
        for j, second in enumerate(metrics):
            if i != j:
                three = np.stack([first, second, human]).reshape(3, -1)
                a, b, people = three[:, ~np.isnan(three).any(axis=0)]
                ours, theirs = float(pearson_rows(a, people)), float(pearson_rows(b, people))
                p[i, j] = williams(ours, theirs, float(pearson_rows(a, b)), len(people))
    return p


@dataclass(frozen=True, eq=False)
class MetricComparison:
    """Metrics set against each other.

    `p[i, j]` is the two-sided p of metric i, which is ahead, and metric j agreeing differently with
    people; `clusters` ranks the metrics, 1 for the best, where those that cannot be told apart
    share a rank.
    """

    metrics: tuple[str, ...]
    values: Array
    p: Array
    clusters: tuple[int, ...]


def compare_metrics(
    scores: Mapping[str, Array],
    human: Array,
    coefficient: Coefficient,
    *,
    by: By = "none",
    trials: int = TRIALS,
    alpha: float = 0.05,
    rng: np.random.Generator,
) -> MetricComparison:
    """Every metric against every other; all pairs see the same swaps."""
    names = tuple(scores)
    people = grouped(human, by)
    values = np.array(
        [float(coefficient.overall(grouped(own, by), people)) for own in scores.values()]
    )
    seed = int(rng.integers(2**63))
    p = np.full((len(names), len(names)), np.nan)
    pairs = [(i, j) for i, j in permutations(range(len(names)), 2) if values[i] >= values[j]]
    test = partial(
        _compared, list(scores.values()), human, coefficient, by=by, trials=trials, seed=seed
    )
    for pair, found in zip(pairs, _workplace(human, trials).map(test, pairs), strict=True):
        p[pair] = found
    better = _better(p, alpha)
    return MetricComparison(names, values, p, tuple(rank_clusters(values, better | better.T)))


def _compared(
    scores: Sequence[Array],
    human: Array,
    coefficient: Coefficient,
    pair: tuple[int, int],
    *,
    by: By,
    trials: int,
    seed: int,
) -> float:
    first, second = (scores[at] for at in pair)
    rng = np.random.default_rng(seed)
    return permutation_p(first, second, human, coefficient, by=by, trials=trials, rng=rng)


def _workplace(human: Array, trials: int) -> Mapper:
    """Where two metrics are compared: what takes no time is done here."""
    return current_cluster() if human.size * trials > BLOCK else HERE


def _better(p: Array, alpha: float) -> NDArray[np.bool_]:
    return np.asarray(np.where(np.isnan(p), 1.0, p) < alpha)
