"""Every coefficient equals SciPy's, or an obvious version where SciPy has none."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from assay.agreement.agree import Shuffles, agree
from assay.agreement.coefficients import (
    COEFFICIENTS,
    Kendall,
    Pearson,
    Spearman,
)
from assay.data import DataError
from assay.statistics.correlation import concordance
from tests.agreement import obvious

SCIPY = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
    "kendall-c": lambda m, g: stats.kendalltau(m, g, variant="c"),
}
every_scipy = pytest.mark.parametrize("name", SCIPY)
BY = ("none", "item", "system")


def scores(seed=1, shape=(7, 40), *, coarse=True, missing=0.0):
    """A metric and people who agree somewhat; ties on both sides, some scores missing."""
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 4, shape).astype(float)
    metric = human + rng.normal(size=shape) * 2
    if coarse:
        metric = np.round(metric)
    human[rng.random(shape) < missing] = np.nan
    metric[rng.random(shape) < missing] = np.nan
    return metric, human


@pytest.mark.parametrize("coarse", [True, False])
@pytest.mark.parametrize("size", [3, 5, 20, 64, 65, 300])
@every_scipy
def test_one_group_equals_scipy_with_its_p(name, size, coarse):
    metric, human = scores(size, (1, size), coarse=coarse)
    ours = agree(metric, human, COEFFICIENTS.parse(name), by="none")
    theirs = SCIPY[name](metric[0], human[0])
    assert ours.value == pytest.approx(theirs.statistic, abs=1e-12)
    assert ours.n == size
    if ours.test != "all orders":
        assert ours.p == pytest.approx(theirs.pvalue, abs=1e-12)


@pytest.mark.parametrize("size", [3, 5, 6])
@pytest.mark.parametrize("name", ["spearman", "kendall", "kendall-c"])
def test_the_p_of_few_scores_is_the_share_of_all_orders(name, size):
    metric, human = scores(size, (1, size), coarse=True)
    ours = agree(metric, human, COEFFICIENTS.parse(name))
    values = [abs(SCIPY[name](order, human[0]).statistic) for order in permutations(metric[0])]
    assert ours.p == pytest.approx(np.mean(np.array(values) >= abs(ours.value) - 1e-12))
    assert ours.test == "all orders"


def test_the_ranks_of_five_systems_are_no_proof():
    """SciPy's t distribution says p = .037 for nine tenths, and p = 0 for a perfect order."""
    perfect = agree(np.array([[1, 2, 3, 4, 5.0]]), np.arange(5.0)[None], Spearman())
    nearly = agree(np.array([[2, 1, 3, 4, 5.0]]), np.arange(5.0)[None], Spearman())
    assert perfect.p == pytest.approx(2 / 120)
    assert nearly.p == pytest.approx(10 / 120)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("by", ["item", "system"])
@every_scipy
def test_groups_give_the_mean_of_scipys_values(name, by, missing):
    metric, human = scores(3, (8, 70), missing=missing)
    slow = []
    for m, g in zip(obvious.groups(metric, by), obvious.groups(human, by), strict=True):
        known = ~np.isnan(m + g)
        if known.sum() > 1 and np.ptp(m[known]) > 0 and np.ptp(g[known]) > 0:
            slow.append(SCIPY[name](m[known], g[known]).statistic)
    ours = agree(metric, human, COEFFICIENTS.parse(name), by=by)
    assert ours.value == pytest.approx(np.mean(slow), abs=1e-12)
    assert ours.groups == len(slow)
    assert math.isnan(ours.p)  # without shuffles


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("name", ["pearson", "spearman"])
def test_shuffles_equal_putting_systems_and_items_in_order_one_by_one(name, by, missing):
    metric, human = scores(11, (5, 8), missing=missing)
    metric = np.random.default_rng(1).normal(size=metric.shape)
    shuffles = Shuffles(40, np.random.default_rng(3))
    ours = agree(metric, human, COEFFICIENTS.parse(name), by=by, shuffles=shuffles)
    rng, reached = np.random.default_rng(3), 1
    rows, columns = (rng.permuted(np.tile(np.arange(n), (40, 1)), axis=1) for n in (5, 8))
    value = slow_value(metric, human, name, by)
    for row, column in zip(rows, columns, strict=True):
        reached += abs(slow_value(metric[row][:, column], human, name, by)) >= abs(value) - 1e-12
    assert ours.p == pytest.approx(reached / 41)
    assert ours.test.startswith("40 random orders")


