"""Metrics against people: what comes out equals SciPy's, and every hole has its reason."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from assay.agreement.agree import agree, confidences
from assay.agreement.coefficients import SoftPairwiseAccuracy
from assay.agreement.correlate import CorrelateOptions, correlate_panels, prepared
from assay.agreement.panel import Candidate, Panel
from assay.agreement.report import charts
from assay.data import DataError
from assay.metrics.mean import Mean
from tests.given import texts

ALL = ("pearson", "spearman", "kendall", "kendall-c", "wmt", "accuracy", "acc-eq", "spa")


def panel(human, *metrics, level="system", systems=None, pair="xx-yy", **more):
    """A panel of metrics called m0, m1 ..."""
    human = np.atleast_2d(np.asarray(human, float))
    human = human.T if level == "system" else human
    candidates = []
    for at, each in enumerate(metrics):
        scores = np.asarray(each, float).reshape(human.shape)
        candidates.append(Candidate(f"m{at}", f"M{at}", scores))
    names = systems or [f"s{at}" for at in range(len(human))]
    return Panel(pair, level, "da", tuple(names), tuple(candidates), human, **more)


def random_panel(seed=1, shape=(8, 30), count=2, level="segment"):
    rng = np.random.default_rng(seed)
    human = rng.normal(size=shape)
    noisy = [human + rng.normal(size=shape) * 2**at for at in range(count)]
    return panel(human, *noisy, level=level)


def values(result):
    return {
        (record["metric"], record["coefficient"]): (record["value"], record["p"])
        for record in result.records()
    }


def test_system_level_equals_scipy():
    rng = np.random.default_rng(3)
    human, metric = rng.normal(size=12), rng.normal(size=12)
    found = values(
        correlate_panels(
            [panel(human, metric)], CorrelateOptions(("pearson", "spearman", "kendall"))
        )
    )
    for name, theirs in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall", stats.kendalltau),
    ):
        expected = theirs(metric, human)
        assert found["m0", name] == pytest.approx((expected.statistic, expected.pvalue))


def test_records_have_the_promised_fields_first():
    record, *_ = correlate_panels([panel([1, 2, 3, 4], [1, 2, 4, 3])]).records()
    first = ["pair", "granularity", "metric", "resolved", "human", "coefficient", "value", "p", "n"]
    assert list(record)[:9] == first
    assert (record["pair"], record["granularity"], record["human"]) == ("xx-yy", "system", "da")
    assert record["n"] == 4
    assert record["reason"] is None


def test_less_is_better_is_turned_round():
    given_panel = panel([1, 2, 3, 5], [40, 30, 20, 10])
    errors = Candidate("ter", "TER", given_panel.candidates[0].scores, lower=True)
    turned = Panel("", "system", "da", given_panel.systems, (errors,), given_panel.human)
    result = correlate_panels([turned], CorrelateOptions(("kendall",)))
    assert values(result)["ter", "kendall"][0] == 1.0
    assert "TER: less is better" in result.tables()[0].note


def test_soft_accuracy_of_a_mean_is_that_of_its_segments():
    """At system level whole segments change places; for a mean that is the same test."""
    rng = np.random.default_rng(5)
    human, own = rng.normal(size=(2, 6, 40))
    human, own = human + np.arange(6)[:, None] / 5, own + np.arange(6)[:, None] / 7
    means = tuple(Mean("own").of(each) for each in own)
    metric = Candidate("own", "own", own.mean(axis=1, keepdims=True), statistics=means)
    names = tuple("abcdef")
    questions = CorrelateOptions(("spa",), trials=300)
    at_systems = Panel("", "system", "da", names, (metric,), human.mean(axis=1)[:, None], human)
    at_segments = Panel("", "segment", "da", names, (Candidate("own", "own", own),), human)
    ours, theirs = (
        confidences(e, trials=300, rng=np.random.default_rng(7))[:, None] for e in (own, human)
    )
    expected = agree(ours, theirs, SoftPairwiseAccuracy())
    for chosen in (at_systems, at_segments):
        (record,) = correlate_panels([chosen], questions, seed=7).records()
        assert record["value"] == pytest.approx(expected.value, abs=1e-12)
        assert record["n"] == 15
    assert 0.5 < expected.value < 1


@pytest.mark.parametrize(
    ("human", "metric", "reason"),
    [
        ([1, 2], [3, 4], "only 2 scores to compare; Kendall's tau needs 3"),
        ([1], [3], "only 1 scores to compare; Kendall's tau needs 3"),
        ([5, 5, 5, 5], [1, 2, 3, 4], "all human scores are equal"),
        ([1, 2, 3, 4], [7, 7, 7, 7], "all metric scores are equal"),
        ([2, 2, 2, 2], [7, 7, 7, 7], "all human scores are equal"),
        ([1, 2, 3, math.nan], [math.nan, math.nan, math.nan, 1], "no score is known on both sides"),
    ],
)
def test_what_cannot_be_said_is_null_with_its_reason(human, metric, reason):
    result = correlate_panels([panel(human, metric)], CorrelateOptions(("kendall",)))
    (record,) = result.records()
    assert (record["value"], record["p"], record["reason"]) == (None, None, reason)
    assert f"xx-yy: no kendall of M0: {reason}." in result.tables()[0].note


@given(
    arrays(float, (4, 3), elements=st.sampled_from([0.0, 1.0, 2.5, math.nan])),
    arrays(float, (4, 3), elements=st.sampled_from([0.0, 1.0, -3.0, math.nan])),
    st.sampled_from(["none", "item", "system"]),
)
def test_no_scores_make_it_fail_and_every_null_has_a_reason(human, metric, by):
    questions = CorrelateOptions(ALL, by=by, compare=True, trials=5, outliers="drop")
    result = correlate_panels([panel(human, metric, human, level="segment")], questions)
    for record in result.records():
        assert (record["value"] is None) == (record["reason"] is not None)
        assert record["value"] is None or abs(record["value"]) <= 1 + 1e-12
    assert result.tables()
    assert charts(result.findings, seed=1) is not None


def test_a_pair_that_nobody_rated_is_an_empty_row():
    nobody = panel([math.nan] * 3, [1, 2, 3], pair="aa-bb")
    result = correlate_panels(
        [panel([1, 2, 3, 4], [1, 2, 3, 4]), nobody], CorrelateOptions(("kendall",))
    )
    (table,) = result.tables()
    row = next(row for row in table.rows if row[0] == "aa-bb")
    assert row == ["aa-bb", 0, None]
    assert "left out (no human score): s0, s1, s2." in table.note


def test_human_translations_are_left_out_or_in():
    systems = ["a", "b", "c", "Human-B.0", "refA"]
    given_panel = panel([1, 2, 3, 9, 8], [1, 2, 3, 0, 0], systems=systems)
    out, kept = (
        correlate_panels([given_panel], CorrelateOptions(("kendall",), humans=each)).records()[0]
        for each in ("out", "in")
    )
    assert (out["n"], out["value"]) == (3, 1.0)
    assert kept["n"] == 5
    assert kept["value"] < 0


def test_outliers_are_dropped_on_request_and_named():
    human, metric = [0.1, 0.2, 0.15, 0.12, -4.0], [4, 3, 2, 1, -50]
    kept, dropped = (
        prepared(panel(human, metric), CorrelateOptions(outliers=each)) for each in ("keep", "drop")
    )
    assert len(kept.systems) == 5
    assert dropped.systems == ("s0", "s1", "s2", "s3")
    assert any("outliers" in note and "s4" in note for note in dropped.notes)


def test_missing_ratings_are_counted():
    human = [[1, math.nan, 3], [2, 1, math.nan]]
    ready = prepared(panel(human, np.zeros((2, 3)), level="segment"), CorrelateOptions())
    assert ready.notes == ("2 of 6 human scores are missing.",)


def test_williams_is_computed_from_scipys_correlations():
    """The statistic as in Steiger (1980), written out."""
    given_panel = random_panel(shape=(12, 1), count=2)
    result = correlate_panels(
        [given_panel], CorrelateOptions(("pearson",), compare=True, trials=10)
    )
    (finding,) = result.findings
    a, b, human = (
        scores.ravel()
        for scores in (*(c.scores for c in given_panel.candidates), given_panel.human)
    )
    r1, r2, r3 = (stats.pearsonr(x, y).statistic for x, y in ((a, human), (b, human), (a, b)))
    n = len(human)
    k = 1 - r1**2 - r2**2 - r3**2 + 2 * r1 * r2 * r3
    bottom = 2 * k * (n - 1) / (n - 3) + (r1 + r2) ** 2 / 4 * (1 - r3) ** 3
    t = (r1 - r2) * math.sqrt((n - 1) * (1 + r3) / bottom)
    assert finding.williams[0, 1] == pytest.approx(2 * stats.t.sf(abs(t), n - 3))
    assert finding.williams[1, 0] == finding.williams[0, 1]
    table = result.tables()[-1]
    assert "(Williams)" in table.title
    assert [cell for row in texts(table) for cell in row if cell.startswith("~")]
    assert "only approximate" in table.note


def test_williams_is_not_offered_for_scores_that_depend_on_each_other():
    questions = CorrelateOptions(("pearson",), compare=True, trials=10)
    assert correlate_panels([random_panel()], questions).findings[0].williams is None


def test_comparisons_rank_metrics_and_name_the_better_one():
    result = correlate_panels(
        [random_panel(shape=(8, 100), count=3)], CorrelateOptions(("pearson",), compare=True)
    )
    records = result.records()
    single = [record for record in records if record["other"] is None]
    pairs = [record for record in records if record["other"] is not None]
    assert [record["cluster"] for record in single] == [1, 2, 3]
    assert [(record["metric"], record["other"]) for record in pairs] == [
        ("m0", "m1"), ("m0", "m2"), ("m1", "m2"),
    ]  # fmt: skip
    by_name = {record["metric"]: record["value"] for record in single}
    for record in pairs:
        assert record["difference"] == pytest.approx(
            by_name[record["metric"]] - by_name[record["other"]]
        )
        assert 0 < record["p_difference"] < 0.05


def test_a_metric_without_a_value_is_compared_with_nobody():
    """Two scores alone would agree perfectly, whatever they are."""
    human = [1, 2, 3, 4, 5, 6]
    few = [1, 2, *[math.nan] * 4]
    given_panel = panel(human, [1, 2, 3, 4, 6, 5], few, [2, 1, 4, 3, 6, 5])
    records = correlate_panels(
        [given_panel], CorrelateOptions(("pearson",), compare=True)
    ).records()
    assert [record["cluster"] for record in records[:3]] == [1, 2, 1]
    assert [(record["metric"], record["other"]) for record in records[3:]] == [("m0", "m2")]


def test_the_same_seed_gives_the_same_p():
    questions = CorrelateOptions(("kendall",), by="item", compare=True, trials=50)
    near = random_panel(seed=4, shape=(5, 8))
    first, again, other = (
        [
            record["p_difference"]
            for record in correlate_panels([near], questions, seed=seed).records()
        ]
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_charts_show_intervals_around_the_points():
    rng = np.random.default_rng(2)
    own, human = rng.normal(size=(2, 4, 60))
    means = tuple(Mean("own").of(each) for each in own)
    metric = Candidate("own", "own", own.mean(axis=1, keepdims=True), statistics=means)
    given_panel = Panel(
        "", "system", "da", tuple("abcd"), (metric,), human.mean(axis=1)[:, None], human
    )
    (chart,) = correlate_panels([given_panel]).charts()
    errors = stats.sem(human, axis=1)
    for at, point in enumerate(chart.spec["data"]["values"]):
        assert point["y_low"] < point["y"] < point["y_high"]
        assert point["x_high"] - point["x"] == pytest.approx(1.96 * errors[at])
    assert [layer["mark"]["type"] for layer in chart.spec["layer"]][:2] == ["rule", "rule"]


def test_intervals_come_from_the_same_scores_as_the_points():
    """Raw ratings, from 0 to 100, say nothing of how sure z-scores are."""
    rng = np.random.default_rng(2)
    raw = 70 + 20 * rng.normal(size=(4, 60))
    z = (raw.mean(axis=1) - raw.mean()) / raw.std()
    for human, drawn in ((raw.mean(axis=1), True), (raw.mean(axis=1).round(1), True), (z, False)):
        own = Candidate("own", "own", rng.normal(size=(4, 1)))
        given_panel = Panel("", "system", "da", tuple("abcd"), (own,), human[:, None], raw)
        (chart,) = correlate_panels([given_panel]).charts()
        assert ["x_low" in each for each in chart.spec["data"]["values"]] == [drawn] * 4
        assert ("not the means of those of segments" in chart.note) is not drawn


def test_intervals_of_documents_and_segments_are_over_these():
    human = np.random.default_rng(3).normal(size=(4, 30))
    for level in ("document", "segment"):
        own = Candidate("own", "own", human + 1)
        (chart,) = correlate_panels([Panel("", level, "da", tuple("abcd"), (own,), human)]).charts()
        errors = stats.sem(human, axis=1)
        for at, point in enumerate(chart.spec["data"]["values"]):
            assert point["x_high"] - point["x"] == pytest.approx(1.96 * errors[at])


def test_several_pairs_make_a_map_of_metrics_by_pairs():
    panels = [panel([1, 2, 3], [1, 3, 2], [3, 2, 1], pair=each) for each in ("aa-bb", "cc-dd")]
    found = correlate_panels(panels, CorrelateOptions(("kendall",))).charts()[0]
    cells = {(v["y"], v["x"]): v["value"] for v in found.spec["data"]["values"]}
    assert set(cells) == {(m, p) for m in ("M0", "M1") for p in ("aa-bb", "cc-dd")}
    assert cells["M1", "cc-dd"] == -1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coefficients": ("kendall", "kendall-b")}, "kendall is given twice"),
        ({"coefficients": ("kendal",)}, "did you mean 'kendall'"),
        ({"alpha": 1.0}, "between 0 and 1"),
    ],
)
def test_impossible_questions_are_refused(options, message):
    with pytest.raises(DataError, match=message):
        CorrelateOptions(**options)
