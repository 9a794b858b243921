"""Short forms of `benchmarks/calibration.py agreement sensitivity tuning`."""

import numpy as np
import pytest
from calibrations import agreement, sensitivity, tuning
from calibrations.harness import null

pytestmark = pytest.mark.usefixtures("shared")


def rng():
    return np.random.default_rng(12345)


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
def test_five_systems_agree_by_chance_as_seldom_as_the_p_says(name):
    draw = rng()
    row = null("", name, 5, [agreement.of_systems(5, name, draw) for _ in range(400)])
    assert row.at_05 < 0.075


@pytest.mark.parametrize(("by", "name"), [("none", "pearson"), ("system", "pearson")])
def test_segments_agree_by_chance_as_seldom_as_the_p_says(by, name):
    """Pooled scores had .31 and correlations within systems .45, since segments are shared."""
    draw = rng()
    p = [agreement.of_segments("wmt20/en-de", "mqm", 100, by, name, draw) for _ in range(100)]
    assert null("", name, 100, p).at_05 <= 0.11


def test_accuracy_within_segments_is_not_better_than_chance_by_chance():
    """Ties count as wrong, so that a t-test against one half had .95."""
    draw = rng()
    p = [
        agreement.of_segments("wmt20/en-de", "mqm", 100, "item", "accuracy", draw)
        for _ in range(150)
    ]
    assert null("", "accuracy", 100, p).at_05 <= 0.11


def test_two_metrics_that_agree_equally_well_are_seldom_told_apart():
    draw = rng()
    p = [
        agreement.two_of_segments("wmt20/en-de", "da", 100, "none", "pearson", draw)
        for _ in range(100)
    ]
    assert null("", "pearson", 100, p).at_05 <= 0.11


@pytest.mark.parametrize("systems", [5, 14])
def test_a_dependence_of_sensitivity_that_is_not_there_is_seldom_found(systems):
    test, *intervals = sensitivity.second_stage("wmt20/en-de", systems, 100, rng())
    assert test.at_05 <= 0.11
    assert all(row.coverage >= 0.88 for row in intervals)


def test_where_peoples_scores_vary_less_for_good_systems_only_the_spread_tells():
    plain, given = sensitivity.narrowing(15, 100, rng())
    assert plain.coverage < 0.7
    assert given.coverage >= 0.85


def test_intervals_of_sensitivity_hold_that_of_all_documents():
    assert sensitivity.first_stage(60, 12, rng()).coverage >= 0.87


def test_where_boosting_gains_nothing_it_is_seldom_said_to():
    draw = rng()
    p = [tuning.equal(300, draw) for _ in range(100)]
    assert null("", "chrF", 300, p).at_05 <= 0.11
