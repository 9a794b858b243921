"""Resampling equals its slow versions, however the work is cut up."""

import math
import tracemalloc
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import csr_array

from assay.data import DataError, divide
from assay.metrics.base import Metric, Statistics
from assay.metrics.mean import Mean
from assay.statistics import significance, weights
from assay.statistics.significance import (
    all_pairs,
    bootstrap,
    paired_bootstrap,
    paired_jackknife,
    paired_randomisation,
)

SEED = 12345


@dataclass(frozen=True)
class Overlap(Metric):
    """The mean over types of matches by words: rows as wide as the vocabulary, twice."""

    name: ClassVar[str] = "overlap"

    def rows(self, segments):
        raise NotImplementedError

    def aggregate(self, sums):
        matches, words = np.split(sums, 2, axis=1)
        return divide(divide(matches, words).sum(axis=1), (words > 0).sum(axis=1))

    def each(self, rows):
        return np.array([Statistics(self, rows[[at]]).corpus() for at in range(rows.shape[0])])

    def without_each(self, rows):
        rest = [[i for i in range(rows.shape[0]) if i != at] for at in range(rows.shape[0])]
        return np.array([Statistics(self, rows[each]).corpus() for each in rest])


def sparse_systems(systems, segments, types, rng):
    def rows():
        words = rng.binomial(3, min(1, 8 / types), size=(segments, types))
        return csr_array(np.hstack([rng.binomial(words, 0.6), words]).astype(float))

    return [Statistics(Overlap(), rows()) for _ in range(systems)]


def dense(statistics):
    return [Statistics(each.metric, each.rows.toarray()) for each in statistics]


def means(*systems):
    return [Mean("x").of(values) for values in systems]


def rng():
    return np.random.default_rng(SEED)


def test_the_two_sided_bootstrap_equals_its_slow_version():
    statistics = sparse_systems(2, 50, 30, np.random.default_rng(6))
    (found,) = paired_bootstrap(statistics, pairs=[(0, 1)], resamples=200, rng=rng())
    draws = rng().choice(50, size=(200, 50), replace=True)
    slow = [statistics[0][row].corpus() - statistics[1][row].corpus() for row in draws]
    centre = sum(slow) / 200
    observed = statistics[0].corpus() - statistics[1].corpus()
    count = sum(abs(each - centre) >= abs(observed) for each in slow)
    assert 0 < count < 200
    assert found.difference == pytest.approx(observed)
    assert found.p == (count + 1) / 201


def test_randomisation_comes_close_to_the_exact_permutation_test():
    values = np.random.default_rng(0).normal(0.4, 1, size=12)
    exact = scipy.stats.permutation_test(
        (values, np.zeros(12)),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
    ).pvalue
    (found,) = paired_randomisation(
        means(values, np.zeros(12)), pairs=[(0, 1)], trials=40_000, resamples=0, rng=rng()
    )
    assert 0.05 < exact < 0.6
    assert found.p == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize("test", [paired_bootstrap, paired_randomisation])
def test_one_call_for_all_pairs_equals_one_call_per_pair(test):
    statistics = sparse_systems(4, 20, 30, np.random.default_rng(0))
    options = {"trials": 200} if test is paired_randomisation else {}
    together = test(statistics, pairs=all_pairs(4), resamples=60, rng=rng(), **options)
    for each, (i, j) in zip(together, all_pairs(4), strict=True):
        pair = [statistics[i], statistics[j]]
        (alone,) = test(pair, pairs=[(0, 1)], resamples=60, rng=rng(), **options)
        assert (each.first, each.second) == (i, j)
        assert (each.p, each.difference, each.low) == (alone.p, alone.difference, alone.low)


@pytest.mark.parametrize("kind", [dense, list], ids=["dense", "sparse"])
def test_bootstrap_scores_are_those_of_the_resampled_segments(kind):
    statistics = kind(sparse_systems(3, 20, 30, np.random.default_rng(0)))
    draws = rng().choice(20, size=(15, 20), replace=True)
    slow = [[each[row].corpus() for row in draws] for each in statistics]
    assert bootstrap(statistics, resamples=15, rng=rng()) == pytest.approx(np.array(slow))


@pytest.mark.parametrize("limit", ["weights", "stack"])
@pytest.mark.parametrize("kind", [dense, list], ids=["dense", "sparse"])
def test_cutting_the_work_up_changes_no_figure(kind, limit, monkeypatch):
    statistics = kind(sparse_systems(3, 20, 30, np.random.default_rng(0)))
    options = {"pairs": all_pairs(3), "trials": 100, "resamples": 40}
    whole = paired_randomisation(statistics, **options, rng=rng())
    names = {
        "weights": (weights, "BLOCK"),
        "stack": (significance, "STACK"),
    }
    monkeypatch.setattr(*names[limit], 500)
    parts = paired_randomisation(statistics, **options, rng=rng())
    for ours, theirs in zip(parts, whole, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-9)


