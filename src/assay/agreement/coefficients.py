"""Coefficients of agreement between a metric and people, for one group or for many at once."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.agreement.ties import Calibrated, calibrated, tied_share
from assay.data import Array, DataError, divide
from assay.registry import Registry, Settings, setting
from assay.statistics.correlation import (
    Concordance,
    concordance,
    differences,
    means,
    pearson_rows,
    ranks,
)

__all__ = [
    "COEFFICIENTS",
    "WMT",
    "Accuracy",
    "AccuracyWithTies",
    "Coefficient",
    "Kendall",
    "Measured",
    "Pearson",
    "SoftPairwiseAccuracy",
    "Spearman",
    "Tested",
    "fisher_interval",
]

BLOCK = 256
"""So many scores are compared with all others at once."""

EXACT = 7
"""Of so few members, all orders are tried: formulas for many are wrong for few."""


class Tested(NamedTuple):
    """A two-sided p and the test that it comes from."""

    p: float
    test: str


class Measured(NamedTuple):
    """The value of a coefficient, that of chance, the groups that have one, and the threshold."""

    value: float
    chance: float = 0.0
    groups: int = 0
    epsilon: float = math.nan


@dataclass(frozen=True)
class Coefficient(Settings, ABC):
    """Agreement as one number, 1 for perfect; a value with settings, like a metric."""

    title: ClassVar[str]
    least: ClassVar[int] = 3
    """Fewer members than this say nothing."""
    needs: ClassVar[Literal["scores", "segments"]] = "scores"
    """What is compared: the scores of systems, documents or segments; or, from the scores of
    segments, how sure both sides are of each pair of systems that the first is better (0 to 1)."""

    @property
    def label(self) -> str:
        """The title, with its settings."""
        _, _, settings = str(self).partition(":")
        return f"{self.title} ({settings})" if settings else self.title

    @abstractmethod
    def each(self, metric: Array, human: Array) -> Array:
        """The value of every group: (..., groups, members) and (groups, members) to (..., groups).

        Members with an unknown score are left out; `nan` where there is no value.
        """

    def overall(self, metric: Array, human: Array) -> Array:
        """One value over all groups: the mean of theirs, (...)."""
        return means(self.each(metric, human))

    def from_counts(self, counts: Concordance) -> Array | None:
        """One value over all groups, from their counts of pairs; None where that is not enough."""
        return None

    def measure(self, metric: Array, human: Array) -> Measured:
        """The value over all groups, and what is said beside it."""
        value = float(self.overall(metric, human))
        if math.isnan(value):
            return Measured(value)
        groups = int((~np.isnan(self.each(metric, human))).sum())
        return Measured(value, self.chance(metric, human), groups, self.epsilon(metric, human))

    def p(self, metric: Array, human: Array) -> Tested:
        """How likely such a value is by chance, for one group without unknown scores."""
        return Tested(math.nan, "")

    def error(self, value: float, n: int) -> float:
        """The standard error of Fisher's z of a value over `n` members, where there is one."""
        return math.nan

    def chance(self, metric: Array, human: Array) -> float:
        """The value of a metric that knows nothing, for (groups, members) scores."""
        return 0.0

    def epsilon(self, metric: Array, human: Array) -> float:
        """The difference up to which a pair counts as tied, where the coefficient has one."""
        return math.nan


@dataclass(frozen=True)
class Pearson(Coefficient):
    """Pearson's r: how nearly they lie on a line."""

    name: ClassVar[str] = "pearson"
    title: ClassVar[str] = "Pearson's r"

    def each(self, metric: Array, human: Array) -> Array:
        """Correlations, `nan` where one side does not vary."""
        return pearson_rows(metric, human)

    def p(self, metric: Array, human: Array) -> Tested:
        """From the t distribution."""
        from scipy.stats import pearsonr

        return Tested(float(pearsonr(metric, human).pvalue), "the t distribution")

    def error(self, value: float, n: int) -> float:
        """As by Fisher (1921)."""
        return 1 / math.sqrt(n - 3) if n > 3 else math.nan


