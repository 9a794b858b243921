"""The grid, what is best on it and whether it lasts, against obvious versions and scikit-learn."""

import math

import numpy as np
import pytest
from scipy import stats

from assay.data import Array, DataError, Dataset, Scores
from assay.explanation.boosted import ExplainedScores, Ragged, WeightAndPower, explained_by
from assay.explanation.explainers import EXPLAINERS
from assay.explanation.tune import (
    POWERS,
    WEIGHTS,
    BoostSetting,
    Evidence,
    RatedSegments,
    best_of,
    correlations,
    gather,
    halves,
    tried,
    tune_setting,
)
from assay.explanation.tuning_report import TuneResult, ridge_effects, try_medians
from assay.io import read_folder, read_scores
from assay.metrics.base import parse
from assay.statistics.correlation import pearson_rows
from tests.corpora import DEMO


def evidence(seed=1, n=60, setting=("set", "de-en", "chrf", "erasure"), signal=1.0):
    """Made-up scores, importances and human scores that have something to do with each other."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=n)
    base = 0.5 + 0.1 * (quality + rng.normal(size=n))
    rows = [0.05 * (signal * q + rng.normal(size=rng.integers(1, 9))) for q in quality]
    human = quality + rng.normal(size=n)
    explained = ExplainedScores(base, Ragged.of(rows))
    return Evidence(BoostSetting(*setting), explained, human, np.arange(n) // 2)


def never(first: Array, second: Array, human: Array) -> float:
    return 0.5


def tuned(each, **options):
    return tune_setting(each, test=never, rng=np.random.default_rng(3), **options)


def slow(given, w, p, regular):
    """One point of the grid, segment by segment."""
    scores, start = [], 0
    for base, length in zip(given.explained.base, given.explained.importances.lengths, strict=True):
        own = given.explained.importances.values[start : start + length]
        start += length
        raised = own + abs(min(own.min(), 0))
        raised = raised + 1e-9 + (np.abs(own).mean() if regular == "shift" else 0)
        scores.append(w * base + (1 - w) * stats.pmean(raised, p))
    return stats.pearsonr(scores, given.human).statistic


@pytest.mark.parametrize("regular", ["paper", "shift"])
def test_the_grid_equals_boosting_and_correlating_point_by_point(regular):
    given = evidence()
    grid = correlations(given.explained, given.human, regular)
    assert grid.shape == (6, 601)
    rng = np.random.default_rng(2)
    for row, column in zip(rng.integers(0, 6, 40), rng.integers(0, 601, 40), strict=True):
        wanted = slow(given, WEIGHTS[row], POWERS[column], regular)
        assert grid[row, column] == pytest.approx(wanted, abs=1e-9)


def test_the_grid_is_that_of_the_paper():
    assert WEIGHTS == (0, 0.2, 0.4, 0.6, 0.8, 1)
    assert (POWERS[0], POWERS[1], POWERS[300], POWERS[-1]) == (-30, -29.9, 0, 30)
    assert np.diff(POWERS) == pytest.approx(np.full(600, 0.1))


def test_a_weight_of_one_is_the_metric_as_it_is():
    found = tuned(evidence())
    theirs = stats.pearsonr(found.evidence.explained.base, found.evidence.human).statistic
    assert found.base == pytest.approx(theirs)
    assert found.grid[-1] == pytest.approx(np.full(601, theirs))


def test_the_best_is_the_greatest_of_the_grid_and_can_be_had_again():
    found = tuned(evidence())
    assert found.best.pearson == pytest.approx(found.grid.max(), abs=1e-9)
    assert found.best.pearson > found.base
    assert found.at(WeightAndPower(found.best.w, found.best.p)) == pytest.approx(found.best.pearson)


def test_where_nothing_helps_the_metric_stays_as_it_is():
    grid = np.full((6, 601), 0.3)
    grid[0] = 0.3 + 1e-12
    grid[5] = 0.3
    assert best_of(grid) == (1.0, 1.0, 0.3)
    grid[2, 7], grid[2, 400], grid[1, 300] = 0.5, 0.5, 0.5
    assert best_of(grid) == (0.4, POWERS[400], 0.5)
    assert math.isnan(best_of(np.full((6, 601), math.nan)).pearson)


def test_halves_keep_the_outputs_of_a_source_segment_together():
    items = np.tile(np.arange(21), 3)
    first = halves(items, rng=np.random.default_rng(1))
    assert first.sum() == 30
    assert not set(items[first]) & set(items[~first])
    assert first.tolist() != halves(items, rng=np.random.default_rng(2)).tolist()


def test_what_is_held_out_had_no_part_in_finding_the_weight_and_power():
    given = evidence(n=80)
    found = tuned(given)
    first = halves(given.items, rng=np.random.default_rng(3))
    half, rest = given.chosen(first), given.chosen(~first)
    best = best_of(correlations(half.explained, half.human))
    assert (found.held_out.w, found.held_out.p) == (best.w, best.p)
    assert found.held_out.n == len(rest) == 40
    boosted = rest.explained.boosted(WeightAndPower(best.w, best.p))
    assert found.held_out.pearson == pytest.approx(stats.pearsonr(boosted, rest.human)[0])
    assert found.held_out.base == pytest.approx(stats.pearsonr(rest.explained.base, rest.human)[0])


@pytest.mark.parametrize("signal", [4.0, -4.0])
def test_the_test_compares_boosted_and_base_with_the_outputs_of_a_source_segment_together(signal):
    given, asked = evidence(signal=signal), []

    def test(first, second, human):
        asked.extend((first, second, human))
        return 0.03

    found = tried(given, WeightAndPower(0.0, 1.0), test=test)
    assert found.significance == 0.03
    assert (found.pearson > found.base) == (signal > 0)
    boosted, base, human = asked
    assert boosted.shape == (2, 30)
    assert base[:, 7].tolist() == given.explained.base[given.items == 7].tolist()
    assert pearson_rows(boosted.ravel(), human.ravel()) == pytest.approx(found.pearson)
    assert pearson_rows(base.ravel(), human.ravel()) == pytest.approx(found.base)


def test_items_with_fewer_outputs_have_gaps():
    given = evidence(n=5)
    items = np.array([3, 1, 3, 3, 9])
    laid = Evidence(given.setting, given.explained, given.human, items).by_item(np.arange(5.0))
    assert np.array_equal(laid[:, 1], [0, 2, 3])
    assert np.array_equal(laid[:, 0], [1, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(laid[:, 2], [4, np.nan, np.nan], equal_nan=True)


def test_few_segments_have_nothing_to_hold_out():
    assert tuned(evidence(n=7)).held_out is None


def test_the_share_of_collapsed_segments_is_told():
    given = evidence()
    values, lengths = given.explained.importances
    ends = np.cumsum(lengths)
    least = [values[end - n : end].min() for end, n in zip(ends, lengths, strict=True)]
    assert tuned(given).collapsed == pytest.approx(np.mean(np.array(least) <= 0), abs=0.1)
    assert tuned(given).collapsed > 0.5
    assert tuned(given, regular="shift").collapsed == 0


@pytest.fixture(scope="module")
def several():
    """Two datasets, two metrics and two explainers."""
    settings = [(d, "de-en", m, e) for d in "AB" for m in ("chrf", "ter") for e in ("lime", "shap")]
    found = [tuned(evidence(seed, setting=each)) for seed, each in enumerate(settings)]
    return TuneResult(tuple(found))


def test_medians_are_those_of_the_best_of_each_explainer(several):
    for name in ("lime", "shap"):
        best = [each.best for each in several.tuned if each.setting.explainer == name]
        median = several.medians[name]
        assert median.at.w == np.median([each.w for each in best])
        assert median.at.p == np.median([each.p for each in best if each.w < 1])
        assert median.settings == 4
        gains = [g for t, g in zip(several.tuned, several.gains, strict=True)
                 if t.setting.explainer == name]  # fmt: skip
        assert median.improved == sum(gain > 0 for gain in gains)
        assert median.gain == pytest.approx(np.mean(gains))


def test_a_best_weight_of_one_says_nothing_of_the_power():
    rng = np.random.default_rng(1)
    human = rng.normal(size=40)
    noise = Ragged.of([rng.uniform(0.5, 1, size=3) for _ in range(40)])
    given = Evidence(
        BoostSetting("", "", "m", "e"), ExplainedScores(human, noise), human, np.arange(40)
    )
    found = tuned(given)
    assert found.best == pytest.approx((1, 1, 1))
    assert TuneResult((found,)).medians["e"].at == (1, 1)


def test_medians_are_tried_on_other_data(several):
    other = evidence(99, setting=("C", "cs-en", "chrf", "lime"))
    held = try_medians(several, other, test=never)
    at = several.medians["lime"].at
    assert (held.setting.dataset, held.w, held.p, held.n) == ("C", at.w, at.p, 60)
    assert held.pearson == pytest.approx(slow(other, at.w, at.p, "paper"), abs=1e-9)
    records = TuneResult(several.tuned, (held,)).records()
    assert [record["what"] for record in records] == ["best"] * 8 + ["test"]
    assert (records[-1]["dataset"], records[-1]["pearson"]) == ("C", held.pearson)


def test_records_tell_the_best_of_every_setting(several):
    records = several.records()
    assert [list(each)[:6] for each in records] == [
        ["explainer", "metric", "w", "p", "pearson", "base"]
    ] * 8
    for record, each in zip(records, several.tuned, strict=True):
        assert (record["explainer"], record["metric"]) == each.setting[:1:-1]
        assert (record["w"], record["p"], record["pearson"]) == each.best
        assert record["held_out_pearson"] == each.held_out.pearson


def test_records_of_the_grid_are_all_its_points(several):
    records = TuneResult(several.tuned[:2], grid=True).records()
    assert len(records) == 2 * 6 * 601
    at = records[601 * 6 + 601 + 17]
    assert (at["w"], at["p"]) == (0.2, POWERS[17])
    assert at["pearson"] == several.tuned[1].grid[1, 17]
    assert list(at)[:6] == ["explainer", "metric", "w", "p", "pearson", "base"]


def test_the_regression_is_that_of_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(5)
    settings = [
        {"pair": str(rng.choice(["a", "b", "c"])), "metric": str(rng.choice(["m", "n"])), "x": "y"}
        for _ in range(30)
    ]
    gains = rng.normal(size=30)
    for penalty in (1.0, 0.1):
        ours = ridge_effects(settings, gains, penalty=penalty)
        design = [[each[e.factor] == e.value for e in ours] for each in settings]
        theirs = linear_model.Ridge(alpha=penalty).fit(np.array(design, float), gains)
        assert [e.coefficient for e in ours] == pytest.approx(theirs.coef_, abs=1e-9)
        assert sorted((e.factor, e.value) for e in ours) == [
            ("metric", "m"), ("metric", "n"), ("pair", "a"), ("pair", "b"), ("pair", "c"),
        ]  # fmt: skip
    assert ours == sorted(ours, key=lambda each: -each.coefficient)


def test_where_nothing_varies_there_is_nothing_to_regress():
    assert ridge_effects([{"pair": "a"}] * 3, [1, 2, 3]) == []
    assert ridge_effects([], []) == []


def test_tables_and_pictures_show_all_that_was_found(several):
    titles = [table.title for table in several.tables()]
    assert titles == [
        "The best weight and power", "Does it last?", "Medians", "Where boosting helps",
    ]  # fmt: skip
    assert [len(table.rows) for table in several.tables()] == [8, 8, 2, 6]
    charts = {chart.title: chart for chart in several.charts()}
    curves = [title for title in charts if title.startswith("Correlation over p: ")]
    assert len(curves) == 8
    values = charts[curves[0]].spec["data"]["values"]
    assert len(values) == 6 * 601
    assert values[601 + 5]["y"] == several.tuned[0].grid[1, 5]
    for title in ("The best w of all settings", "The best p of all settings"):
        assert charts[title].spec["mark"]["type"] == "boxplot"
    bars = charts["Settings improved at the medians of w and p"].spec["data"]["values"]
    assert sum(record["y"] for record in bars) == 8
    assert len(charts["Where boosting helps most and least"].spec["data"]["values"]) == 6


def test_densities_cover_the_whole_grid(several):
    (chart,) = [c for c in several.charts() if c.title == "Gains over the whole grid, by explainer"]
    for name in ("lime", "shap"):
        values = [v for v in chart.spec["data"]["values"] if v["series"] == name]
        step = values[1]["x"] - values[0]["x"]
        assert sum(record["y"] for record in values) * step == pytest.approx(1, abs=0.05)


def test_pictures_can_be_drawn(several, tmp_path):
    pytest.importorskip("vl_convert")
    from assay.rendering.charts import write_charts

    drawn = write_charts(several.charts()[8:], tmp_path)
    assert len(drawn) == len(several.charts()) - 8
    assert all("<path" in path.read_text("utf-8") for path in drawn)


@pytest.fixture(scope="module")
def judged():
    """The demonstration set with its human scores."""
    dataset = read_folder(DEMO)
    scores = read_scores(DEMO / "human" / "da.seg.tsv", list(dataset.systems), length=len(dataset))
    return RatedSegments.of(dataset, scores)


def test_only_segments_with_a_human_score_are_looked_at(judged):
    dataset = read_folder(DEMO)
    scores = read_scores(DEMO / "human" / "da.seg.tsv", list(dataset.systems), length=len(dataset))
    assert len(judged.segments) == len(judged.human) == np.isfinite(scores.values).sum() < 360
    for segment, human, item in zip(judged.segments, judged.human, judged.items, strict=True):
        assert segment.references == dataset.references[item]
        assert human in scores.values[:, item]


def test_a_metric_and_an_explainer_are_tuned_on_human_scores(judged):
    metric, explainer = parse("chrf"), EXPLAINERS.parse("erasure")
    found = tuned(gather(judged, metric, explainer, seed=1))
    assert found.setting == BoostSetting("demo", "", "chrf", "erasure")
    plain = metric.statistics(judged.segments).segments()
    assert found.base == pytest.approx(stats.pearsonr(plain, judged.human).statistic)
    explained = explained_by(explainer, metric, judged.segments, seed=1)
    scores = explained.boosted(WeightAndPower(0.2, 2.0))
    wanted = stats.pearsonr(scores, judged.human).statistic
    assert found.grid[1, 320] == pytest.approx(wanted)


def test_segments_that_cannot_be_scored_are_left_out(judged, monkeypatch):
    metric = parse("chrf")
    whole = gather(judged, metric, EXPLAINERS.parse("erasure"), seed=1)
    real = type(metric).aggregate
    shortest = min(judged.segments, key=lambda each: len(each.hypothesis))

    def moody(self, sums):
        return np.where(sums.sum(axis=1) < sick, np.nan, real(self, sums))

    sick = metric.rows([shortest]).sum() + 1
    monkeypatch.setattr(type(metric), "aggregate", moody)
    found = gather(judged, metric, EXPLAINERS.parse("erasure"), seed=1)
    assert found.unknown > 0
    assert len(found) + found.unknown == len(whole)
    assert np.isfinite(found.explained.base).all()
    sick = math.inf
    with pytest.raises(DataError, match="0 of 351 segments can be scored and explained"):
        gather(judged, metric, EXPLAINERS.parse("erasure"), seed=1)


def test_human_scores_must_be_of_segments_and_more_than_a_few():
    dataset = Dataset({"a": ("x",) * 9}, (("x",),) * 9)
    systems = Scores("da", "system", ("a",), ("",), np.ones((1, 1)))
    with pytest.raises(DataError, match="tuned on scores of segments, not of systems"):
        RatedSegments.of(dataset, systems)
    values = np.full((1, 9), math.nan)
    values[0, :3] = 1
    few = Scores("da", "segment", ("a",), tuple(map(str, range(1, 10))), values)
    with pytest.raises(DataError, match="da: 3 segments have a human score"):
        RatedSegments.of(dataset, few)