def slow_value(metric, human, name, by):
    """The mean of the groups' correlations; ranks are among all that a side knows."""
    found = []
    for m, g in zip(obvious.groups(metric, by), obvious.groups(human, by), strict=True):
        if name == "spearman":
            m, g = (stats.rankdata(each, nan_policy="omit") for each in (m, g))
        known = ~np.isnan(m + g)
        if known.sum() > 1 and np.ptp(m[known]) > 0 and np.ptp(g[known]) > 0:
            found.append(np.corrcoef(m[known], g[known])[0, 1])
    return np.mean(found)


def test_a_metric_that_knows_how_hard_segments_are_by_chance_is_not_significant():
    """All systems' scores of a segment go together: 20 segments, not 200 scores."""
    rng = np.random.default_rng(2)
    p = []
    for _ in range(40):
        metric, human = rng.normal(size=(2, 10, 20)) * 0.3 + rng.normal(size=(2, 1, 20))
        p.append(agree(metric, human, Pearson(), shuffles=Shuffles(99, rng)).p)
    assert np.mean(np.array(p) < 0.05) < 0.15


@pytest.mark.parametrize("gap", [0.0, 1.5])
@pytest.mark.parametrize("by", BY)
def test_wmts_tau_equals_counting_pairs(by, gap):
    metric, human = scores(4, (6, 12), missing=0.1)
    ours = agree(metric, human, COEFFICIENTS.parse(f"wmt:gap={gap}"), by=by)
    assert ours.value == pytest.approx(obvious.wmt_tau(metric, human, by, gap), abs=1e-12)


@pytest.mark.parametrize("size", [2, 12, 80])
def test_pairwise_accuracy_equals_counting_pairs(size):
    metric, human = scores(5, (size, 1))
    ours = agree(metric, human, COEFFICIENTS.parse("accuracy"), by="none")
    slow = obvious.pairwise_accuracy(metric.ravel(), human.ravel())
    assert ours.value == pytest.approx(slow, abs=1e-12)
    assert ours.chance == 0.5
    assert ours.p == pytest.approx(
        stats.kendalltau(metric.ravel(), human.ravel()).pvalue, nan_ok=True
    )


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("coarse", [True, False])
@pytest.mark.parametrize("by", BY)
def test_accuracy_with_ties_equals_trying_every_threshold(by, coarse, missing):
    metric, human = scores(6, (6, 9), coarse=coarse, missing=missing)
    ours = agree(metric, human, COEFFICIENTS.parse("acc-eq"), by=by)
    value, epsilon = obvious.calibrated_accuracy(metric, human, by)
    assert ours.value == pytest.approx(value, abs=1e-12)
    assert ours.epsilon == pytest.approx(-epsilon, abs=1e-12)


def test_accuracy_with_ties_gives_every_group_its_share():
    metric, human = scores(7, (5, 8), missing=0.2)
    coefficient = COEFFICIENTS.parse("acc-eq")
    each = coefficient.each(metric.T, human.T)
    assert np.nanmean(each) == pytest.approx(agree(metric, human, coefficient, by="item").value)


def test_the_chance_of_accuracy_with_ties_is_calling_all_tied_or_half_of_the_rest():
    human = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    metric = np.array([[3.0, 1.0], [1.0, 2.0], [2.0, 3.0]])
    assert agree(metric, human, COEFFICIENTS.parse("acc-eq"), by="item").chance == pytest.approx(
        4 / 6
    )


values = st.lists(st.integers(-3, 3).map(float) | st.just(math.nan), min_size=2, max_size=9)


