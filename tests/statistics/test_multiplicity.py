"""The step-down max-T test, against loops, and how many resamples all pairs of systems get."""

import numpy as np
import pytest
from scipy import stats

from assay.data import DataError, Dataset
from assay.metrics.base import parse
from assay.metrics.mean import Mean
from assay.scoring.compute import score
from assay.scoring.report import ScoreOptions
from assay.statistics import significance
from assay.statistics.multiplicity import holm, step_down
from assay.statistics.significance import (
    all_pairs,
    bootstrap,
    paired_bootstrap,
    paired_randomisation,
)
from tests.corpora import texts


def slow_step_down(observed, resampled):
    """From the largest to the smallest: the rest's maximum in every resample."""
    order = sorted(range(len(observed)), key=lambda at: -observed[at])
    adjusted, least = {}, 0.0
    for step, at in enumerate(order):
        left = order[step:]
        reached = sum(max(row[k] for k in left) >= observed[at] for row in resampled)
        least = max(least, (reached + 1) / (len(resampled) + 1))
        adjusted[at] = least
    return [adjusted[at] for at in range(len(observed))]


def test_step_down_equals_looking_at_the_rest_each_time():
    rng = np.random.default_rng(1)
    observed = np.abs(rng.normal(size=12)) * 2
    resampled = np.abs(rng.normal(size=(99, 12)))
    blocks = [resampled[:40].T, resampled[40:].T]
    assert step_down(observed, blocks).tolist() == slow_step_down(observed, resampled)


def test_unknown_differences_stay_unknown_and_do_not_count():
    rng = np.random.default_rng(2)
    observed, resampled = np.abs(rng.normal(size=6)), np.abs(rng.normal(size=(6, 50)))
    without = step_down(observed[1:], [resampled[1:]])
    observed[0], resampled[0] = np.nan, 100.0
    found = step_down(observed, [resampled])
    assert np.isnan(found[0])
    assert found[1:].tolist() == without.tolist()


