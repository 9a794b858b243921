"""The figures of a table's rows as arrays: accuracies, intervals and p of pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assay.metrics.base import Array, divide
from assay.suite.statistics.first_cluster import Test, macro_pairs, pairs
from assay.suite.statistics.groups import Tally
from assay.suite.statistics.proportions import mean_interval, wilson

__all__ = ["Figures", "macro_figures", "plain_figures"]


class Figures(NamedTuple):
    """One row per row of the table, one column per system; shares, not percentages.

    `pairs` has one column per system and, once more, per system that it is better than: p.
    """

    items: Array
    passed: Array
    accuracy: Array
    low: Array
    high: Array
    pairs: Array


def plain_figures(counts: Tally, *, test: Test, level: float) -> Figures:
    """One row per group."""
    accuracy = _known(divide(counts.passed, counts.items), counts.items)
    limits = wilson(counts.passed, counts.items, level=level)
    return Figures(counts.items, counts.passed, accuracy, *limits, pairs(counts, test))


def macro_figures(counts: Tally, *, test: Test, level: float) -> Figures:
    """One row: the average over groups, which must be `groups.comparable`."""
    items, passed = counts.items.sum(axis=0), counts.passed.sum(axis=0)
    shares = divide(counts.passed, counts.items).sum(axis=0)
    accuracy = _known(divide(shares, len(counts.items)), items)
    limits = mean_interval(counts.passed.T, counts.items.T, level=level)
    row = (each[None, :] for each in (items, passed, accuracy, *limits))
    return Figures._make((*row, macro_pairs(counts, test)))


def _known(values: Array, items: Array) -> Array:
    return np.where(items > 0, values, np.nan)