def test_wide_sparse_rows_are_worked_off_in_bounded_memory():
    words = scipy.sparse.random_array(
        (100, 60_000), density=1e-3, format="csr", rng=np.random.default_rng(0)
    )
    rows = [scipy.sparse.hstack([words * share, words], format="csr") for share in (0.5, 0.6)]
    statistics = [Statistics(Overlap(), row) for row in rows]
    tracemalloc.start()
    (found,) = paired_randomisation(
        statistics, pairs=[(0, 1)], trials=300, resamples=300, rng=rng()
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.difference == pytest.approx(-0.1)
    assert found.p == 1 / 301
    assert peak < 280e6, "the sums of all resamples are 288 MB per system, before any score"


def test_resampling_is_calibrated_where_systems_do_not_differ():
    draws = np.random.default_rng(7).normal(size=(150, 2, 40))
    bootstraps = [
        paired_bootstrap(means(*pair), pairs=[(0, 1)], resamples=200, rng=rng())[0].p
        for pair in draws
    ]
    swapped = [
        paired_randomisation(means(*pair), pairs=[(0, 1)], trials=200, resamples=0, rng=rng())[0].p
        for pair in draws
    ]
    for p in (bootstraps, swapped):
        assert 0.04 <= np.mean(np.array(p) <= 0.1) <= 0.18
        assert 0.4 <= np.mean(p) <= 0.6


def test_the_jackknife_of_a_mean_is_the_paired_t_test():
    first, second = np.random.default_rng(5).normal([0.0, 0.4], 1, size=(30, 2)).T
    (found,) = paired_jackknife(means(first, second), pairs=[(0, 1)])
    students = scipy.stats.ttest_rel(first, second)
    assert found.p == pytest.approx(students.pvalue, rel=1e-9)
    assert (found.low, found.high) != (0, 0)
    (same,) = paired_jackknife(means(first, first), pairs=[(0, 1)])
    assert same.p == 1
    (shifted,) = paired_jackknife(means(first, first + 1), pairs=[(0, 1)])
    assert math.isnan(shifted.p), "a difference that does not vary says nothing about its spread"


def test_the_jackknife_of_types_leaves_out_one_segment_at_a_time():
    statistics = sparse_systems(2, 50, 30, np.random.default_rng(6))
    (found,) = paired_jackknife(statistics, pairs=[(0, 1)])
    rest = [np.delete(np.arange(50), at) for at in range(50)]
    slow = np.array([statistics[0][r].corpus() - statistics[1][r].corpus() for r in rest])
    error = np.sqrt(49 / 50 * np.sum((slow - slow.mean()) ** 2))
    t = (statistics[0].corpus() - statistics[1].corpus()) / error
    assert found.p == pytest.approx(2 * scipy.stats.t.sf(abs(t), 49), rel=1e-9)


def test_a_single_segment_is_never_significant():
    systems = means([1.0], [5.0])
    (left_out,) = paired_jackknife(systems, pairs=[(0, 1)])
    assert left_out.p == 1
    for test in (paired_bootstrap, paired_randomisation):
        (found,) = test(systems, pairs=[(0, 1)], rng=rng())
        assert (found.difference, found.p, found.p_holm) == (-4, 1, 1)
        assert math.isnan(found.low)
        assert math.isnan(found.high)
        (unknown,) = test(means([1.0], [math.nan]), pairs=[(0, 1)], rng=rng())
        assert math.isnan(unknown.p)


@pytest.mark.parametrize("test", [paired_bootstrap, paired_randomisation])
def test_a_system_without_scores_is_unknown_and_leaves_the_others_alone(test):
    values = np.random.default_rng(0).normal(size=(2, 30))
    systems = means(values[0], values[1], np.full(30, math.nan))
    known, unknown, _ = test(systems, pairs=all_pairs(3), rng=rng())
    assert all(map(math.isnan, unknown[2:]))
    (alone,) = test(systems[:2], pairs=[(0, 1)], rng=rng())
    assert known == pytest.approx(alone)


@pytest.mark.parametrize("test", [paired_bootstrap, paired_randomisation])
def test_resamples_without_a_rated_segment_are_left_out(test):
    first = np.full(6, math.nan)
    first[0] = 1.0
    (found,) = test(means(first, np.arange(6.0)), pairs=[(0, 1)], rng=rng())
    assert 0 < found.p <= 1
    assert found.low <= found.high


def test_unrated_resamples_do_not_dilute_p():
    values = np.array([math.nan, math.nan, 1.0, 2.0, 4.0])
    systems = means(values, np.zeros(5))
    replicates = bootstrap(systems, resamples=400, rng=rng())
    gone = np.isnan(replicates[0])
    assert gone.any()
    slow = (replicates[0] - replicates[1])[~gone]
    count = np.sum(np.abs(slow - slow.mean()) >= abs(values[2:].mean()) - 1e-9)
    (found,) = paired_bootstrap(systems, pairs=[(0, 1)], resamples=400, rng=rng())
    assert found.p == (count + 1) / (len(slow) + 1)


def test_trials_that_leave_a_system_unrated_do_not_dilute_p():
    first, second = [math.nan, math.nan, 5.0], [1.0, 2.0, math.nan]
    keep = rng().integers(2, size=(400, 3), dtype=bool)
    sizes = []
    for row in keep:
        one, other = np.where(row, first, second), np.where(row, second, first)
        if not np.isnan(one).all() and not np.isnan(other).all():
            sizes.append(abs(np.nanmean(one) - np.nanmean(other)))
    assert 0 < len(sizes) < 400
    count = sum(size >= 3.5 - 1e-9 for size in sizes)
    (found,) = paired_randomisation(means(first, second), pairs=[(0, 1)], trials=400, rng=rng())
    assert found.difference == 3.5
    assert found.p == (count + 1) / (len(sizes) + 1)


def test_differences_that_are_equal_but_for_rounding_are_ties():
    first = np.random.default_rng(0).normal(1000, 1, size=50)
    second = first.copy()
    second[17] += 0.1
    (found,) = paired_randomisation(means(first, second), pairs=[(0, 1)], trials=200, rng=rng())
    assert found.p == 1


def test_no_pairs_are_no_comparisons():
    systems = means([1.0, 2.0])
    assert paired_bootstrap(systems, pairs=[], rng=rng()) == []
    assert paired_randomisation(systems, pairs=[], trials=10, rng=rng()) == []


def test_without_resamples_the_interval_is_unknown():
    systems = means(np.arange(120.0), np.ones(120))
    (found,) = paired_randomisation(systems, pairs=[(0, 1)], resamples=0, trials=9, rng=rng())
    assert math.isnan(found.low)
    assert found.p > 0


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        (means([1.0, 2.0], [1.0]), "system 2 has 1 segments, but the first has 2"),
        ([Mean("x").of([1.0]), Mean("y").of([1.0])], "scored apart"),
        ([Statistics(Overlap(), np.ones((2, k))) for k in (2, 4)], "scored apart"),
        (means([]), "no segments"),
        ([], "no segments"),
    ],
)
def test_systems_that_cannot_be_compared_are_an_error(systems, message):
    for test in (paired_bootstrap, paired_randomisation):
        with pytest.raises(DataError, match=message):
            test(systems, pairs=[], rng=rng())
    with pytest.raises(DataError, match=message):
        bootstrap(systems, rng=rng())


