"""Intervals, tests and corrections equal the slow way's, and results render everywhere."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from assay.decomposition.analysis import muler, muler_scores
from assay.decomposition.decompose import ENOUGH, FEW, MANY, PRESETS, Annotated
from assay.demo import tagged_demo
from assay.features.annotation import Feature
from assay.metrics.base import parse
from assay.rendering import render
from tests.decomposition.obvious import (
    NAME,
    NOUN,
    SMALL,
    VERB,
    WAYS_BY_NAME,
    chosen,
    figures,
    tagged,
    tags_of,
    ted,
    texts_of,
)
from tests.given import texts

KEYS = [
    *(
        "system",
        "metric",
        "resolved",
        "feature",
        "kind",
        "n",
        "plain",
        "oracle",
        "anti",
        "muler",
        "low",
    ),
    *("high", "abl", "under", "over", "equal", "frequency_ref", "frequency_sys"),
]
FORMATS = ("text", "json", "tsv", "latex", "html")


@pytest.fixture(scope="module")
def talks(shared):
    return ted(shared, step=12)


@pytest.fixture(scope="module")
def features(talks):
    return [f for f in tags_of(talks) if f.name.isalpha()][:6]


@pytest.fixture(scope="module")
def result(talks, features):
    return muler_scores(talks, parse("bleu"), features, preset=PRESETS["paper"])


def slow_sentences(annotated, feature, system):
    """Plain, oracle and anti-oracle NLTK BLEU of all segments, (3, N); `nan` outside of I."""
    way = WAYS_BY_NAME["bleu paper"]
    scores = np.full((3, len(annotated)), np.nan)
    three = texts_of(annotated, feature, system, way.mask)
    for row, pairs in zip(scores, three, strict=True):
        row[chosen(annotated, feature, system)] = [way.sentence(*pair) for pair in pairs]
    return scores


def slow_muler(scores):
    """MuLER of some segments."""
    plain, oracle, anti = (np.mean(row[~np.isnan(row)]) for row in scores)
    return (oracle - plain) / (oracle - anti)


def slow_jackknife(scores):
    """MuLER without each segment of I."""
    own = scores[:, ~np.isnan(scores[0])]
    return np.array([slow_muler(np.delete(own, at, axis=1)) for at in range(own.shape[1])])


def test_intervals_equal_those_of_a_slow_jackknife(talks, result):
    for score in result.scores:
        scores = slow_sentences(talks, score.feature, score.system)
        assert score.muler == pytest.approx(slow_muler(scores))
        jackknife = slow_jackknife(scores)
        n, pull = len(jackknife), jackknife.mean() - jackknife
        assert n == score.n
        if n < ENOUGH:
            assert np.isnan([score.low, score.high]).all()
            continue
        error, skew = np.sqrt((n - 1) / n * (pull**2).sum()), stats.skew(pull)
        # Hall's transformation of Student's t makes these two of the interval's ends.
        for end, quantile in ((score.low, 0.975), (score.high, 0.025)):
            root = np.sqrt(n)
            z = (score.muler - end) / error / root
            back = root * (z + skew / 3 * z**2 + skew**2 / 27 * z**3 + skew / (6 * n))
            assert back == pytest.approx(stats.t.ppf(quantile, n - 1))
        assert score.low < score.muler < score.high
    assert sum(score.n >= ENOUGH for score in result.scores) > 4


def test_intervals_are_about_those_of_scipys_bca(talks, features, result):
    each = result.scores[0]
    scores = slow_sentences(talks, each.feature, each.system)
    own = scores[:, ~np.isnan(scores[0])]
    theirs = stats.bootstrap(
        tuple(own), lambda *rows: slow_muler(np.array(rows)), paired=True, vectorized=False,
        n_resamples=2000, rng=np.random.default_rng(5),
    ).confidence_interval  # fmt: skip
    assert (each.low, each.high) == pytest.approx(theirs, abs=0.02)


def test_the_paired_p_equals_that_of_a_slow_jackknife(talks, result):
    first = {s.feature: s for s in result.scores if s.system == "sys1"}
    for score in (s for s in result.scores if s.system == "sys2"):
        both = [slow_sentences(talks, score.feature, name) for name in ("sys2", "sys1")]
        either = np.flatnonzero(~np.isnan(both[0][0]) | ~np.isnan(both[1][0]))
        differences = np.array(
            [np.subtract(*(slow_muler(np.delete(s, at, axis=1)) for s in both)) for at in either]
        )
        n = len(either)
        error = np.sqrt((n - 1) / n * ((differences - differences.mean()) ** 2).sum())
        t = (score.muler - first[score.feature].muler) / error
        assert score.p == pytest.approx(2 * stats.t.sf(abs(t), n - 1))


@pytest.mark.parametrize("metric", ["bleu", "chrf", "macrof"])
def test_what_few_sentences_have_is_never_called_significant(talks, metric):
    """A feature found in one sentence had p = .0015 and a star."""
    tags = tags_of(talks)
    result = muler_scores(talks, parse(metric), tags)
    by_key = {(score.feature, score.system): score for score in result.scores}
    few = [tag for tag in tags if min(by_key[tag, s].n for s in result.systems) < FEW]
    assert any(0 < by_key[tag, "sys2"].n < 5 for tag in few)
    overview, *_ = result.tables()
    marks = {row[0]: row[-1] for row in overview.rows}
    shown = {row[0]: row[3] for row in texts(overview)}
    records = {(record["feature"], record["system"]): record for record in result.records()}
    for tag in few:
        assert marks[tag.name].startswith("few")
        assert shown[tag.name] == ""
        assert records[tag.name, "sys2"]["p"] is records[tag.name, "sys2"]["p_bh"] is None
    assert f"fewer than {FEW} sentences" in overview.note
    assert "jackknife" in overview.note
    labels = {value["x"] for value in result.charts()[0].spec["data"]["values"]}
    assert {label for label in labels if "(few)" in label} == {f"{tag.name} (few)" for tag in few}


def test_intervals_are_of_enough_sentences_and_say_where_they_are_approximate(talks):
    result = muler_scores(talks, parse("bleu"), tags_of(talks))
    for score, record in zip(result.scores, result.records(), strict=True):
        assert (record["low"] is None) == (record["high"] is None) == (score.n < ENOUGH)
        assert record["few"] == (score.n < FEW)
        assert record["approximate"] == (ENOUGH <= score.n < MANY)
    report = next(table for table in result.tables() if table.title.startswith("sys1"))
    approximate = {row[0] for row in report.rows if row[-1] == "approx."}
    assert approximate == {
        s.feature.name for s in result.scores if ENOUGH <= s.n < MANY and s.system == "sys1"
    }
    assert f"fewer than {MANY}" in report.note


def test_p_is_corrected_over_the_features_as_scipy_does_it(result):
    own = [score for score in result.scores if score.system == "sys2"]
    expected = stats.false_discovery_control([each.p for each in own])
    assert [each.p_bh for each in own] == pytest.approx(list(expected))
    assert len({each.p for each in own}) > 1


def test_the_first_system_has_no_p(result):
    assert all(math.isnan(s.p) and math.isnan(s.p_bh) for s in result.scores if s.system == "sys1")


def test_a_system_compared_with_itself_has_a_p_of_1(talks, features):
    same = Annotated({"a": talks.systems["sys1"], "b": talks.systems["sys1"]}, talks.references)
    result = muler_scores(same, parse("chrf"), features)
    assert [score.p for score in result.scores if score.system == "b"] == [1.0] * len(features)


def test_an_unknown_feature_is_not_counted_in_the_correction(talks, features, result):
    more = muler_scores(
        talks, parse("bleu"), [*features, Feature("tags", "none")], preset=PRESETS["paper"]
    )
    pairs = zip(result.scores, more.scores, strict=False)
    assert all(a.p_bh == b.p_bh or math.isnan(a.p_bh) for a, b in pairs)
    assert math.isnan(more.scores[-1].p_bh)


def test_records_have_the_promised_keys_first_and_in_order(result):
    records = result.records()
    assert len(records) == 12
    for record in records:
        assert list(record)[: len(KEYS)] == KEYS
        assert set(record) - set(KEYS) == {
            *("uniqueness_ref", "uniqueness_sys", "per_sentence", "negative", "undefined"),
            *("p", "p_bh", "few", "approximate"),
        }
    assert records[0]["feature"] == result.features[0].name
    assert records[0]["kind"] == "tags"
    assert records[0]["resolved"] == "bleu:tok=none,smooth=none"


def test_unknown_figures_are_null_in_records():
    absent = muler_scores(SMALL, parse("bleu"), [Feature("tags", "X")])
    record = absent.records()[0]
    assert record["n"] == 0
    assert all(record[key] is None for key in ("plain", "oracle", "anti", "muler", "low", "under"))
    json.dumps(absent.records(), allow_nan=False)


def test_untested_there_are_scores_but_no_intervals_and_no_tests(talks, features):
    result = muler_scores(talks, parse("bleu"), features, tested=False)
    assert all(np.isfinite(score.muler) for score in result.scores)
    assert all(np.isnan([s.low, s.high, s.p, s.p_bh]).all() for s in result.scores)
    assert '"low"' not in json.dumps([chart.spec for chart in result.charts()])


@pytest.mark.parametrize("tested", [False, True])
@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("preset", PRESETS)
def test_results_render_in_every_format(count, preset, tested):
    names = [f"system {number}" for number in range(count)]
    both = list(SMALL.systems.values())
    systems = {name: both[number % 2] for number, name in enumerate(names)}
    features = [NOUN, VERB, NAME, Feature("tags", "X")]
    result = muler_scores(Annotated(systems, SMALL.references), parse("chrf"), features,
                   preset=PRESETS[preset], tested=tested)  # fmt: skip
    for format in FORMATS:
        shown = render(result, format)
        assert "NOUN" in shown
        assert all(name in shown for name in names)
    assert len(result.charts()) == (5 if count == 5 else 3)
    titles = [table.title for table in result.tables()]
    assert len(titles) == len(set(titles)) == count + 1 + (count > 1) + (count == 5)


def test_few_sentences_are_marked(talks, features):
    result = muler_scores(talks, parse("bleu"), tags_of(talks), tested=False)
    few = {score.feature.name for score in result.scores if score.n < FEW}
    assert few
    report = next(table for table in result.tables() if table.title.startswith("sys1"))
    marked = {row[0] for row in report.rows if row[-1] == "few"}
    assert marked == {s.feature.name for s in result.scores if s.n < FEW and s.system == "sys1"}
    assert f"fewer than {FEW} sentences" in report.note


def test_the_standard_report_has_the_hardest_feature_first_and_the_unknown_last():
    result = muler_scores(
        SMALL, parse("bleu"), [Feature("tags", "X"), NOUN, VERB, NAME], tested=False
    )
    report = next(table for table in result.tables() if table.title.startswith("first"))
    values = [row[2] for row in report.rows]
    known = [value for value in values if not math.isnan(value)]
    assert known == sorted(known, reverse=True)
    assert report.rows[-1][0] == "X"


def test_features_of_one_name_and_two_kinds_are_told_apart():
    text = tagged("a b", "X Y").with_layer("ner", tagged("a b", "X Y").layers["tags"])
    both = [Feature("tags", "X"), Feature("ner", "X")]
    result = muler_scores(Annotated({"s": [text]}, [(text,)]), parse("bleu"), both, tested=False)
    names = {row[0] for row in result.tables()[0].rows}
    assert names == {"tags:X", "ner:X"}


def test_correlations_over_systems_are_pearsons(talks, features):
    halves = {
        f"{name} {half}": [
            text if at % 2 == half else other
            for at, (text, other) in enumerate(
                zip(talks.systems[name], talks.systems["sys1"], strict=True)
            )
        ]
        for name in ("sys2", "sys1")
        for half in (0, 1)
    }
    result = muler_scores(
        Annotated(halves, talks.references), parse("bleu"), features, tested=False
    )
    table = next(t for t in result.tables() if t.title.startswith("Does MuLER follow"))
    for feature, row in zip(features, table.rows, strict=True):
        own = [score for score in result.scores if score.feature == feature]
        values = [each.muler for each in own]
        spread = stats.pearsonr(values, [each.oracle - each.anti for each in own])
        plain = stats.pearsonr(values, [each.plain for each in own])
        assert row[:3] == (feature.name, pytest.approx(spread[0]), pytest.approx(plain[0]))


def test_scores_of_the_result_are_those_of_the_obvious_way(talks, result):
    for score in result.scores[:2]:
        expected = figures(talks, score.feature, score.system, WAYS_BY_NAME["bleu paper"])
        assert score.per_sentence == pytest.approx(expected.per_sentence)
        assert (score.negative, score.undefined) == (expected.negative, expected.undefined)


def test_only_several_metrics_stand_in_the_titles():
    with tagged_demo() as (data, tags):
        one = muler(data, "bleu", "upos", tags=tags)
        two = muler(data, ["bleu", "chrf"], "upos", tags=tags)
    assert not any(table.title.startswith("BLEU") for table in one.tables())
    assert {table.title.partition(":")[0] for table in two.tables()} == {"BLEU", "chrF2"}
