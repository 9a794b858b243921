"""Intervals and tests of suites hold as often as they say: the short form of the simulation."""

import numpy as np
import pytest
from calibrations.suites import cluster_rows, interval_rows

pytestmark = pytest.mark.usefixtures("shared")

RUNS = 200


@pytest.mark.parametrize("kind", ["suite", "smooth"])
@pytest.mark.parametrize("n", [100, 1000])
def test_intervals_of_averages_hold_where_square_and_add_missed_above(kind, n):
    rows = [*interval_rows(kind, n, RUNS, np.random.default_rng(3))]
    now = [row for row in rows if not row.test.startswith("before")]
    assert {row.metric for row in now} == {
        "one phenomenon",
        "micro",
        "category macro",
        "phenomenon macro",
    }
    for row in now:
        assert row.coverage > 0.91, row
        assert max(row.below, row.above) < 0.07, row
    before = [row for row in rows if row.test.startswith("before")]
    assert all(row.above > 2 * row.below for row in before)
    assert np.mean([row.above for row in before]) > 0.06


@pytest.mark.parametrize("n", [100, 300, 2748])
def test_of_two_equal_systems_one_is_seldom_worse(n):
    for row in cluster_rows(2, n, RUNS, np.random.default_rng(4)):
        if not row.test.startswith("before"):
            assert row.at_05 < 0.09, row


def test_of_five_equal_systems_one_is_seldom_left_out_and_was_often_before():
    rng = np.random.default_rng(5)
    rows = {(row.test, row.metric): row for row in cluster_rows(5, 300, RUNS // 2, rng)}
    for (test, _), row in rows.items():
        assert test.startswith("before") or row.at_05 < 0.11, row
    before = rows["before: Z-test, first cluster of 5", "phenomenon macro"]
    assert before.at_05 > 0.3