@dataclass(frozen=True)
class Spearman(Coefficient):
    """Spearman's rho: Pearson's r of the ranks."""

    name: ClassVar[str] = "spearman"
    title: ClassVar[str] = "Spearman's rho"

    def each(self, metric: Array, human: Array) -> Array:
        """Correlations of ranks among the members whose scores are both known."""
        known = ~(np.isnan(metric) | np.isnan(human))
        return pearson_rows(ranks(metric, known), ranks(np.broadcast_to(human, known.shape), known))

    def p(self, metric: Array, human: Array) -> Tested:
        """From all orders of few members, else from the t distribution."""
        from scipy.stats import spearmanr

        if len(human) <= EXACT:
            return _all_orders(self, metric, human)
        return Tested(float(spearmanr(metric, human).pvalue), "the t distribution")

    def error(self, value: float, n: int) -> float:
        """As by Bonett and Wright (2000)."""
        return math.sqrt((1 + value**2 / 2) / (n - 3)) if n > 3 else math.nan


@dataclass(frozen=True)
class Kendall(Coefficient):
    """Kendall's tau: pairs in the same order less pairs in the other, of all pairs.

    Variant b corrects for ties; c also for scales of different coarseness.
    """

    name: ClassVar[str] = "kendall"
    title: ClassVar[str] = "Kendall's tau"

    variant: Literal["b", "c"] = setting("b")

    def each(self, metric: Array, human: Array) -> Array:
        """Taus, `nan` where one side does not vary."""
        counts = concordance(metric, human)
        return self._tau_b(counts) if self.variant == "b" else self._tau_c(counts, metric, human)

    def p(self, metric: Array, human: Array) -> Tested:
        """From all orders where members are few or have no ties, else the normal distribution."""
        from scipy.stats import kendalltau

        tied = min(len(np.unique(metric)), len(np.unique(human))) < len(human)
        if tied and len(human) <= EXACT:
            return _all_orders(self, metric, human)
        p = float(kendalltau(metric, human, variant=self.variant).pvalue)
        # As SciPy chooses: exact for up to 33 members without ties.
        return Tested(p, "the normal distribution" if tied or len(human) > 33 else "all orders")

    def error(self, value: float, n: int) -> float:
        """As by Fieller, Hartley and Pearson (1957)."""
        return math.sqrt(0.437 / (n - 4)) if n > 4 else math.nan

    def from_counts(self, counts: Concordance) -> Array | None:
        """The mean of the groups' tau-b."""
        return means(self._tau_b(counts)) if self.variant == "b" else None

    def _tau_b(self, counts: Concordance) -> Array:
        total = counts.total
        spread = np.sqrt((total - counts.human_ties) * (total - counts.metric_ties))
        tau = divide(counts.agree - counts.disagree, spread)
        return np.where(spread > 0, tau, np.nan)

    def _tau_c(self, counts: Concordance, metric: Array, human: Array) -> Array:
        known = ~(np.isnan(metric) | np.isnan(human))
        members = known.sum(axis=-1)
        classes = np.minimum(
            _distinct(metric, known), _distinct(np.broadcast_to(human, known.shape), known)
        )
        most = members**2 * (classes - 1)
        tau = divide(2 * (counts.agree - counts.disagree) * classes, most)
        return np.where(most > 0, tau, np.nan)


@dataclass(frozen=True)
class WMT(Coefficient):
    """The tau of WMT's segment task: better/worse pairs in the right order less the others.

    Pairs that people rate within `gap` of each other are left out; a metric's tie counts as
    wrong. Over groups the pairs are pooled. With raw DA scores, `wmt:gap=25` is DA-RR.
    """

    name: ClassVar[str] = "wmt"
    title: ClassVar[str] = "WMT's tau"
    least: ClassVar[int] = 2

    gap: float = setting(0.0)

    def each(self, metric: Array, human: Array) -> Array:
        """Right less wrong pairs of each group, over all that people tell apart."""
        right, total = self._counts(metric, human)
        return np.where(total > 0, divide(2 * right - total, total), np.nan)

    def overall(self, metric: Array, human: Array) -> Array:
        """All pairs of all groups together."""
        right, total = (counts.sum(axis=-1) for counts in self._counts(metric, human))
        return np.where(total > 0, divide(2 * right - total, total), np.nan)

    def from_counts(self, counts: Concordance) -> Array | None:
        """All pairs of all groups together, where no gap is asked for."""
        right, total = counts.agree.sum(axis=-1), (counts.total - counts.human_ties).sum(axis=-1)
        tau = np.where(total > 0, divide(2 * right - total, total), np.nan)
        return tau if self.gap <= 0 else None

    def _counts(self, metric: Array, human: Array) -> tuple[Array, Array]:
        if self.gap <= 0:
            counts = concordance(metric, human)
            return counts.agree, counts.total - counts.human_ties
        gaps = differences(human)
        apart = np.abs(gaps) > self.gap
        own = differences(metric)
        known = apart & ~np.isnan(own)
        right = known & (np.sign(own) == np.sign(gaps))
        return right.sum(axis=-1).astype(float), known.sum(axis=-1).astype(float)


