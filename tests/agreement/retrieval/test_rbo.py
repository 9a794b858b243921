"""RBO equals the infinite sum that defines it, and has the properties its authors prove."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.agreement.retrieval.measures import rbo

rankings = st.lists(st.integers(0, 12), unique=True, max_size=10)
shares = st.floats(0.05, 0.95)


def obvious(one, other, p):
    """(1 - p) times the sum over all depths d of p^(d-1) times the agreement at d.

    Beyond its end, the shorter ranking is taken to agree as much as it did so far; beyond both
    ends, the agreement stays what it was last.
    """
    short, long = sorted((one, other), key=len)
    s, total, agreement = len(short), 0.0, 0.0
    at_end = len(set(short) & set(long[:s]))
    for d in range(1, 2000):
        if d <= len(long):
            common = len(set(short[:d]) & set(long[:d]))
            agreement = (common + max(0, d - s) * at_end / s) / d
        total += (1 - p) * p ** (d - 1) * agreement
    return total


@given(rankings, rankings, shares)
def test_rbo_is_the_sum_that_defines_it(one, other, p):
    assume(one and other)
    assert rbo(one, other, p) == pytest.approx(obvious(one, other, p))


@given(rankings, rankings, shares)
def test_rbo_is_symmetric_and_lies_between_0_and_1(one, other, p):
    assume(one or other)
    value = rbo(one, other, p)
    assert value == rbo(other, one, p)
    assert -1e-12 <= value <= 1 + 1e-12


@given(rankings, shares)
def test_the_same_ranking_has_1_and_one_with_nothing_in_common_0(one, p):
    assume(one)
    assert rbo(one, one, p) == pytest.approx(1)
    assert rbo(one, [each + 100 for each in one], p) == 0
    assert rbo(one, [], p) == 0


def test_two_empty_rankings_have_no_overlap_to_speak_of():
    assert math.isnan(rbo([], [], 0.9))


def test_disagreement_weighs_more_at_the_top():
    ranking = list(range(20))
    top, bottom = ranking.copy(), ranking.copy()
    top[:2], bottom[-2:] = top[1::-1], bottom[:-3:-1]
    assert rbo(ranking, top, 0.9) < rbo(ranking, bottom, 0.9) < 1


@pytest.mark.parametrize(("p", "depth", "weight"), [(0.9, 10, 0.86), (0.98, 50, 0.85)])
def test_the_first_documents_carry_the_weight_that_is_told(p, depth, weight):
    """The first pair is the example of Webber et al., the second our own."""
    one = [*range(depth), *range(10_000, 12_000)]
    other = [*range(depth), *range(20_000, 22_000)]
    assert rbo(one, other, p) == pytest.approx(weight, abs=0.005)
