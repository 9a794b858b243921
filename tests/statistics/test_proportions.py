"""Intervals and tests of proportions against statsmodels, SciPy and direct formulas."""

import math

import numpy as np
import pytest
from scipy.stats import binom, norm
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.proportion import proportion_confint, proportions_ztest

from assay.data import DataError
from assay.statistics.proportions import (
    mcnemar,
    mean_interval,
    stratified_z_test,
    wilson,
    z_test,
)

COUNTS = [(0, 1), (1, 1), (0, 20), (20, 20), (3, 20), (57, 171), (4000, 4447)]


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(("passed", "items"), COUNTS)
def test_wilsons_interval_is_that_of_statsmodels(passed, items, level):
    expected = proportion_confint(passed, items, alpha=1 - level, method="wilson")
    assert tuple(wilson(passed, items, level=level)) == pytest.approx(expected, abs=1e-14)


def test_wilsons_interval_starts_at_0_and_ends_at_1_exactly():
    items = np.arange(1, 500)
    assert (wilson(0, items).low == 0).all()
    assert (wilson(items, items).high == 1).all()


def test_no_items_have_no_interval():
    assert np.isnan(wilson([0, 0], [0, 0])).all()
    assert np.isnan(mean_interval([[0, 0]], [[0, 0]])).all()


def test_a_level_that_is_no_share_is_refused():
    with pytest.raises(DataError, match="level 95: give a share between 0 and 1"):
        wilson(1, 2, level=95)


def test_the_interval_of_a_mean_over_one_proportion_is_wilsons():
    passed, items = np.array(COUNTS).T
    alone = mean_interval(passed[:, None], items[:, None], level=0.9)
    np.testing.assert_allclose(alone, wilson(passed, items, level=0.9), atol=1e-15)


def test_the_interval_of_a_mean_leaves_out_proportions_of_no_items():
    assert mean_interval([3, 0, 9], [5, 0, 10]) == mean_interval([3, 9], [5, 10])


def test_the_interval_of_a_mean_does_not_depend_on_the_order_and_mirrors():
    passed, items = np.array(COUNTS).T
    low, high = mean_interval(passed, items)
    assert mean_interval(passed[::-1], items[::-1]) == pytest.approx((low, high))
    assert mean_interval(items - passed, items) == pytest.approx((1 - high, 1 - low))


def test_groups_without_a_fail_still_leave_the_mean_uncertain_below_and_above():
    # One group of four fails at times; the others, of five items, happen to have no fail.
    low, high = mean_interval([5, 5, 5, 3], [5, 5, 5, 5])
    assert low < 0.9 - 0.09
    # The last group alone could take the mean up to 1; square-and-add ended at .97.
    assert 0.97 < high < 1
    low, high = mean_interval([5, 5, 5, 5], [5, 5, 5, 5])
    assert low < 0.9
    assert high == 1


def test_a_mean_of_large_groups_is_as_uncertain_as_their_variances_say():
    passed, items = np.array([600, 1500, 900]), np.array([1000, 2000, 1500])
    share = passed / items
    spread = math.sqrt((share * (1 - share) / items).sum()) / 3
    low, high = mean_interval(passed, items)
    assert high - low == pytest.approx(2 * norm.ppf(0.975) * spread, rel=0.01)
    assert (low + high) / 2 == pytest.approx(share.mean(), abs=spread / 20)


@pytest.mark.parametrize("true", [[0.6, 0.95, 0.8, 0.7], [0.98, 0.99, 0.95, 0.97]])
def test_the_interval_of_a_mean_misses_on_neither_side_more_often_than_it_says(true):
    rng = np.random.default_rng(4)
    items = np.array([8, 20, 40, 100])
    low, high = mean_interval(rng.binomial(items, true, (2000, 4)), items, level=0.9)
    # One group of eight items decides here; with more groups it is nearer to .05.
    assert np.mean(low > np.mean(true)) < 0.075
    assert np.mean(high < np.mean(true)) < 0.075


@pytest.mark.parametrize("worse", [(3, 20), (10, 20), (19, 20), (40, 171), (4000, 4447)])
@pytest.mark.parametrize("better", [(1, 1), (5, 20), (20, 20), (160, 171), (4100, 4447)])
def test_the_z_test_is_that_of_statsmodels_one_tailed(better, worse):
    counts, items = zip(better, worse, strict=True)
    expected = proportions_ztest(counts, items, alternative="larger")[1]
    assert z_test(*better, *worse) == pytest.approx(expected)


@pytest.mark.parametrize("same", [(0, 20), (20, 20), (0, 0)])
def test_the_z_test_of_what_does_not_vary_is_a_half(same):
    assert z_test(*same, *same) == 0.5


def test_the_z_test_takes_arrays():
    table = z_test(np.array([[9], [5]]), 10, np.array([1, 2, 5]), 10)
    assert table.shape == (2, 3)
    assert table[1, 2] == 0.5
    assert table[0, 1] == z_test(9, 10, 2, 10)


def test_the_stratified_z_test_is_its_formula():
    a, n, b, m = [8, 15, 60], [10, 20, 80], [5, 16, 40], [9, 20, 78]
    top, below = 0.0, 0.0
    for passed, items, other, others in zip(a, n, b, m, strict=True):
        pooled = (passed + other) / (items + others)
        top += (passed / items - other / others) / 3
        below += (1 / 3) ** 2 * pooled * (1 - pooled) * (1 / items + 1 / others)
    assert stratified_z_test(a, n, b, m) == pytest.approx(norm.sf(top / math.sqrt(below)))


def test_the_stratified_z_test_of_one_stratum_is_the_z_test():
    assert stratified_z_test([8], [10], [5], [9]) == z_test(8, 10, 5, 9)


def test_the_stratified_z_test_leaves_out_strata_of_no_items():
    assert stratified_z_test([8, 0], [10, 0], [5, 0], [9, 0]) == z_test(8, 10, 5, 9)
    assert stratified_z_test([8, 3], [10, 4], [5, 0], [9, 0]) == z_test(8, 10, 5, 9)


PAIRS = [(0, 0), (1, 0), (0, 1), (5, 0), (4, 4), (9, 3), (3, 9), (60, 41), (700, 600)]


@pytest.mark.parametrize(("won", "lost"), PAIRS)
def test_the_exact_mcnemar_test_is_the_binomial_tail(won, lost):
    expected = sum(binom.pmf(k, won + lost, 0.5) for k in range(won, won + lost + 1))
    assert mcnemar(won, lost) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("won", "lost"), PAIRS[1:])
def test_twice_the_smaller_tail_is_the_mcnemar_test_of_statsmodels(won, lost):
    expected = statsmodels_mcnemar([[7, won], [lost, 7]], exact=True).pvalue
    smaller = min(mcnemar(won, lost), mcnemar(lost, won))
    assert min(1, 2 * smaller) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("won", "lost"), PAIRS)
def test_mid_p_counts_the_observed_by_half(won, lost):
    total = won + lost
    above = sum(binom.pmf(k, total, 0.5) for k in range(won + 1, total + 1))
    expected = above + binom.pmf(won, total, 0.5) / 2
    assert mcnemar(won, lost, method="midp") == pytest.approx(expected, rel=1e-10)


def test_mid_p_of_both_directions_makes_one():
    both = mcnemar(13, 6, method="midp") + mcnemar(6, 13, method="midp")
    assert both == pytest.approx(1)
