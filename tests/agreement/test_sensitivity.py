"""Both stages of sensitivity equal SciPy and obvious loops, with intervals; gaps have reasons."""

import math

import numpy as np
import pytest
from scipy import stats

from assay.agreement.coefficients import COEFFICIENTS, EXACT, fisher_interval
from assay.agreement.sensitivity.analysis import (
    SensitivityOptions,
    sensitivity_of_studies,
)
from assay.agreement.sensitivity.stages import TextDraws, across_systems, over_texts, partial
from assay.agreement.sensitivity.study import deviations, documents_of, ratings_of, sections_of
from assay.data import DataError
from assay.metrics.base import parse
from assay.statistics.intervals import interval
from tests.agreement import studies

FEW = SensitivityOptions(resamples=50)
SCIPY = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
}


def found(study, **questions):
    """The records by metric and system."""
    records = sensitivity_of_studies(
        [study], SensitivityOptions(**{"resamples": 50} | questions)
    ).records()
    return {
        (record["metric"], record["system"]): record for record in records if "system" in record
    }


def slow_scores(texts, metric, values):
    """Each text's score of the rated segments, computed from their lines alone."""
    names = list(dict.fromkeys(texts.documents))
    scores = np.full((len(texts.systems), len(names)), np.nan)
    humans = scores.copy()
    for s, system in enumerate(texts.systems):
        segments = texts.segments(system)
        for t, name in enumerate(names):
            rated = [
                at
                for at, label in enumerate(texts.documents)
                if label == name and not math.isnan(values[s, at])
            ]
            if rated:
                chosen = [segments[at] for at in rated]
                scores[s, t] = parse(metric).statistics(chosen).corpus()
                humans[s, t] = np.mean([values[s, at] for at in rated])
    return scores, humans


@pytest.mark.parametrize("metric", ["bleu", "chrf", "macrof"])
@pytest.mark.parametrize("name", SCIPY)
def test_both_stages_equal_scipy_on_scores_of_the_rated_segments(name, metric):
    texts = studies.dataset()
    values = studies.ratings(texts, missing=0.3)
    scores, humans = slow_scores(texts, metric, values)
    ours = found(
        studies.study(texts, values, metrics=[metric]), coefficient=COEFFICIENTS.parse(name)
    )
    slow = []
    for s, system in enumerate(texts.systems):
        known = ~np.isnan(scores[s])
        theirs = SCIPY[name](scores[s][known], humans[s][known])
        slow.append(theirs.statistic)
        assert ours[metric, system]["sensitivity"] == pytest.approx(theirs.statistic, abs=1e-12)
        if len(scores[s][known]) > EXACT or name == "pearson":
            assert ours[metric, system]["p"] == pytest.approx(theirs.pvalue)
        assert ours[metric, system]["quality"] == pytest.approx(np.nanmean(values[s]))
        assert ours[metric, system]["spread"] == pytest.approx(humans[s][known].std(ddof=1))
    second = SCIPY[name](slow, np.nanmean(values, axis=1))
    assert ours[metric, None]["sensitivity"] == pytest.approx(second.statistic, abs=1e-12)
    if name != "pearson":  # of six systems, all orders
        second = stats.permutation_test(
            (slow,),
            lambda order: SCIPY[name](order, np.nanmean(values, axis=1)).statistic,
            permutation_type="pairings",
            n_resamples=np.inf,
        )
    assert ours[metric, None]["p"] == pytest.approx(second.pvalue)


def test_the_system_correlation_is_of_all_segments_rated_or_not():
    texts = studies.dataset()
    values = studies.ratings(texts, missing=0.3)
    corpora = [
        parse("bleu").statistics(texts.segments(system)).corpus() for system in texts.systems
    ]
    theirs = stats.pearsonr(corpora, np.nanmean(values, axis=1))
    ours = found(studies.study(texts, values))["bleu", None]
    assert ours["agreement"] == pytest.approx(theirs.statistic)
    assert ours["agreement_p"] == pytest.approx(theirs.pvalue)


def test_a_metric_of_errors_is_turned_round():
    study = studies.study(metrics=["ter", "chrf"])
    ours = found(study)
    assert ours["ter", None]["agreement"] > 0.5
    assert ours["chrf", None]["agreement"] > 0.5