@dataclass(frozen=True)
class Accuracy(Coefficient):
    """Pairwise accuracy: the share of pairs that the metric orders as people do.

    Pairs that people rate the same are left out; a metric's tie counts as wrong. A metric that
    knows nothing gets half of them right. p is that of Kendall's tau on the same scores.
    """

    name: ClassVar[str] = "accuracy"
    title: ClassVar[str] = "pairwise accuracy"
    least: ClassVar[int] = 2

    def each(self, metric: Array, human: Array) -> Array:
        """Shares, `nan` where people tell no pair apart."""
        return self._shares(concordance(metric, human))

    def from_counts(self, counts: Concordance) -> Array | None:
        """The mean of the groups' shares."""
        return means(self._shares(counts))

    def _shares(self, counts: Concordance) -> Array:
        total = counts.total - counts.human_ties
        return np.where(total > 0, divide(counts.agree, total), np.nan)

    def p(self, metric: Array, human: Array) -> Tested:
        """As for Kendall's tau."""
        return Kendall().p(metric, human)

    def chance(self, metric: Array, human: Array) -> float:
        """Half of the pairs."""
        return 0.5


def fisher_interval(
    coefficient: Coefficient, value: float, n: int, *, level: float = 0.95
) -> tuple[float, float]:
    """The interval of a correlation over `n` independent members, by Fisher's z.

    `nan` where members are too few or the value is 1 or -1: what cannot vary has no error.

    >>> low, high = fisher_interval(Pearson(), -0.76, 5)
    >>> round(low, 2), round(high, 2)
    (-0.98, 0.37)
    """
    from scipy.special import ndtri

    if math.isnan(value) or abs(value) >= 1 - 1e-12:
        return math.nan, math.nan
    middle = math.atanh(value)
    reach = float(ndtri((1 + level) / 2)) * coefficient.error(value, n)
    return math.tanh(middle - reach), math.tanh(middle + reach)


def _all_orders(coefficient: Coefficient, metric: Array, human: Array) -> Tested:
    """The share of all orders of the metric's scores that agree as well, or disagree as well."""
    shuffled = metric[_orders(len(metric))][:, None]
    values = coefficient.overall(shuffled, human[None])
    # The first order is the one at hand.
    if math.isnan(values[0]):
        return Tested(math.nan, "")
    return Tested(float((np.abs(values) >= abs(values[0]) - 1e-12).mean()), "all orders")


@lru_cache(EXACT)
def _orders(members: int) -> NDArray[np.intp]:
    return np.array(list(permutations(range(members))))


def _distinct(values: Array, known: np.ndarray) -> Array:
    """The number of distinct known values along the last axis."""
    ordered = np.sort(np.where(known, values, np.nan), axis=-1)
    steps = (ordered[..., 1:] > ordered[..., :-1]).sum(axis=-1)
    return np.where(known.any(axis=-1), steps + 1, 0).astype(float)


MOST = 10_000_000_000
"""More pairs than this take minutes."""


