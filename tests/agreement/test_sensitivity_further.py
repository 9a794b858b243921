"""The best systems, sizes of text and slopes equal obvious loops; tables and charts show them."""

import json
import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from assay.agreement.sensitivity.analysis import (
    SensitivityOptions,
    sensitivity_of_studies,
)
from assay.agreement.sensitivity.stages import SizeAgreement, reached, usual_sizes
from assay.agreement.sensitivity.study import documents_of, imported, text_scores
from assay.data import DataError, Scores
from assay.metrics.base import parse
from tests.agreement import studies

ALL = SensitivityOptions(resamples=40, best=True, sizes=(), slope="s1")


@pytest.fixture(scope="module")
def study():
    return studies.study(metrics=["bleu", "macrof"])


def records(study, question, **questions):
    result = sensitivity_of_studies([study], SensitivityOptions(resamples=40, **questions))
    return [each for each in result.records() if each.get("question") == question]


def corpora(texts, metric, systems):
    return [parse(metric).statistics(texts.segments(system)).corpus() for system in systems]


def test_the_best_k_are_those_that_people_like_best(study):
    texts = studies.dataset()
    order = [study.systems[at] for at in np.argsort(-study.human.quality)]
    found = [record for record in records(study, "best", best=True) if record["metric"] == "bleu"]
    assert [record["k"] for record in found] == [6, 5, 4, 3]
    assert [record["last"] for record in found] == [order[k - 1] for k in (6, 5, 4, 3)]
    for record in found:
        top = order[: record["k"]]
        human = [study.human.quality[study.systems.index(name)] for name in top]
        theirs = stats.pearsonr(corpora(texts, "bleu", top), human)
        assert record["agreement"] == pytest.approx(theirs.statistic)
        assert record["agreement_p"] == pytest.approx(theirs.pvalue)
        assert record["agreement_low"] <= record["agreement_high"]


def test_any_k_systems_lie_where_all_choices_of_k_lie(study):
    texts = studies.dataset()
    found = records(study, "best", best=True)
    own, human = np.array(corpora(texts, "bleu", study.systems)), study.human.quality
    for record in found[:4]:
        values = [
            stats.pearsonr(own[list(some)], human[list(some)]).statistic
            for some in combinations(range(6), record["k"])
        ]
        assert min(values) - 1e-9 <= record["random_low"] <= record["typical"]
        assert record["typical"] <= record["random_high"] <= max(values) + 1e-9
    assert found[0]["typical"] == pytest.approx(found[0]["agreement"])


def test_an_unrated_system_is_not_among_the_best():
    texts = studies.dataset()
    values = studies.ratings(texts)
    values[0] = np.nan
    found = records(studies.study(texts, values), "best", best=True)
    assert found[0]["k"] == 5
    assert "s0" not in {record["last"] for record in found}


def test_sizes_equal_a_loop_over_draws(study):
    texts = studies.dataset()
    total = int(study.texts.words.sum())
    found = [
        record
        for record in records(study, "size", sizes=(60, total))
        if record["metric"] == "macrof"
    ]
    orders = np.random.default_rng(12345).permuted(np.tile(np.arange(9), (200, 1)), axis=1)
    values, counts, sizes = [], [], []
    for order in orders[:200]:
        chosen, words = [], 0
        for text in order:
            if words >= 60:
                break
            chosen.append(study.texts.names[text])
            words += study.texts.words[text]
        places = [at for at, label in enumerate(texts.documents) if label in chosen]
        own = [
            parse("macrof").statistics([texts.segments(name)[at] for at in places]).corpus()
            for name in study.systems
        ]
        values.append(stats.pearsonr(own, study.human.quality).statistic)
        counts.append(len(chosen))
        sizes.append(words)
    first, last = found
    assert first["value"] == pytest.approx(np.median(values))
    assert [first["low"], first["high"]] == pytest.approx(np.quantile(values, [0.025, 0.975]))
    assert first["most"] == pytest.approx(np.quantile(values, 0.05))
    assert first["texts"] == pytest.approx(np.mean(counts))
    assert first["actual"] == pytest.approx(np.mean(sizes))
    whole = stats.pearsonr(corpora(texts, "macrof", study.systems), study.human.quality)
    assert last["value"] == last["low"] == last["high"] == pytest.approx(whole.statistic)


def test_usual_sizes_are_round_and_end_with_all_words(study):
    sizes = usual_sizes(replace(study.texts, words=np.array([8000.0, 11_999.0])))
    assert sizes == (200, 300, 500, 700, 1000, 2000, 3000, 5000, 7000, 10_000, 19_999)


def test_more_words_than_there_are_is_an_error(study):
    with pytest.raises(DataError, match="the test set has"):
        records(study, "size", sizes=(10_000_000,))


@pytest.mark.parametrize(
    ("values", "half"),
    [([0.2, 0.9, 0.9], 200), ([0.9, 0.2, 0.9], 300), ([0.9, 0.9, 0.2], None), ([0.9] * 3, 100)],
)
def test_a_level_is_reached_where_the_agreement_stays_there(values, half):
    sizes = [
        SizeAgreement(100 * at, at, 100, value, value, value, value - 0.3)
        for at, value in enumerate(values, 1)
    ]
    assert reached(sizes, 0.8).half == half
    assert reached(sizes, 0.8).most is None
    assert reached(sizes, 2.0).half is None
    assert not reached([sizes[0]._replace(value=math.nan)], 0.1).half