def test_resampled_sensitivities_equal_a_loop_over_draws():
    rng = np.random.default_rng(3)
    metric, human = rng.normal(size=(2, 4, 12))
    human[rng.random(human.shape) < 0.3] = np.nan
    draws = rng.integers(0, 12, (25, 12))
    for name, theirs in SCIPY.items():
        coefficient = COEFFICIENTS.parse(name)
        ours = over_texts(metric, human, coefficient, draws)
        for b, drawn in enumerate(draws):
            for s in range(4):
                known = ~np.isnan(human[s][drawn])
                x, y = metric[s][drawn][known], human[s][drawn][known]
                assert ours[b, s] == pytest.approx(theirs(x, y).statistic, abs=1e-9)


def test_correlations_over_systems_equal_scipy_and_need_three():
    rng = np.random.default_rng(4)
    values, quality = rng.normal(size=(2, 10, 5))
    values[0, :3] = np.nan
    ours = across_systems(values, quality, FEW.coefficient)
    assert math.isnan(ours[0])
    for b in range(1, 10):
        assert ours[b] == pytest.approx(stats.pearsonr(values[b], quality[b]).statistic)


def test_the_intervals_of_the_first_stage_are_those_of_the_loops():
    study = studies.study(metrics=["chrf"])
    (candidate,), people = study.candidates, study.human
    draws = TextDraws.of(len(study.texts), 50, rng=np.random.default_rng(12345))
    sens, without = [], []
    for drawn in draws.texts:
        x, y = candidate.scores[2][drawn], people.scores[2][drawn]
        sens.append(stats.pearsonr(x[~np.isnan(x)], y[~np.isnan(x)]).statistic)
    for t in range(len(study.texts)):
        x, y = (np.delete(each[2], t) for each in (candidate.scores, people.scores))
        without.append(stats.pearsonr(x[~np.isnan(x)], y[~np.isnan(x)]).statistic)
    ours = found(study)["chrf", "s2"]
    first = interval(ours["sensitivity"], np.array(sens), jackknife=np.array(without))
    assert (ours["low"], ours["high"]) == pytest.approx(first[:2])


def test_the_intervals_over_systems_are_scipys_by_fishers_z():
    study = studies.study(metrics=["chrf"])
    ours = found(study)
    systems = [ours["chrf", name] for name in study.systems]
    pairs = zip(*((record["sensitivity"], record["quality"]) for record in systems), strict=True)
    theirs = stats.pearsonr(*pairs).confidence_interval(0.95)
    second = ours["chrf", None]
    assert (second["low"], second["high"]) == pytest.approx((theirs.low, theirs.high), rel=1e-6)
    given = math.atanh(second["given_spread"]), 1.959964 / math.sqrt(6 - 4)
    assert second["given_spread_low"] == pytest.approx(math.tanh(given[0] - given[1]), rel=1e-5)


@pytest.mark.parametrize("name", ["spearman", "kendall"])
def test_a_perfect_order_of_systems_has_no_interval(name):
    low, high = fisher_interval(COEFFICIENTS.parse(name), 1.0, 6)
    assert math.isnan(low)
    assert math.isnan(high)


def test_the_difference_of_two_second_stages_has_zous_interval():
    """Written out for 6 systems."""
    study = studies.study(metrics=["bleu", "chrf"])
    ours = found(study)
    a, b, q = (
        [ours[metric, name][key] for name in study.systems]
        for metric, key in (("chrf", "sensitivity"), ("bleu", "sensitivity"), ("bleu", "quality"))
    )
    r1, r2, r12 = (stats.pearsonr(x, y).statistic for x, y in ((a, q), (b, q), (a, b)))
    (l1, u1), (l2, u2) = (
        (math.tanh(math.atanh(r) - 1.959964 / 3**0.5), math.tanh(math.atanh(r) + 1.959964 / 3**0.5))
        for r in (r1, r2)
    )
    c = ((r12 - r1 * r2 / 2) * (1 - r1**2 - r2**2 - r12**2) + r12**3) / ((1 - r1**2) * (1 - r2**2))
    low = r1 - r2 - ((r1 - l1) ** 2 + (u2 - r2) ** 2 - 2 * c * (r1 - l1) * (u2 - r2)) ** 0.5
    high = r1 - r2 + ((u1 - r1) ** 2 + (r2 - l2) ** 2 - 2 * c * (u1 - r1) * (r2 - l2)) ** 0.5
    second = ours["chrf", None]
    assert (second["difference_low"], second["difference_high"]) == pytest.approx((low, high))


