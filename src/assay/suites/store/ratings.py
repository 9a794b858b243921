"""What people said of outputs that several of them judged, and how far they agree."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from assay.suites.store.records import Ratings
from assay.suites.store.tables import annotators, decisions, items, outputs

__all__ = ["PairAgreement", "RaterCoefficient", "alpha", "pair_agreements", "ratings"]

RESAMPLES = 2000

Counts = NDArray[np.float64]


def ratings(connection: Connection) -> Ratings:
    """What people said of the outputs that several of them judged, adjudications aside."""
    current = ~decisions.c.withdrawn, ~decisions.c.adjudication, decisions.c.verdict != "skip"
    several = (
        select(decisions.c.output_id)
        .where(*current)
        .group_by(decisions.c.output_id)
        .having(func.count() > 1)
    )
    asked = (
        select(decisions.c.output_id, annotators.c.name, decisions.c.verdict)
        .add_columns(outputs.c.item_id, items.c.category, items.c.phenomenon)
        .join(annotators, annotators.c.id == decisions.c.annotator_id)
        .join(outputs, outputs.c.id == decisions.c.output_id)
        .join(items, items.c.id == outputs.c.item_id)
        .where(*current, decisions.c.output_id.in_(several))
    )
    rows = connection.execute(asked).all()
    people = sorted({row.name for row in rows})
    about = {row.output_id: row for row in rows}
    judged = sorted(about)
    codes = np.full((len(people), len(judged)), np.nan)
    at = {name: row for row, name in enumerate(people)}
    column = {output: number for number, output in enumerate(judged)}
    for row in rows:
        codes[at[row.name], column[row.output_id]] = float(row.verdict == "pass")
    return Ratings(
        tuple(people),
        tuple(judged),
        codes,
        tuple(about[output].item_id for output in judged),
        tuple((about[output].category, about[output].phenomenon) for output in judged),
    )


class RaterCoefficient(NamedTuple):
    """A coefficient of agreement with its 95 % interval; `nan` where it is unknown."""

    value: float
    low: float
    high: float


class PairAgreement(NamedTuple):
    """Two people: how many outputs both judged, how many alike, and Cohen's kappa."""

    first: str
    second: str
    outputs: int
    same: int
    kappa: RaterCoefficient


def alpha(found: Ratings, *, rng: np.random.Generator) -> RaterCoefficient:
    """Krippendorff's alpha of all people, with an interval from resampling the items.

    Outputs of an item are alike, so items are drawn, not outputs.
    """
    passes, fails = np.nansum(found.codes, axis=0), np.nansum(1 - found.codes, axis=0)
    several = passes + fails >= 2
    pairs = 2 * passes * fails / np.maximum(passes + fails - 1, 1)
    columns = np.stack([pairs, passes, fails], axis=1)[several]
    return _resampled(_by_item(columns, np.array(found.items)[several]), _alpha, rng)


def pair_agreements(found: Ratings, *, rng: np.random.Generator) -> list[PairAgreement]:
    """Every two people who judged some output both; kappa's interval is from resampling items."""
    pairs = []
    for i, j in combinations(range(len(found.people)), 2):
        both = ~np.isnan(found.codes[i]) & ~np.isnan(found.codes[j])
        if not both.any():
            continue
        a, b = found.codes[i, both], found.codes[j, both]
        cells = np.stack([a * b, a * (1 - b), (1 - a) * b, (1 - a) * (1 - b)], axis=1)
        kappa = _resampled(_by_item(cells, np.array(found.items)[both]), _kappa, rng)
        names = found.people[i], found.people[j]
        pairs.append(PairAgreement(*names, int(both.sum()), int((a == b).sum()), kappa))
    return pairs


def _by_item(columns: Counts, of: NDArray[np.int_]) -> Counts:
    """The sums of the rows of each item."""
    known, places = np.unique(of, return_inverse=True)
    sums = np.zeros((len(known), columns.shape[1]))
    np.add.at(sums, places, columns)
    return sums


def _resampled(
    sums: Counts, coefficient: Callable[[Counts], Counts], rng: np.random.Generator
) -> RaterCoefficient:
    """The coefficient of the summed rows, and the middle 95 % of those of drawn rows."""
    size = len(sums)
    value = float(coefficient(sums.sum(axis=0, keepdims=True))[0]) if size else math.nan
    if size < 2:
        return RaterCoefficient(value, math.nan, math.nan)
    drawn = rng.multinomial(size, np.full(size, 1 / size), RESAMPLES)
    values = coefficient(drawn @ sums)
    known = values[~np.isnan(values)]
    if math.isnan(value) or not len(known):
        return RaterCoefficient(value, math.nan, math.nan)
    low, high = np.quantile(known, (0.025, 0.975))
    return RaterCoefficient(value, float(low), float(high))


def _alpha(sums: Counts) -> Counts:
    pairs, passes, fails = sums.T
    expected = 2 * passes * fails / np.maximum(passes + fails - 1, 1)
    return np.where(expected > 0, 1 - pairs / np.where(expected > 0, expected, 1), np.nan)


def _kappa(sums: Counts) -> Counts:
    total = np.maximum(sums.sum(axis=1), 1)
    both, first, second, none = sums.T / total
    observed = both + none
    chance = (both + first) * (both + second) + (second + none) * (first + none)
    certain = np.isclose(chance, 1)
    return np.where(certain, np.nan, (observed - chance) / np.where(certain, 1, 1 - chance))
