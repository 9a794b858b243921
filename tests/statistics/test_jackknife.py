"""Intervals and tests by jackknife equal the textbook's for means, and hold where they should."""

import math

import numpy as np
import pytest
from scipy import stats

from assay.data import DataError
from assay.statistics.intervals import jackknife_interval, jackknife_p

RNG = np.random.default_rng(12)


def without_each(values):
    """The mean without each value."""
    return (values.sum() - values) / (len(values) - 1)


def test_of_a_symmetrical_mean_the_interval_is_students():
    half = RNG.normal(size=20)
    values = np.concatenate([half, -half]) + 3
    found = jackknife_interval(values.mean(), without_each(values))
    expected = stats.t.interval(0.95, 39, values.mean(), stats.sem(values))
    assert found[:2] == pytest.approx(expected)
    assert found.bias == pytest.approx(0, abs=1e-9)


def test_a_skewed_mean_has_the_longer_side_where_the_tail_is():
    values = RNG.exponential(size=50)
    low, high, _ = jackknife_interval(values.mean(), without_each(values))
    assert high - values.mean() > values.mean() - low
    mirrored = jackknife_interval(-values.mean(), without_each(-values))
    assert mirrored[:2] == pytest.approx((-high, -low))


def test_of_a_mean_difference_p_is_that_of_the_paired_t_test():
    one, other = RNG.normal(size=(2, 40))
    one += 0.3
    differences = one - other
    found = jackknife_p(differences.mean(), without_each(differences))
    assert found == pytest.approx(stats.ttest_rel(one, other).pvalue)


def test_equal_systems_have_a_p_of_1_and_an_interval_of_no_width():
    assert jackknife_p(0.0, np.zeros(9)) == 1
    assert jackknife_interval(0.5, np.full(9, 0.5))[:2] == (0.5, 0.5)


def test_a_difference_that_no_segment_changes_has_no_p():
    assert math.isnan(jackknife_p(0.2, np.full(9, 0.2)))


@pytest.mark.parametrize("values", [[], [1.0], [math.nan, 1.0]])
def test_one_segment_says_nothing(values):
    assert np.isnan(jackknife_interval(1.0, np.array(values))).all()
    assert math.isnan(jackknife_p(1.0, np.array(values)))


def test_an_unknown_value_has_neither():
    assert np.isnan(jackknife_interval(math.nan, np.array([1.0, 2.0]))).all()
    assert math.isnan(jackknife_p(math.nan, np.array([1.0, 2.0])))


def test_a_level_is_a_share():
    with pytest.raises(DataError, match="between 0 and 1"):
        jackknife_interval(1.0, np.array([1.0, 2.0]), level=95)