def systems(count, n, seed=1):
    """Segment scores of systems of which each is a little better than the one before."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=n)
    return [Mean("x").of(hard + rng.normal(size=n) + 0.1 * at) for at in range(count)]


@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
def test_the_adjusted_p_is_that_of_all_pairs_resampled_together(test, monkeypatch):
    monkeypatch.setattr(significance, "COMPARED", 50)  # a few resamples at a time
    own, pairs = systems(5, 120), all_pairs(5)
    scores = np.array([each.segments() for each in own])
    rng = np.random.default_rng(3)
    if test == "bootstrap":
        replicates = bootstrap(own, resamples=80, rng=np.random.default_rng(3))
        deltas = np.array([replicates[i] - replicates[j] for i, j in pairs])
        null = np.abs(deltas - deltas.mean(axis=1, keepdims=True))
        found = paired_bootstrap(own, pairs=pairs, resamples=80, rng=rng, correction="step-down")
    else:
        draws = np.random.default_rng(3).integers(2, size=(80, 120), dtype=bool)
        gaps = np.array([scores[i] - scores[j] for i, j in pairs])
        null = np.abs(gaps @ np.where(draws, 1, -1).T) / 120
        found = paired_randomisation(
            own, pairs=pairs, trials=80, resamples=0, rng=rng, correction="step-down"
        )
    gaps = np.array([scores[i] - scores[j] for i, j in pairs])
    if test == "bootstrap":
        # Student's t of the difference, at its place in the normal distribution of resamples.
        errors = gaps.std(axis=1) / np.sqrt(120)
        observed = stats.norm.isf(stats.ttest_1samp(gaps, 0, axis=1).pvalue / 2)
    else:
        errors = np.sqrt((gaps**2).mean(axis=1) / 120)
        observed = np.abs(gaps.mean(axis=1)) / errors
    expected = slow_step_down(observed, (null / errors[:, None]).T)
    assert [each.p_holm for each in found] == pytest.approx(expected)
    assert all(each.p_holm >= each.p for each in found)


def test_few_resamples_tell_many_systems_apart_where_holm_cannot():
    own = systems(30, 200)
    options = {"pairs": all_pairs(30), "resamples": 200}
    found = {
        correction: paired_bootstrap(
            own, **options, rng=np.random.default_rng(1), correction=correction
        )
        for correction in ("holm", "step-down")
    }
    assert min(each.p_holm for each in found["holm"]) == 1
    assert sum(each.p_holm < 0.05 for each in found["step-down"]) > 50
    assert [each.p for each in found["holm"]] == [each.p for each in found["step-down"]]


def test_equal_systems_have_p_1_and_unknown_ones_none():
    own = systems(4, 150)
    own.append(own[0])
    own.append(Mean("x").of(np.full(150, np.nan)))
    for test in (paired_bootstrap, paired_randomisation):
        found = test(
            own,
            pairs=all_pairs(6),
            resamples=60,
            rng=np.random.default_rng(1),
            correction="step-down",
            **({"trials": 60} if test is paired_randomisation else {}),
        )
        by_pair = {(each.first, each.second): each for each in found}
        assert (by_pair[0, 4].p, by_pair[0, 4].p_holm) == (1, 1)
        assert by_pair[0, 3].p <= by_pair[0, 3].p_holm == by_pair[3, 4].p_holm < 1
        assert np.isnan(by_pair[0, 5].p_holm)


def dataset_of(count):
    return Dataset({str(at): ("a",) for at in range(count)}, (("a",),))


@pytest.mark.parametrize(
    ("count", "test", "resamples", "trials", "correction"),
    [
        (19, "bootstrap", 6840, 10_000, "holm"),
        (22, "bootstrap", 9240, 10_000, "holm"),
        (23, "bootstrap", 10_000, 10_000, "step-down"),
        (22, "randomisation", 1000, 10_000, "holm"),
        (30, "randomisation", 1000, 10_000, "step-down"),
        (200, "randomisation", 1000, 1507, "step-down"),
        (400, "randomisation", 1000, 1000, "step-down"),
        (400, "bootstrap", 10_000, 1000, "step-down"),
        (400, "none", 1000, 1000, "holm"),
    ],
)
def test_resamples_are_bounded_however_many_systems(count, test, resamples, trials, correction):
    asked = ScoreOptions(test=test, all_pairs=True).filled(dataset_of(count))
    assert (asked.resamples, asked.trials, asked.correction) == (resamples, trials, correction)
    assert asked.filled(dataset_of(count)) == asked


def test_a_given_number_of_resamples_keeps_holm_where_it_can_be_reached():
    for given, correction in ((60, "holm"), (59, "step-down")):
        asked = ScoreOptions(test="bootstrap", all_pairs=True, resamples=given)
        assert asked.filled(dataset_of(3)).correction == correction
    sacrebleus = ScoreOptions(test="bootstrap", statistic="sacrebleu", all_pairs=True)
    assert sacrebleus.filled(dataset_of(50)).correction == "holm"


def test_the_result_says_how_p_was_corrected():
    outputs = {name: texts(120, system=name).hypotheses for name in ("atlas", "birch", "cedar")}
    references = texts(120).references
    for resamples, note in ((50, "corrected by step-down max-T"), (500, "after Holm")):
        result = score(
            outputs, references, ["chrf"], test="bootstrap", all_pairs=True, resamples=resamples
        )
        [table] = [table for table in result.tables() if "every pair" in table.title]
        assert note in table.note
        names = [getattr(column, "name", column) for column in table.columns]
        assert ("p (adjusted)" in names) == (resamples == 50)
        tests = {record["test"] for record in result.records() if record["test"]}
        assert tests == {
            f"paired bootstrap, {resamples} resamples{', step-down max-T' * (resamples == 50)}"
        }


def test_macrof_is_randomised_without_resamples_for_its_interval(monkeypatch):
    drawn = []
    usual = significance.bootstrap
    monkeypatch.setattr(
        significance,
        "bootstrap",
        lambda *given, resamples, rng: (
            drawn.append(resamples) or usual(*given, resamples=resamples, rng=rng)
        ),
    )
    metric = parse("macrof")
    together = metric.statistics(
        [s for name in ("atlas", "birch") for s in texts(110, system=name).segments()]
    )
    [found] = paired_randomisation(
        [together[:110], together[110:]], pairs=[(0, 1)], trials=50, rng=np.random.default_rng(1)
    )
    assert drawn == [0]
    assert found.low < found.difference < found.high


def test_holm_is_still_holm():
    with pytest.raises(DataError):
        paired_bootstrap([], pairs=[], rng=np.random.default_rng(1))
    assert holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