two_systems = arrays.arrays(
    float, st.tuples(st.just(2), st.integers(1, 9)), elements=st.floats(0, 9)
)


@given(two_systems, st.sampled_from(["two-sided", "sacrebleu", "randomisation"]))
def test_p_is_above_zero_and_at_most_one(values, kind):
    options = {"pairs": [(0, 1)], "resamples": 30, "rng": rng()}
    if kind == "randomisation":
        (found,) = paired_randomisation(means(*values), trials=30, **options)
    else:
        (found,) = paired_bootstrap(means(*values), statistic=kind, **options)
    assert 0 < found.p <= found.p_holm <= 1
    assert found.low <= found.high or values.shape[1] == 1


@given(two_systems, st.randoms())
def test_the_order_of_segments_changes_no_observed_value(values, random):
    order = random.sample(range(values.shape[1]), values.shape[1])
    options = {"pairs": [(0, 1)], "resamples": 5, "rng": rng()}
    (one,) = paired_bootstrap(means(*values), **options)
    (other,) = paired_bootstrap(means(*values[:, order]), **options)
    for field in ("difference", "wins", "ties", "losses"):
        assert getattr(one, field) == pytest.approx(getattr(other, field), abs=1e-12)


@given(two_systems)
def test_swapping_the_systems_turns_the_difference_and_keeps_p(values):
    options = {"pairs": [(0, 1), (1, 0)], "resamples": 30, "rng": rng()}
    for found in (
        paired_bootstrap(means(*values), **options),
        paired_randomisation(means(*values), trials=30, **options),
    ):
        one, other = found
        assert one.difference == -other.difference
        assert one.p == other.p
        assert (one.wins, one.ties) == (other.losses, other.ties)
