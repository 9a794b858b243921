"""McNemar's test of an average, against all signs one by one."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.statistics import proportions as signflips
from assay.statistics.proportions import mcnemar, sign_flips

GROUPS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(5, 9)), min_size=1, max_size=4
)


def by_all_signs(groups, share):
    """The share of all signs of the discordant items that give as high a sum."""
    weights = [1 / items for won, lost, items in groups for _ in range(won + lost)]
    observed = sum((won - lost) / items for won, lost, items in groups)
    count = 0.0
    for signs in product((1, -1), repeat=len(weights)):
        total = sum(sign * weight for sign, weight in zip(signs, weights, strict=True))
        count += share if abs(total - observed) < 1e-9 else total > observed
    return count / 2 ** len(weights)


def p_of(groups, method="exact"):
    return sign_flips(*np.array(groups, float).T, method=method)


@given(groups=GROUPS.filter(lambda groups: sum(won + lost for won, lost, _ in groups) <= 10))
def test_the_p_is_that_of_all_signs(groups):
    assert p_of(groups) == pytest.approx(by_all_signs(groups, 1))
    assert p_of(groups, "midp") == pytest.approx(by_all_signs(groups, 0.5))


@pytest.mark.parametrize("method", ["exact", "midp"])
def test_groups_of_one_size_give_mcnemars_p(method):
    groups = [(3, 1, 20), (4, 0, 20), (0, 2, 20)]
    assert p_of(groups, method) == mcnemar(7, 3, method=method)


def test_groups_of_no_items_are_left_out():
    assert p_of([(3, 1, 20), (0, 0, 0), (4, 0, 10)]) == p_of([(3, 1, 20), (4, 0, 10)])


def test_nothing_discordant_and_nothing_at_all_speak_for_no_one():
    for nothing in ([(0, 0, 5), (0, 0, 6)], [(0, 0, 0)]):
        assert p_of(nothing) == 1
        assert p_of(nothing, "midp") == 0.5


def test_sums_that_tie_but_for_rounding_count_as_ties():
    # One item of a group of 10 weighs as much as two of a group of 20, three of a group of 30.
    groups = [(1, 0, 10), (2, 0, 20), (0, 3, 30)]
    assert p_of(groups) == pytest.approx(by_all_signs(groups, 1))


def test_beyond_the_limit_the_normal_distribution_is_near(monkeypatch):
    groups = [(14, 9, 51), (12, 10, 37), (15, 8, 70)]
    exact = p_of(groups, "midp")
    monkeypatch.setattr(signflips, "LIMIT", 1)
    near = p_of(groups, "midp")
    assert near != exact
    assert near == pytest.approx(exact, abs=0.002)


def test_very_many_groups_and_items_do_not_overflow():
    rng = np.random.default_rng(3)
    groups = [(won, 400 - won, 1000 + at) for at, won in enumerate(rng.binomial(400, 0.5, 300))]
    assert 0 < p_of(groups) < 1
