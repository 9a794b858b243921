"""Power means of ragged importances equal the formula, at every power and in every shape."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gmean, hmean, pmean

from assay.data import DataError
from assay.explanation.boosted import EPSILON, Ragged, collapsed, power_means, regularised

ROWS = [[0.2, 1.5, 3.0], [7.0], [], [0.01, 0.01], [1e-9, 0.4, 0.5, 0.6]]
FILLED = [row for row in ROWS if row]
positive = st.lists(st.floats(1e-9, 1e6), min_size=1, max_size=6)
powers = st.floats(-30, 30)
importances = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6)


def of_one(row, p):
    return float(power_means(Ragged.of([row]), [p])[0, 0])


@pytest.mark.parametrize("p", [-30, -13.1, -1.4, -1, -0.3, -0.1, 0, 0.1, 1, 2, 8.6, 30])
def test_power_means_are_those_of_scipy(p):
    ours = power_means(Ragged.of(FILLED), [p])[0]
    assert ours == pytest.approx([pmean(row, p) for row in FILLED], rel=1e-12)


def test_three_powers_have_names():
    harmonic, geometric, plain = power_means(Ragged.of(FILLED), [-1, 0, 1])
    assert harmonic == pytest.approx([hmean(row) for row in FILLED], rel=1e-12)
    assert geometric == pytest.approx([gmean(row) for row in FILLED], rel=1e-12)
    assert plain == pytest.approx([np.mean(row) for row in FILLED], rel=1e-12)


def test_the_infinite_powers_are_the_least_and_the_greatest():
    least, greatest = power_means(Ragged.of(FILLED), [-math.inf, math.inf])
    assert least == pytest.approx([min(row) for row in FILLED], rel=1e-12)
    assert greatest == pytest.approx([max(row) for row in FILLED], rel=1e-12)


@pytest.mark.parametrize("p", [1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 1e-300])
@pytest.mark.parametrize("sign", [-1, 1])
def test_powers_near_zero_go_over_into_the_geometric_mean(p, sign):
    row = [0.2, 1.5, 3.0]
    assert of_one(row, sign * p) == pytest.approx(gmean(row), rel=2 * p + 1e-14)


@pytest.mark.parametrize("p", [-1e6, -500.0, 500.0, 1e6])
def test_great_powers_neither_overflow_nor_vanish(p):
    row = [1e-9, 0.5, 1e5]
    wanted = max(row) if p > 0 else min(row)
    assert of_one(row, p) == pytest.approx(wanted, rel=0.01)


@given(row=positive, p=powers, q=powers)
def test_means_lie_between_the_ends_and_grow_with_the_power(row, p, q):
    low, high = sorted((p, q))
    first, second = of_one(row, low), of_one(row, high)
    assert first <= second * (1 + 1e-9)
    assert min(row) * (1 - 1e-9) <= first
    assert second <= max(row) * (1 + 1e-9)


@given(row=positive, p=powers, factor=st.floats(1e-3, 1e3))
def test_a_unit_stays_a_unit(row, p, factor):
    scaled = of_one([factor * each for each in row], p)
    assert scaled == pytest.approx(factor * of_one(row, p), rel=1e-6)


def test_every_segment_is_by_itself_and_empty_ones_are_zero():
    together = power_means(Ragged.of(ROWS), [-2, 0, 3])
    apart = [power_means(Ragged.of([row]), [-2, 0, 3])[:, 0] for row in ROWS]
    assert together.T.tolist() == [each.tolist() for each in apart]
    assert together[:, 2].tolist() == [0, 0, 0]


def test_there_may_be_no_segments_or_only_empty_ones():
    assert power_means(Ragged.of([]), [1, 2]).shape == (2, 0)
    assert power_means(Ragged.of([[], []]), [1, math.inf]).tolist() == [[0, 0], [0, 0]]
    assert power_means(Ragged.of([[1.0]]), []).shape == (0, 1)


@pytest.mark.parametrize(
    ("p", "mean"), [(-math.inf, 0), (-3, 0), (0, 0), (1, 2), (2, 8**0.5), (math.inf, 4)]
)
def test_a_zero_makes_all_means_zero_up_to_the_geometric(p, mean):
    assert of_one([0.0, 4.0], p) == pytest.approx(mean)
    assert of_one([0.0, 0.0], p) == 0


def test_an_unknown_number_makes_the_mean_unknown_and_no_other():
    means = power_means(Ragged.of([[1.0, math.nan], [2.0]]), [-1, 0, 1, math.inf])
    assert np.isnan(means[:, 0]).all()
    assert means[:, 1] == pytest.approx([2, 2, 2, 2])


def test_negative_numbers_and_no_power_are_refused():
    with pytest.raises(DataError, match="regularise importances first"):
        power_means(Ragged.of([[-1.0, 2.0]]), [1])
    with pytest.raises(DataError, match="a number, or inf or -inf"):
        power_means(Ragged.of([[1.0]]), [math.nan])


def published(row, epsilon=EPSILON):
    """The regularisation of the paper, in its own words."""
    least = min(row)
    return [each + (abs(least) if least <= 0 else 0) + epsilon for each in row]


@given(rows=st.lists(importances, min_size=1, max_size=5))
def test_the_regularisation_of_the_paper_is_its_formula(rows):
    wanted = [value for row in rows for value in published(row)]
    assert regularised(Ragged.of(rows)).values == pytest.approx(wanted, abs=1e-12)


@given(rows=st.lists(importances, min_size=1, max_size=5))
def test_the_other_one_raises_by_the_mean_absolute_importance_besides(rows):
    wanted = [v + np.mean(np.abs(row)) for row in rows for v in published(row)]
    assert regularised(Ragged.of(rows), "shift").values == pytest.approx(wanted, abs=1e-9)


@given(row=importances, p=powers)
def test_shifted_importances_never_collapse(row, p):
    words = Ragged.of([row])
    mean = power_means(regularised(words, "shift"), [p])[0]
    assert not collapsed(words, mean)[0] or not np.any(row)


def test_a_negative_power_collapses_where_the_paper_leaves_nothing_of_the_least():
    words = Ragged.of([[-0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.0, 0.0], [], [0.0, 0.5]])
    harmonic, plain = power_means(regularised(words), [-1, 1])
    assert collapsed(words, harmonic).tolist() == [True, False, True, False, True]
    assert collapsed(words, plain).tolist() == [False, False, True, False, False]
    assert harmonic[0] == pytest.approx(3e-9, rel=1e-3)


def test_some_of_the_segments_can_be_chosen():
    kept = Ragged.of(ROWS).chosen(np.array([True, False, True, False, True]))
    assert kept.lengths.tolist() == [3, 0, 4]
    assert kept.values.tolist() == [*ROWS[0], *ROWS[4]]
