"""Sums without rounding are those of fractions, in any order and in any parts."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.statistics.exact import add, column_sums, column_totals, from_parts, parts, rounded

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite, min_size=1, max_size=30))
def test_a_sum_is_that_of_fractions(values):
    (total,) = column_sums(np.array(values)[:, None])
    assert Fraction(total, 2**1074) == sum(map(Fraction, values))


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=30))
def test_rounding_is_that_of_the_standard_library(values):
    assert column_totals(np.array(values)[:, None])[0] == math.fsum(values)


@given(st.lists(finite, min_size=2, max_size=20), st.integers(1, 19))
def test_parts_of_the_rows_add_up_to_the_whole(values, cut):
    rows = np.array(values)[:, None]
    whole = column_sums(rows)[0]
    halves = [column_sums(part)[0] for part in (rows[:cut], rows[cut:]) if len(part)]
    assert sum(halves) == whole


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=20))
def test_a_sum_as_doubles_is_the_same_sum(values):
    total = from_parts(values)
    assert from_parts(parts(total)) == total
    assert parts(total)[0] == rounded(total)


def test_whole_numbers_are_added_as_such():
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert column_totals(rows).tolist() == [4.0, 6.0]
    assert [rounded(total) for total in column_sums(rows)] == [4.0, 6.0]


def test_whole_numbers_too_great_for_a_double_are_not_rounded():
    rows = np.array([[2.0**53], [1.0], [1.0]])
    assert column_totals(rows).tolist() == [2.0**53 + 2]


def test_more_values_than_fit_into_a_block(monkeypatch):
    monkeypatch.setattr("assay.statistics.exact._MOST", 7)
    values = np.random.default_rng(1).normal(size=100)
    assert rounded(column_sums(values[:, None])[0]) == math.fsum(values)


@pytest.mark.parametrize(
    ("values", "expected"),
    [([math.nan, 1.5], math.nan), ([math.inf, 1.5], math.inf), ([math.inf, -math.inf], math.nan)],
)
def test_what_is_not_finite_stays_so(values, expected):
    (total,) = column_sums(np.array(values)[:, None])
    assert rounded(add(total, from_parts([0.5]))) == pytest.approx(expected, nan_ok=True)
    assert parts(total) == pytest.approx([expected], nan_ok=True)


def test_a_sum_beyond_all_doubles_is_infinite():
    assert rounded(from_parts([1e308] * 3)) == math.inf
    assert rounded(from_parts([-1e308] * 3)) == -math.inf


def test_no_rows_add_up_to_nothing():
    assert column_totals(np.zeros((0, 3))).tolist() == [0.0, 0.0, 0.0]
