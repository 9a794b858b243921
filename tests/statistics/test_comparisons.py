"""Comparisons: Holm's correction, sizes of effect, shares of segments won."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.metrics.base import Metric, Statistics
from assay.metrics.mean import Mean
from assay.statistics.significance import (
    Comparison,
    against_first,
    all_pairs,
    holm,
    interval,
    paired_bootstrap,
    rank_clusters,
    significant,
)


@dataclass(frozen=True)
class Errors(Metric):
    """Errors by words, of which fewer are better."""

    name: ClassVar[str] = "errors"
    higher_is_better: ClassVar[bool] = False

    def rows(self, segments):
        raise NotImplementedError

    def aggregate(self, sums):
        return sums[:, 0] / sums[:, 1]


def compare(first, second, **options):
    systems = [Mean("x").of(first), Mean("x").of(second)]
    (found,) = paired_bootstrap(
        systems, pairs=[(0, 1)], resamples=200, rng=np.random.default_rng(1), **options
    )
    return found


def slow_holm(p):
    """Each p times the number of those not smaller, and never below a smaller one's."""
    found = []
    for value in p:
        smaller = [each for each in p if each <= value]
        steps = [each * sum(other >= each for other in p) for each in smaller]
        found.append(min(1, max(steps)))
    return found


def made_up(first, second, p_holm):
    return Comparison(first, second, 1.0, p_holm, p_holm, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0)


def test_every_other_system_is_compared_with_the_first():
    assert against_first(4) == [(1, 0), (2, 0), (3, 0)]
    assert against_first(1) == against_first(0) == []


def test_all_pairs_are_every_two_systems_once():
    assert all_pairs(4) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def test_holm_equals_an_example_worked_by_hand():
    # 0.005 * 4, 0.011 * 3, 0.02 * 2, 0.04 * 1: already in order, as in Holm (1979).
    assert holm([0.04, 0.005, 0.02, 0.011]) == pytest.approx([0.04, 0.02, 0.04, 0.033])
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.6, 0.9]) == pytest.approx([1, 1])
    assert holm([]).tolist() == []


def test_holm_leaves_unknown_ones_out_of_the_count():
    found = holm([0.01, math.nan, 0.03])
    assert found[[0, 2]] == pytest.approx(holm([0.01, 0.03]))
    assert math.isnan(found[1])


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=12, unique=True))
def test_holm_equals_its_slow_version(p):
    assert holm(p) == pytest.approx(slow_holm(p))


@given(st.lists(st.sampled_from([0.001, 0.01, 0.02, 0.3, 1.0]), min_size=1, max_size=12))
def test_corrected_p_is_no_smaller_and_in_the_same_order(p):
    found = holm(p)
    assert (found >= p).all()
    assert (found <= 1).all()
    order = np.argsort(p)
    assert (np.diff(found[order]) >= 0).all()
    for value in set(p):
        assert len(set(found[np.array(p) == value])) == 1


def test_all_pairs_of_one_call_are_corrected_together():
    values = np.random.default_rng(0).normal([[0], [0.4], [0.5], [3]], 1, size=(4, 40))
    systems = [Mean("x").of(value) for value in values]
    found = paired_bootstrap(systems, pairs=all_pairs(4), rng=np.random.default_rng(0))
    assert [comparison.p_holm for comparison in found] == pytest.approx(
        holm([comparison.p for comparison in found])
    )
    assert any(comparison.p < comparison.p_holm < 1 for comparison in found)


def test_the_effect_of_a_mean_is_the_d_of_cohen():
    first, second = np.random.default_rng(0).normal(size=(2, 25))
    gaps = first - second
    assert compare(first, second).effect == pytest.approx(gaps.mean() / gaps.std(ddof=1))


def test_the_effect_of_a_ratio_comes_from_the_segments_left_out_one_by_one():
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 9, size=(2, 15, 2)).astype(float)
    systems = [Statistics(Errors(), row) for row in rows]
    (found,) = paired_bootstrap(systems, pairs=[(0, 1)], resamples=10, rng=rng)

    def gap(kept):
        errors, words = rows[:, kept].sum(axis=1).T
        return errors[0] / words[0] - errors[1] / words[1]

    everything = list(range(15))
    pseudo = [
        15 * gap(everything) - 14 * gap([i for i in everything if i != left]) for left in everything
    ]
    assert found.difference == pytest.approx(gap(everything))
    assert found.effect == pytest.approx(np.mean(pseudo) / np.std(pseudo, ddof=1))


def test_identical_systems_have_no_effect():
    values = np.random.default_rng(0).normal(size=10)
    found = compare(values, values)
    assert (found.effect, found.difference, found.low, found.high) == (0, 0, 0, 0)
    assert (found.wins, found.ties, found.losses) == (0, 1, 0)


def test_a_difference_that_does_not_vary_has_an_effect_of_unknown_size():
    values = np.random.default_rng(0).normal(size=10)
    assert math.isnan(compare(values + 0.1, values).effect)
    assert math.isnan(compare([1.0], [2.0]).effect)


def test_wins_ties_and_losses_are_shares_of_the_segments():
    found = compare([1.0, 2.0, 3.0, 0.1 + 0.2], [0.0, 3.0, 2.0, 0.3])
    assert (found.wins, found.ties, found.losses) == (0.5, 0.25, 0.25)


def test_segments_without_both_scores_count_for_nobody():
    nan = math.nan
    found = compare([1.0, nan, 3.0, 1.0, nan], [0.0, 1.0, nan, 2.0, nan])
    assert (found.wins, found.ties, found.losses) == (0.5, 0, 0.5)
    assert math.isnan(compare([1.0, nan], [nan, 1.0]).wins)


def test_where_lower_is_better_the_lower_segment_wins_and_the_difference_keeps_its_sign():
    first = Statistics(Errors(), np.array([[1.0, 4], [1, 4], [2, 4]]))
    second = Statistics(Errors(), np.array([[3.0, 4], [2, 4], [1, 4]]))
    (found,) = paired_bootstrap([first, second], pairs=[(0, 1)], rng=np.random.default_rng(0))
    assert (found.wins, found.losses) == pytest.approx((2 / 3, 1 / 3))
    assert found.difference == pytest.approx(-2 / 12)
    assert found.effect < 0


def test_the_interval_of_a_difference_is_that_of_its_replicates():
    first, second = np.random.default_rng(0).gamma(2, size=(2, 130))
    found = compare(first, second, level=0.8)
    gaps = first - second
    draws = np.random.default_rng(1).choice(130, size=(200, 130), replace=True)
    jackknife = np.array([np.delete(gaps, at).mean() for at in range(130)])
    slow = interval(gaps.mean(), gaps[draws].mean(axis=1), level=0.8, jackknife=jackknife)
    assert (found.low, found.high) == pytest.approx(slow[:2])


def test_significant_pairs_fill_a_symmetric_matrix():
    compared = [made_up(0, 1, 0.2), made_up(0, 2, 0.01), made_up(2, 1, 0.05)]
    expected = [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    assert significant(compared, 3).tolist() == np.array(expected, bool).tolist()
    assert significant(compared, 3, alpha=0.06)[1, 2]
    assert not significant([made_up(0, 1, math.nan)], 2).any()


def test_clusters_follow_from_comparisons():
    values = np.random.default_rng(0).normal([[0], [0.02], [5]], 1, size=(3, 50))
    systems = [Mean("x").of(value) for value in values]
    found = paired_bootstrap(systems, pairs=all_pairs(3), rng=np.random.default_rng(0))
    scores = [system.corpus() for system in systems]
    assert rank_clusters(scores, significant(found, 3)) == [2, 2, 1]
