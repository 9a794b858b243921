"""Which items count under each policy."""

import numpy as np
import pytest

from assay.data import DataError
from assay.suites.accuracy import counted
from tests.suites.matrices import LETTERS, random_verdicts, verdicts

SMALL = verdicts({"a": "pfpw-p", "b": "pfwf--"})
NAN = np.nan


def values(policy):
    return counted(SMALL, policy).values.tolist()


def test_fair_counts_only_what_is_decided_for_every_system():
    expected = [[1, 0, NAN, NAN, NAN, NAN], [1, 0, NAN, NAN, NAN, NAN]]
    np.testing.assert_equal(values("fair"), expected)


def test_fair_says_whether_a_warning_or_a_missing_output_dropped_an_item():
    result = counted(SMALL)
    assert result.policy == "fair"
    assert result.items == (2, 2)
    assert result.warned == (2, 2)
    assert result.untested == (2, 2)
    assert result.turned == (0, 0)
    assert result.dropped == (4, 4)


def test_an_item_with_a_warning_and_a_missing_output_is_dropped_once_for_its_warning():
    result = counted(verdicts({"a": "w", "b": "-"}))
    assert (result.warned, result.untested, result.dropped) == ((1, 1), (0, 0), (1, 1))


def test_each_counts_what_is_decided_for_the_system_itself():
    np.testing.assert_equal(values("each"), [[1, 0, 1, NAN, NAN, 1], [1, 0, NAN, 0, NAN, NAN]])
    result = counted(SMALL, "each")
    assert result.items == (4, 3)
    assert result.warned == (1, 1)
    assert result.untested == (1, 2)


@pytest.mark.parametrize(("policy", "worth"), [("fail", 0), ("pass", 1)])
def test_a_warning_counts_as_the_policy_says_but_an_untested_item_never(policy, worth):
    expected = [[1, 0, 1, worth, NAN, 1], [1, 0, worth, 0, NAN, NAN]]
    np.testing.assert_equal(values(policy), expected)
    result = counted(SMALL, policy)
    assert result.turned == (1, 1)
    assert result.warned == (0, 0)
    assert result.untested == (1, 2)


@pytest.mark.parametrize("policy", ["fair", "each", "fail", "pass"])
def test_what_counts_and_what_is_dropped_make_up_all_items(policy):
    result = counted(random_verdicts(np.random.default_rng(1)), policy)
    for items, dropped, row in zip(result.items, result.dropped, result.values, strict=True):
        assert items + dropped == len(row)
        assert items == np.count_nonzero(~np.isnan(row))


@pytest.mark.parametrize("policy", ["fair", "each", "fail", "pass"])
def test_the_values_are_those_of_a_slow_loop(policy):
    given = random_verdicts(np.random.default_rng(2))
    result = counted(given, policy)
    names = {code: letter for letter, code in LETTERS.items()}
    for at in range(len(given.items)):
        letters = [names[int(code)] for code in given.codes[:, at]]
        for letter, value in zip(letters, result.values[:, at], strict=True):
            out = {"fair": set(letters) & {"w", "-"}, "each": letter in "w-"}.get(
                policy, letter == "-"
            )
            expected = NAN if out else letter == "p" or (letter == "w" and policy == "pass")
            np.testing.assert_equal(value, float(expected))


def test_some_of_the_systems_keep_the_items_that_count_for_all():
    result = counted(SMALL).of([1])
    np.testing.assert_equal(result.values, [[1, 0, NAN, NAN, NAN, NAN]])
    assert (result.items, result.warned, result.untested) == ((2,), (2,), (2,))


def test_an_unknown_policy_is_refused():
    with pytest.raises(DataError, match="policy 'kind': choose one of fair, each, fail, pass"):
        counted(SMALL, "kind")