@given(st.data())
def test_pairs_counted_by_sorting_equal_pairs_counted_one_by_one(data):
    human = data.draw(values)
    metric = data.draw(
        st.lists(st.integers(-3, 3).map(float), min_size=len(human), max_size=len(human))
    )
    few = concordance(np.array([metric]), np.array([human]))
    padding = [math.nan] * 70  # makes the group a large one, and changes nothing
    many = concordance(np.array([metric + padding]), np.array([human + padding]))
    pairs = [(np.sign(dm), np.sign(dg)) for dm, dg in obvious.known_pairs(metric, human)]
    slow = [
        sum(m * g > 0 for m, g in pairs),
        sum(m * g < 0 for m, g in pairs),
        sum(g == 0 for _, g in pairs),
        sum(m == 0 for m, _ in pairs),
        sum(m == g == 0 for m, g in pairs),
    ]
    for counts in (few, many):
        found = [
            counts.agree,
            counts.disagree,
            counts.human_ties,
            counts.metric_ties,
            counts.both_ties,
        ]
        assert [float(counts[0]) for counts in found] == slow
        assert counts.total[0] == len(pairs)


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall", "kendall-c"])
def test_scores_that_do_not_vary_have_no_value_and_a_reason(name):
    flat, varied = np.full((5, 1), 0.1), np.arange(5.0)[:, None]
    assert agree(varied, flat, COEFFICIENTS.parse(name)).reason == "all human scores are equal"
    assert agree(flat, varied, COEFFICIENTS.parse(name)).reason == "all metric scores are equal"
    assert math.isnan(agree(flat, varied, COEFFICIENTS.parse(name)).value)


@pytest.mark.parametrize("name", ["wmt", "accuracy"])
def test_a_metric_of_ties_alone_is_wrong_about_every_pair(name):
    flat, varied = np.full((5, 1), 0.1), np.arange(5.0)[:, None]
    assert agree(flat, varied, COEFFICIENTS.parse(name)).value == {"wmt": -1, "accuracy": 0}[name]
    assert agree(varied, flat, COEFFICIENTS.parse(name)).reason == "all human scores are equal"


def test_all_ties_on_both_sides_are_perfect_agreement_with_ties():
    flat = np.full((4, 2), 1.0)
    assert agree(flat, flat, COEFFICIENTS.parse("acc-eq"), by="item").value == 1


@pytest.mark.parametrize("name", [*COEFFICIENTS.names()])
def test_nothing_known_is_no_value_and_no_crash(name):
    empty = np.full((4, 3), np.nan)
    for by in BY:
        coefficient = COEFFICIENTS.parse(name)
        found = agree(empty, empty, coefficient, by=by)
        pairs = coefficient.needs == "segments"
        what = "pair of systems can be compared" if pairs else "score is known on both sides"
        assert (found.n, found.reason) == (0, f"no {what}")


@every_scipy
def test_two_systems_are_too_few_for_a_correlation(name):
    found = agree(np.array([[1.0], [2.0]]), np.array([[1.0], [2.0]]), COEFFICIENTS.parse(name))
    assert math.isnan(found.value)
    assert found.reason.startswith("only 2 scores to compare")


def test_a_tiny_variance_is_not_taken_for_none():
    metric = np.array([[1e-9], [2e-9], [4e-9], [3e-9]])
    human = np.array([[1.0], [2.0], [4.0], [3.0]])
    assert agree(metric, human, COEFFICIENTS.parse("pearson")).value == pytest.approx(1)


def test_coefficients_read_back_from_what_they_print():
    for name in COEFFICIENTS.names():
        coefficient = COEFFICIENTS.parse(name)
        assert COEFFICIENTS.parse(str(coefficient)) == coefficient
    assert COEFFICIENTS.parse("kendall-c") == Kendall(variant="c")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kendal", "did you mean 'kendall'"),
        ("wmt:gap", "'gap' is not key=value"),
        ("wmt:gapp=2", "no setting 'gapp'"),
    ],
)
def test_a_coefficient_that_is_not_one_is_a_clear_error(text, message):
    with pytest.raises(DataError, match=message):
        COEFFICIENTS.parse(text)
