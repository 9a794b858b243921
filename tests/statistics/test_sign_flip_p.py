"""The sign-flip test of a sum, against all signs, random signs, binomials and convolutions."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binomtest

from assay.statistics.signflips import EXACT, least_p, sign_flip_p

FEW = st.lists(st.integers(-20, 20), min_size=1, max_size=9)


def by_all_signs(contributions):
    """The share of all signs whose sum is as far from 0, in whole numbers."""
    sizes = [abs(size) for size in contributions]
    observed = abs(sum(contributions))
    flips = list(product((1, -1), repeat=len(sizes)))
    reached = [abs(sum(s * x for s, x in zip(signs, sizes, strict=True))) for signs in flips]
    return sum(each >= observed for each in reached) / len(flips)


def by_convolution(contributions):
    """The same from the exact distribution of the sum of whole numbers."""
    counts = {0: 1}
    for size in contributions:
        wider = {}
        for total, ways in counts.items():
            for moved in (total + size, total - size):
                wider[moved] = wider.get(moved, 0) + ways
        counts = wider
    observed = abs(sum(contributions))
    reached = sum(ways for total, ways in counts.items() if abs(total) >= observed)
    return float(Fraction(reached, 2 ** len(contributions)))


@given(contributions=FEW)
def test_few_contributions_have_the_p_of_all_signs(contributions):
    assert sign_flip_p(np.array(contributions, float)) == pytest.approx(by_all_signs(contributions))


@given(contributions=FEW, zeros=st.integers(0, 30))
def test_contributions_of_0_say_nothing(contributions, zeros):
    padded = np.array([*contributions, *[0] * zeros], float)
    assert sign_flip_p(padded) == sign_flip_p(np.array(contributions, float))


@pytest.mark.parametrize("nothing", [[], [0.0], [0.0] * 40, [1.0, -1.0], [3.0, -1.0, -2.0]])
def test_a_sum_of_0_speaks_for_no_one(nothing):
    assert sign_flip_p(np.array(nothing)) == 1


@given(
    contributions=st.lists(st.floats(-5, 5).filter(lambda x: abs(x) > 1e-3), min_size=1),
    scale=st.sampled_from([1e-12, 0.37, 100.0, 1e9]),
)
def test_neither_units_nor_order_nor_direction_matter(contributions, scale):
    moved = np.array(contributions)
    assume(abs(moved.sum()) > 1e-6)
    p = sign_flip_p(moved)
    assert sign_flip_p(scale * moved) == pytest.approx(p, rel=1e-6)
    assert sign_flip_p(moved[::-1]) == pytest.approx(p, rel=1e-6)
    assert sign_flip_p(-moved) == pytest.approx(p, rel=1e-12)
    assert least_p(len(moved)) <= p <= 1


@pytest.mark.parametrize(("wins", "losses"), [(3, 1), (12, 12), (40, 20), (90, 30), (400, 100)])
def test_contributions_of_one_size_have_the_p_of_the_sign_test(wins, losses):
    moved = 0.3 * np.array([1.0] * wins + [-1.0] * losses)
    expected = binomtest(wins, wins + losses, 0.5).pvalue
    assert sign_flip_p(moved) == pytest.approx(expected, rel=1e-9)


def by_enumeration(moved):
    """The share of all signs, for up to some 20 contributions of any size."""
    sums = np.zeros(1)
    for size in moved:
        sums = np.concatenate([sums + size, sums - size])
    return np.mean(np.abs(sums) >= abs(moved.sum()) * (1 - 1e-12))


@pytest.mark.parametrize("seed", range(20))
def test_from_15_contributions_on_p_is_near_that_of_all_signs(seed):
    rng = np.random.default_rng(seed)
    moved = rng.normal(0.4, 1, 15 + seed % 5)
    assert sign_flip_p(moved) == pytest.approx(by_enumeration(moved), rel=0.15)


def test_one_large_contribution_among_small_ones_has_the_p_of_all_signs():
    moved = np.array([9.0, 4.5, -1.3, *np.linspace(0.1, 0.9, 15)])
    assert sign_flip_p(moved) == pytest.approx(by_enumeration(moved), rel=0.2)


@pytest.mark.parametrize("count", [40, 300])
@pytest.mark.parametrize("shift", [0.02, 0.1, 0.2])
def test_many_contributions_have_the_p_of_random_signs(count, shift):
    rng = np.random.default_rng(count)
    moved = rng.standard_t(3, count) * rng.random(count) + shift
    trials = 20_000
    signs = rng.choice([-1.0, 1.0], size=(trials, count))
    expected = np.mean(np.abs(signs @ np.abs(moved)) >= abs(moved.sum()))
    error = np.sqrt(expected * (1 - expected) / trials)
    assert sign_flip_p(moved) == pytest.approx(expected, rel=0.02, abs=4 * error + 1e-4)


@given(
    sizes=st.lists(st.integers(1, 4), min_size=EXACT + 1, max_size=40),
    losses=st.integers(0, 8),
)
def test_whole_numbers_have_about_the_p_of_their_exact_distribution(sizes, losses):
    moved = [-size if at < losses else size for at, size in enumerate(sizes)]
    assume(sum(moved) != 0)
    expected = by_convolution(moved)
    # Near the smallest p there can be, a smooth curve is off by almost half.
    assert 0.6 < sign_flip_p(np.array(moved, float)) / expected < 1.6


@pytest.mark.parametrize("seed", range(8))
def test_far_out_in_the_tails_p_is_right_to_a_few_percent(seed):
    rng = np.random.default_rng(seed)
    moved = np.round(250 * rng.lognormal(0, 0.5, 60)).astype(int)
    moved[rng.permutation(60)[:15]] *= -1
    expected = by_convolution(moved.tolist())
    assert 1e-9 < expected < 1e-2
    assert sign_flip_p(moved.astype(float)) == pytest.approx(expected, rel=0.04)


def test_there_are_tails_of_a_millionth_among_them():
    rng = np.random.default_rng(0)
    found = []
    for losses in range(8, 16):
        moved = np.round(250 * rng.lognormal(0, 0.5, 60)).astype(int)
        moved[:losses] *= -1
        found.append((sign_flip_p(moved.astype(float)), by_convolution(moved.tolist())))
    assert any(1e-7 < exact < 1e-5 for _, exact in found)
    for p, exact in found:
        assert p == pytest.approx(exact, rel=0.04)


@pytest.mark.parametrize("count", [1, 5, 14, 15, 40, 60])
def test_all_of_one_sign_is_the_least_p_there_is(count):
    moved = np.linspace(1, 2, count)
    assert sign_flip_p(moved) == pytest.approx(least_p(count))
    assert least_p(count) == 2.0 ** (1 - count)


def test_the_p_is_never_0_where_very_many_segments_agree():
    moved = np.random.default_rng(1).random(4000) + 0.5
    assert 0 < sign_flip_p(moved) < 1e-100


def test_p_is_uniform_where_signs_are_random():
    rng = np.random.default_rng(7)
    sizes = rng.lognormal(0, 1, 50)
    found = [sign_flip_p(sizes * rng.choice([-1.0, 1.0], 50)) for _ in range(4000)]
    for level in (0.01, 0.05, 0.2, 0.5):
        error = np.sqrt(level * (1 - level) / 4000)
        assert np.mean(np.array(found) <= level) == pytest.approx(level, abs=4 * error)
