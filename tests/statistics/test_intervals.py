"""Bootstrap intervals are SciPy's, and survive what SciPy does not."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from assay.data import DataError, Segment
from assay.metrics.chrf import CHRF
from assay.metrics.mean import Mean
from assay.statistics.significance import confidence, interval

METHODS = ["bca", "percentile", "basic", "jackknife"]
SCIPY = {"bca": "BCa", "percentile": "percentile", "basic": "basic"}


def without_each(values, statistic):
    return np.array([statistic(np.delete(values, i, axis=-1)) for i in range(values.shape[-1])])


def test_the_interval_of_a_mean_is_that_of_scipy_for_the_same_replicates():
    values = np.random.default_rng(3).lognormal(size=40)
    for method, name in SCIPY.items():
        scipys = scipy.stats.bootstrap(
            (values,), np.mean, n_resamples=999, method=name, rng=np.random.default_rng(5)
        )
        found = interval(
            values.mean(),
            scipys.bootstrap_distribution,
            method=method,
            jackknife=without_each(values, np.mean),
        )
        assert found[:2] == pytest.approx(scipys.confidence_interval, rel=1e-12)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_interval_of_a_ratio_of_sums_is_that_of_scipy(level):
    rng = np.random.default_rng(4)
    pairs = np.array([rng.lognormal(size=25), rng.lognormal(size=25) + 0.5])

    def ratio(x, y, axis=-1):
        return x.sum(axis) / y.sum(axis)

    scipys = scipy.stats.bootstrap(
        tuple(pairs), ratio, n_resamples=2000, paired=True, confidence_level=level, rng=rng
    )
    found = interval(
        ratio(*pairs),
        scipys.bootstrap_distribution,
        level=level,
        jackknife=without_each(pairs, lambda rest: ratio(*rest)),
    )
    assert found[:2] == pytest.approx(scipys.confidence_interval, rel=1e-12)


@pytest.mark.parametrize("method", SCIPY)
def test_confidence_draws_what_scipy_draws_and_finds_the_same_interval(method):
    values = np.random.default_rng(3).lognormal(size=40)
    scipys = scipy.stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=500,
        confidence_level=0.9,
        method=SCIPY[method],
        rng=np.random.default_rng(12345),
    )
    found = confidence(
        Mean("x").of(values),
        level=0.9,
        method=method,
        resamples=500,
        rng=np.random.default_rng(12345),
    )
    assert found[:2] == pytest.approx(scipys.confidence_interval, rel=1e-12)
    assert found.bias == pytest.approx(scipys.bootstrap_distribution.mean() - values.mean())


def test_bca_with_tied_replicates_equals_the_textbook_written_out():
    normal = scipy.stats.norm
    values = np.array([0, 0, 0, 0, 0, 0, 0, 1, 1, 5.0])
    rng = np.random.default_rng(8)
    replicates = np.sort([rng.choice(values, 10).mean() for _ in range(400)])
    jackknife = without_each(values, np.mean)
    observed = values.mean()
    below = sum(replicate < observed - 1e-9 for replicate in replicates)
    equal = sum(abs(replicate - observed) < 1e-9 for replicate in replicates)
    assert equal > 10
    z0 = normal.ppf((below + equal / 2) / 400)
    spread = [jackknife.mean() - each for each in jackknife]
    a = sum(u**3 for u in spread) / (6 * sum(u**2 for u in spread) ** 1.5)
    tails = []
    for z in (normal.ppf(0.025), normal.ppf(0.975)):
        tails.append(normal.cdf(z0 + (z0 + z) / (1 - a * (z0 + z))))
    slow = np.quantile(replicates, tails)
    assert interval(observed, replicates, jackknife=jackknife)[:2] == pytest.approx(slow, rel=1e-9)


def test_replicates_that_equal_the_observed_value_but_for_rounding_are_ties():
    others = np.random.default_rng(0).normal(size=100)
    rounded = interval(0.3, np.append(others, [0.1 + 0.2] * 50))
    assert 0.1 + 0.2 != 0.3
    assert rounded == pytest.approx(interval(0.3, np.append(others, [0.3] * 50)), rel=1e-12)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_the_jackknife_interval_of_a_mean_is_students(level):
    values = np.random.default_rng(3).lognormal(size=40)
    students = scipy.stats.ttest_1samp(values, 0).confidence_interval(level)
    found = interval(
        values.mean(),
        np.zeros(0),
        level=level,
        method="jackknife",
        jackknife=without_each(values, np.mean),
    )
    assert found[:2] == pytest.approx(students, rel=1e-12)
    assert confidence(
        Mean("x").of(values), level=level, method="jackknife", rng=np.random.default_rng(0)
    )[:2] == pytest.approx(students, rel=1e-9)


def test_no_interval_of_a_score_goes_beyond_its_scale():
    metric = CHRF()
    segments = [Segment("a small house", (line,)) for line in ("a small house", "b", "a small")]
    found = confidence(metric.statistics(segments), rng=np.random.default_rng(0))
    assert 0 <= found.low < found.high <= 100
    wide = interval(3.0, np.zeros(0), method="jackknife", jackknife=np.array([1.0, 9.0]))
    assert wide.low < 0


def test_a_jackknife_interval_needs_a_jackknife():
    assert all(map(math.isnan, interval(1.0, np.ones(9), method="jackknife")))


def test_bca_moves_towards_the_observed_value_where_the_replicates_are_off_centre():
    replicates = np.random.default_rng(0).normal(10, 1, 5000)
    plain = interval(9.5, replicates, method="percentile")
    assert interval(9.5, replicates).low < plain.low - 0.3
    assert interval(9.5, replicates).high < plain.high - 0.3


@pytest.mark.parametrize("observed", [-50.0, 50.0])
def test_outside_of_all_replicates_bca_falls_back_to_the_percentiles(observed):
    replicates = np.random.default_rng(0).normal(size=200)
    jackknife = np.random.default_rng(1).normal(size=9)
    found = interval(observed, replicates, jackknife=jackknife)
    assert found == interval(observed, replicates, method="percentile")
    assert found.low < found.high


def test_far_in_the_tails_bca_falls_back_to_the_percentiles():
    replicates = np.arange(100_000.0)
    jackknife = np.append(np.zeros(2000), -1.0)
    options = {"level": 1 - 1e-6, "jackknife": jackknife}
    found = interval(99_999.0, replicates, **options)
    assert found == interval(99_999.0, replicates, method="percentile", level=1 - 1e-6)


def test_a_jackknife_without_spread_has_no_acceleration():
    replicates = np.random.default_rng(0).normal(size=200)
    rounding = 0.1 * 3 + np.array([0, 1e-17, 0, 5e-17])
    assert interval(0.1, replicates, jackknife=rounding) == interval(0.1, replicates)


def test_an_acceleration_survives_tiny_numbers():
    values = np.random.default_rng(0).lognormal(size=30)
    replicates = np.random.default_rng(1).normal(values.mean(), 0.2, size=200)
    jackknife = without_each(values, np.mean)
    large = interval(values.mean(), replicates, jackknife=jackknife)
    assert large != interval(values.mean(), replicates)
    tiny = interval(values.mean() * 1e-150, replicates * 1e-150, jackknife=jackknife * 1e-150)
    assert np.array(tiny) * 1e150 == pytest.approx(large)


@pytest.mark.parametrize("method", METHODS)
def test_replicates_that_are_all_the_same_have_an_interval_of_no_width(method):
    found = interval(2.0, np.full(50, 2.0), method=method, jackknife=np.full(7, 2.0))
    assert found[:2] == (2.0, 2.0)
    assert found.bias == 0 or method == "jackknife"


@pytest.mark.parametrize("method", METHODS)
def test_one_segment_says_nothing_about_its_interval(method):
    low, high, bias = confidence(
        Mean("x").of([3.0]), method=method, resamples=10, rng=np.random.default_rng(0)
    )
    assert math.isnan(low)
    assert math.isnan(high)
    assert bias == 0 or method == "jackknife"


@pytest.mark.parametrize("method", METHODS)
def test_an_unknown_score_has_an_unknown_interval(method):
    statistics = Mean("x").of([math.nan, math.nan])
    found = confidence(statistics, method=method, resamples=10, rng=np.random.default_rng(0))
    assert all(map(math.isnan, found))
    assert all(map(math.isnan, interval(1.0, np.zeros(0), method=method)))


@pytest.mark.parametrize("method", METHODS)
def test_unknown_replicates_are_left_out(method):
    replicates = np.random.default_rng(0).normal(size=200)
    jackknife = np.random.default_rng(1).normal(size=9)
    some = np.insert(replicates, [0, 50], math.nan)
    found = interval(0.1, some, method=method, jackknife=np.append(jackknife, math.nan))
    assert found == pytest.approx(
        interval(0.1, replicates, method=method, jackknife=jackknife), nan_ok=True
    )


def test_a_single_rated_segment_among_many_has_a_point_as_its_interval():
    statistics = Mean("x").of([math.nan, 4.0, math.nan])
    found = confidence(statistics, method="bca", resamples=50, rng=np.random.default_rng(0))
    assert found == (4.0, 4.0, 0.0)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, -1.0, math.nan])
def test_a_level_that_is_no_share_is_an_error_that_shows_one(level):
    with pytest.raises(DataError, match=r"between 0 and 1, such as 0\.95"):
        interval(1.0, np.ones(3), level=level)


@given(
    arrays.arrays(float, st.integers(1, 12), elements=st.floats(-100, 100)),
    st.sampled_from(METHODS),
    st.floats(0.01, 0.999),
    st.integers(0, 99),
)
def test_low_is_never_above_high(values, method, level, seed):
    low, high, _ = confidence(
        Mean("x").of(values),
        level=level,
        method=method,
        resamples=40,
        rng=np.random.default_rng(seed),
    )
    assert low <= high or (len(values) == 1 and math.isnan(low) and math.isnan(high))


@given(
    st.floats(-100, 100),
    arrays.arrays(float, st.integers(1, 30), elements=st.floats(-100, 100)),
    arrays.arrays(float, st.integers(2, 30), elements=st.floats(-100, 100)),
    st.sampled_from(METHODS),
)
def test_any_numbers_at_all_have_an_interval(observed, replicates, jackknife, method):
    low, high, _ = interval(observed, replicates, method=method, jackknife=jackknife)
    assert low <= high