def test_the_partial_correlation_is_that_of_the_residuals():
    rng = np.random.default_rng(5)
    x, y, z = rng.normal(size=(3, 30))
    x, y = x + z, y - z
    left = [each - np.polyval(np.polyfit(z, each, 1), z) for each in (x, y)]
    r = [np.array(stats.pearsonr(a, b).statistic) for a, b in ((x, y), (x, z), (z, y))]
    assert partial(*r) == pytest.approx(stats.pearsonr(*left).statistic)
    assert np.isnan(partial(np.array(0.5), np.array(1.0), np.array(0.5)))


def test_the_dependence_given_spread_is_the_partial_correlation():
    study = studies.study(metrics=["bleu"])
    ours = found(study)
    systems = [ours["bleu", name] for name in study.systems]
    s, q, z = (
        np.array([system[key] for system in systems])
        for key in ("sensitivity", "quality", "spread")
    )
    left = [each - np.polyval(np.polyfit(z, each, 1), z) for each in (s, q)]
    second = ours["bleu", None]
    assert second["given_spread"] == pytest.approx(stats.pearsonr(*left).statistic)
    assert second["given_spread_low"] <= second["given_spread_high"]


def test_systems_far_from_the_rest_are_left_out_beside():
    texts = studies.dataset()
    values = studies.ratings(texts)
    values[4] -= 30
    study = studies.study(texts, values)
    ours = found(study)
    rest = [ours["bleu", name] for name in study.systems if name != "s4"]
    pairs = [(record["sensitivity"], record["quality"]) for record in rest]
    theirs = stats.pearsonr(*zip(*pairs, strict=True))
    assert ours["bleu", None]["without_outliers"] == pytest.approx(theirs.statistic)
    assert ours["bleu", None]["without_outliers_p"] == pytest.approx(theirs.pvalue)
    assert (ours["bleu", None]["without_outliers_n"], ours["bleu", None]["n"]) == (5, 6)
    note = sensitivity_of_studies([study], FEW).tables()[0].note
    assert "without outliers: the same without s4, whose quality is far" in note
    assert found(studies.study())["bleu", None]["without_outliers"] is None


def test_the_spread_of_one_text_is_unknown():
    assert np.isnan(deviations(np.array([1.0, np.nan])))


def test_metrics_are_compared_with_the_first():
    study = studies.study(metrics=["bleu", "chrf"])
    second = found(study)["chrf", None]
    first = found(study)["bleu", None]
    assert second["compared_with"] == "bleu"
    assert second["difference"] == pytest.approx(second["sensitivity"] - first["sensitivity"])
    assert second["difference_low"] < second["difference"] < second["difference_high"]
    assert first["compared_with"] is first["difference"] is None