@pytest.mark.parametrize("metric", ["bleu", "macrof"])
def test_slopes_equal_scipys_regression(study, metric):
    found = [record for record in records(study, "slope", slope="s1") if record["metric"] == metric]
    assert [record["system"] for record in found] == ["s0", "s2", "s3", "s4", "s5"]
    candidate = next(each for each in study.candidates if each.name == metric)
    scores = text_scores(candidate, study.texts)
    for record in found:
        own = scores[study.systems.index(record["system"])]
        theirs = stats.linregress(scores[1], own)
        assert record["slope"] == pytest.approx(theirs.slope)
        assert record["intercept"] == pytest.approx(theirs.intercept)
        assert record["r"] == pytest.approx(theirs.rvalue)
        assert record["low"] <= record["high"]
        assert (record["n"], record["reference"], record["reason"]) == (9, "s1", None)


def test_texts_are_scored_whole_for_slopes(study):
    texts = studies.dataset()
    segments = texts.segments("s2")
    own = [
        parse("bleu")
        .statistics(
            [segment for segment, d in zip(segments, texts.documents, strict=True) if d == name]
        )
        .corpus()
        for name in study.texts.names
    ]
    assert text_scores(study.candidates[0], study.texts)[2] == pytest.approx(own)


def test_a_perfect_reference_system_has_no_slope_and_a_reason():
    texts = studies.dataset()
    perfect = tuple(line for (line,) in texts.references)
    texts = replace(texts, systems=dict(texts.systems) | {"s1": perfect})
    found = records(studies.study(texts), "slope", slope="s1")
    assert {record["slope"] for record in found} == {None}
    assert found[0]["reason"] == "the reference system has the same score on all texts"


def test_an_unknown_reference_system_is_an_error(study):
    with pytest.raises(DataError, match=r"no such system \(did you mean 's\d'\?\)"):
        records(study, "slope", slope="s9")


def test_everything_asked_has_its_table_and_its_chart(study):
    result = sensitivity_of_studies([study], ALL)
    titles = [table.title for table in result.tables()]
    assert titles == [
        "Does sensitivity depend on quality? (da)",
        "Sensitivity of each system (da)",
        "Does sensitivity depend on quality otherwise than that of BLEU?",
        "Agreement among the best systems: BLEU (da)",
        "Agreement among the best systems: MacroF1 (da)",
        "Agreement by size of text (da)",
        "Words until a metric's ranking agrees with people's, 0.8 and more",
        "Difficulty slope against s1",
    ]
    charts = result.charts()
    assert len(charts) == 2 + 1 + 1 + 2
    assert {each.after for each in charts} <= set(titles)
    for chart in charts:
        json.dumps(chart.spec, allow_nan=False)


def test_figures_have_a_bar_for_every_system_that_has_a_sensitivity():
    texts = studies.dataset()
    values = studies.ratings(texts)
    values[3] = np.nan
    chart = sensitivity_of_studies([studies.study(texts, values)], ALL).charts()[0]
    points = chart.spec["data"]["values"]
    assert [record["label"] for record in points] == ["s0", "s1", "s2", "s4", "s5"]
    assert all(record["low"] < record["y"] < record["high"] for record in points)


def test_the_first_table_tells_what_becomes_of_sensitivity(study):
    table = sensitivity_of_studies([study], ALL).tables()[0]
    assert [row[1] for row in table.rows[:3]] == ["system", "sensitivity", "given spread"]
    assert table.rows[1][-1] in {"falls", "rises", "cannot tell"}
    assert all(len(row) == len(table.headings) for row in table.rows)


def test_the_systems_stand_in_the_order_of_their_quality(study):
    table = sensitivity_of_studies([study], ALL).tables()[1]
    order = [study.systems[at] for at in np.argsort(-study.human.quality)]
    assert [row[0] for row in table.rows] == [*order, "mean"]


def test_given_scores_are_averaged_over_the_rated_segments():
    texts = studies.dataset()
    values = studies.ratings(texts, missing=0.3)
    own = np.random.default_rng(7).random((6, len(texts)))
    items = tuple(map(str, range(1, len(texts) + 1)))
    scores = Scores("comet", "segment", tuple(texts.systems), items, own)
    study = studies.study(texts, values)
    parts = documents_of(texts)
    given = type(study).of(list(texts.systems), parts, study.human, [imported(scores)])
    text = np.array(texts.documents) == "d3"
    rated = text & ~np.isnan(values[2])
    assert given.candidates[0].scores[2, 3] == pytest.approx(own[2, rated].mean())
    assert given.candidates[0].name == "comet"


def test_given_errors_are_turned_round_on_request_or_by_name():
    texts = studies.dataset()
    study = studies.study(texts)
    items = tuple(map(str, range(1, len(texts) + 1)))
    for name, lower, turned in (("x", (), False), ("x", ("x",), True), ("ter", (), True)):
        scores = Scores(name, "segment", study.systems, items, np.ones((6, len(texts))))
        again = type(study).of(
            study.systems, study.texts, study.human, [imported(scores)], lower=lower
        )
        assert again.candidates[0].lower is turned


def test_one_resample_is_enough_and_none_is_not():
    assert SensitivityOptions(resamples=1).resamples == 1
    with pytest.raises(DataError, match="at least 1"):
        SensitivityOptions(resamples=0)