@dataclass(frozen=True)
class AccuracyWithTies(Coefficient):
    """The share of pairs ordered, or tied, as by people, with the best threshold for ties.

    One threshold serves all groups; the value is the mean of theirs. Chance is what calling all
    pairs tied gives, or half of the rest, whichever is more.
    """

    name: ClassVar[str] = "acc-eq"
    title: ClassVar[str] = "accuracy with ties"
    least: ClassVar[int] = 2

    def each(self, metric: Array, human: Array) -> Array:
        """Every group with the threshold that is best for all."""
        flat = metric.reshape(-1, *metric.shape[-2:])
        values = [self._each(one, human) for one in flat]
        return np.stack(values).reshape(metric.shape[:-1])

    def overall(self, metric: Array, human: Array) -> Array:
        """The calibrated accuracy, which is the mean over groups."""
        flat = metric.reshape(-1, *metric.shape[-2:])
        values = [self._calibrated(one, human).accuracy for one in flat]
        return np.array(values).reshape(metric.shape[:-2])

    def measure(self, metric: Array, human: Array) -> Measured:
        """All from one search of the threshold."""
        value, epsilon = self._calibrated(metric, human)
        if math.isnan(value):
            return Measured(value)
        known = ~(np.isnan(metric) | np.isnan(human))
        groups = int((known.sum(axis=-1) > 1).sum())
        return Measured(value, self.chance(metric, human), groups, epsilon)

    def epsilon(self, metric: Array, human: Array) -> float:
        """The threshold that is best for all groups."""
        return self._calibrated(metric, human).epsilon

    def chance(self, metric: Array, human: Array) -> float:
        """Calling every pair tied, or ordering at random those that are not."""
        ties = tied_share(metric, human)
        return max(ties, (1 - ties) / 2)

    def _calibrated(self, metric: Array, human: Array) -> Calibrated:
        groups, members = human.shape
        if groups * math.comb(members, 2) > MOST:
            raise DataError(
                f"acc-eq over all pairs of {members:,} scores would take too long: "
                'compare within items (by="item") or within systems (by="system").'
            )
        return calibrated(metric, human)

    def _each(self, metric: Array, human: Array) -> Array:
        epsilon = self.epsilon(metric, human)
        return np.array(
            [_accuracy_at(own, theirs, epsilon) for own, theirs in zip(metric, human, strict=True)]
        )


def _accuracy_at(metric: Array, human: Array, epsilon: float) -> float:
    """The share of one group's pairs that are right with this threshold, a block at a time."""
    known = ~(np.isnan(metric) | np.isnan(human))
    own, theirs = metric[known], human[known]
    hits = 0
    for at in range(0, len(own), BLOCK):
        gaps = own[at : at + BLOCK, None] - own
        said = np.where(np.abs(gaps) <= epsilon, 0.0, np.sign(gaps))
        right = said == np.sign(theirs[at : at + BLOCK, None] - theirs)
        hits += int(np.count_nonzero(right))
    # Every pair was met twice, and every score with itself.
    return (hits - len(own)) / (len(own) * (len(own) - 1)) if len(own) > 1 else math.nan


@dataclass(frozen=True)
class SoftPairwiseAccuracy(Coefficient):
    """One less the mean distance of the metric's confidences from people's (Thompson et al., 2024).

    A metric that is as sure as people of every pair of systems has 1; one that never knows has 1
    less people's mean distance from one half.
    """

    name: ClassVar[str] = "spa"
    title: ClassVar[str] = "soft pairwise accuracy"
    least: ClassVar[int] = 1
    needs: ClassVar[Literal["scores", "segments"]] = "segments"

    def each(self, metric: Array, human: Array) -> Array:
        """One less the mean distance of every group's known confidences."""
        distance = np.abs(metric - human)
        known = ~np.isnan(distance)
        count = known.sum(axis=-1)
        total = np.where(known, distance, 0.0).sum(axis=-1)
        return np.where(count > 0, 1 - divide(total, count), np.nan)

    def chance(self, metric: Array, human: Array) -> float:
        """That of a metric whose confidence is always one half."""
        return float(self.overall(np.where(np.isnan(metric), np.nan, 0.5), human))


COEFFICIENTS: Registry[Coefficient] = Registry(
    "coefficient",
    "assay.coefficients",
    {
        "pearson": "assay.agreement.coefficients:Pearson",
        "spearman": "assay.agreement.coefficients:Spearman",
        "kendall": "assay.agreement.coefficients:Kendall",
        "wmt": "assay.agreement.coefficients:WMT",
        "accuracy": "assay.agreement.coefficients:Accuracy",
        "acc-eq": "assay.agreement.coefficients:AccuracyWithTies",
        "spa": "assay.agreement.coefficients:SoftPairwiseAccuracy",
    },
    base=Coefficient,
    aliases=(("kendall-b|tau", "kendall"), ("kendall-c", "kendall:variant=c")),
)
"""All coefficients: `COEFFICIENTS.parse("wmt:gap=25")`."""