def test_the_same_seed_gives_the_same_and_another_seed_other_intervals():
    study = studies.study()
    first, again, other = (
        sensitivity_of_studies([study], FEW, seed=each).records() for each in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert [record["sensitivity"] for record in first] == [
        record["sensitivity"] for record in other
    ]


def test_asking_more_does_not_change_the_two_stages():
    study = studies.study()
    more = SensitivityOptions(resamples=50, best=True, sizes=(), slope="s0")
    plain, rich = (sensitivity_of_studies([study], each).records() for each in (FEW, more))
    assert rich[: len(plain)] == plain


def test_sections_cut_the_test_set_in_equal_parts_and_the_rest_joins_the_last():
    texts = studies.dataset()
    sections = sections_of(texts, 10)
    counts = [sections.labels.count(name) for name in sections.names]
    assert counts[:-1] == [10] * (len(texts) // 10 - 1)
    assert counts[-1] == 10 + len(texts) % 10
    assert sections.words.sum() == sum(len(line.split()) for (line,) in texts.references)
    assert sections_of(texts, 10_000).names == ("1",)


def test_sections_of_one_segment_are_the_segments():
    texts = studies.dataset()
    values = studies.ratings(texts)
    scores = parse("chrf").statistics(texts.segments("s1")).segments()
    known = ~np.isnan(values[1])
    ours = found(studies.study(texts, values, section=1))["chrf", "s1"]
    theirs = stats.pearsonr(scores[known], values[1][known]).statistic
    assert ours["sensitivity"] == pytest.approx(theirs)
    assert ours["n"] == known.sum()


def test_scores_of_documents_stand_for_their_whole_text():
    texts = studies.dataset()
    names = tuple(dict.fromkeys(texts.documents))
    values = np.random.default_rng(1).normal(size=(6, len(names)))
    values[2, 0] = np.nan
    study = studies.study(texts, human=[studies.scores(texts, values, level="document")])
    whole = [
        parse("bleu")
        .statistics(
            [
                segment
                for segment, label in zip(texts.segments("s2"), texts.documents, strict=True)
                if label == name
            ]
        )
        .corpus()
        for name in names
    ]
    theirs = stats.pearsonr(whole[1:], values[2, 1:]).statistic
    ours = found(study)["bleu", "s2"]
    assert ours["sensitivity"] == pytest.approx(theirs)
    assert ours["quality"] == pytest.approx(np.nanmean(values[2]))


def test_scores_of_systems_are_their_quality_where_given():
    texts = studies.dataset()
    segments = studies.scores(texts, studies.ratings(texts))
    systems = studies.scores(texts, np.arange(6.0)[:, None], level="system")
    study = studies.study(texts, human=[segments, systems])
    assert study.human.quality.tolist() == list(range(6))
    assert study.human.quality_on(np.ones((2, 9))).tolist() == [list(range(6))] * 2
    assert "quality: da.system." in study.notes


def test_scores_of_systems_alone_say_what_is_needed():
    texts = studies.dataset()
    systems = studies.scores(texts, np.zeros((6, 1)), level="system")
    with pytest.raises(DataError, match=r"scores of segments \(a column line\) or documents"):
        ratings_of([systems], documents_of(texts))


def test_scores_of_documents_do_not_fit_sections():
    texts = studies.dataset()
    documents = studies.scores(texts, np.zeros((6, 9)), level="document")
    with pytest.raises(DataError, match="sections are cut out of documents"):
        ratings_of([documents], sections_of(texts, 5))


def test_without_documents_the_error_names_both_ways_out():
    texts = studies.dataset()
    bare = type(texts)(systems=texts.systems, references=texts.references)
    with pytest.raises(DataError, match=r"sections of N segments \(section\).*documents=\.\.\."):
        documents_of(bare)


def test_a_system_nobody_rated_has_a_reason_and_the_others_their_values():
    texts = studies.dataset()
    values = studies.ratings(texts)
    values[3] = np.nan
    ours = found(studies.study(texts, values))
    assert ours["bleu", "s3"]["sensitivity"] is ours["bleu", "s3"]["quality"] is None
    assert ours["bleu", "s3"]["reason"] == "people rated none of its texts"
    assert ours["bleu", None]["n"] == 5
    assert ours["bleu", None]["sensitivity"] is not None


def test_one_document_has_no_sensitivity_and_says_so():
    texts = studies.dataset(documents=1)
    ours = found(studies.study(texts))
    assert {record["sensitivity"] for record in ours.values()} == {None}
    assert "only 1 scores" in ours["bleu", "s0"]["reason"]
    assert ours["bleu", None]["agreement"] is not None


@pytest.mark.parametrize("name", SCIPY)
def test_constant_human_scores_have_no_correlation(name):
    texts = studies.dataset()
    ours = found(
        studies.study(texts, np.ones((6, len(texts)))), coefficient=COEFFICIENTS.parse(name)
    )
    assert ours["bleu", "s0"]["sensitivity"] is None
    assert ours["bleu", "s0"]["reason"] == "all human scores are equal"
    assert ours["bleu", None]["reason"]
    assert ours["bleu", None]["agreement"] is ours["bleu", None]["tendency"] is None


def test_a_constant_metric_has_no_correlation():
    texts = studies.dataset()
    same = {name: tuple(line for (line,) in texts.references) for name in texts.systems}
    texts = type(texts)(same, texts.references, documents=texts.documents)
    ours = found(studies.study(texts))
    assert ours["bleu", "s0"]["reason"] == "all metric scores are equal"
    assert ours["bleu", None]["sensitivity"] is None


@pytest.mark.parametrize(("systems", "value", "low"), [(2, False, False), (3, True, False)])
def test_few_systems_have_no_interval_and_two_no_value(systems, value, low):
    texts = studies.dataset(systems=systems)
    study = studies.study(texts)
    second = found(study)["bleu", None]
    assert (second["sensitivity"] is not None, second["low"] is not None) == (value, low)
    note = sensitivity_of_studies([study], FEW).tables()[0].note
    assert f"With {systems} systems nothing can be concluded" in note


def test_only_correlations_measure_sensitivity():
    for name in ("accuracy", "acc-eq", "wmt"):
        with pytest.raises(DataError, match="sensitivity is a correlation"):
            SensitivityOptions(coefficient=COEFFICIENTS.parse(name))
