"""Which of two metrics agrees better: swaps one by one, Williams by hand, soft accuracy."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from assay.agreement import swaps
from assay.agreement.agree import (
    agree,
    compare_metrics,
    confidences,
    confidences_of_corpora,
    permutation_p,
    williams,
)
from assay.agreement.coefficients import COEFFICIENTS, SoftPairwiseAccuracy
from assay.data import DataError
from assay.metrics.base import parse
from assay.metrics.mean import Mean
from tests.agreement import obvious
from tests.corpora import texts


def metrics(seed=1, shape=(6, 15), *, missing=0.0):
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 4, shape).astype(float)
    first = human + rng.normal(size=shape)
    second = np.round(human + rng.normal(size=shape) * 2)
    human[rng.random(shape) < missing] = np.nan
    return first, second, human


@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize("by", ["none", "item", "system"])
@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall", "wmt", "accuracy", "acc-eq"])
def test_a_permutation_test_equals_swapping_one_by_one(name, by, missing, monkeypatch):
    monkeypatch.setattr(swaps, "SCORES_AT_ONCE", 4 * 90)  # blocks of four trials
    first, second, human = metrics(missing=missing)
    coefficient, trials = COEFFICIENTS.parse(name), 30
    known = np.where(np.isnan(human), np.nan, 1.0)
    a, b = obvious.standardise(first * known), obvious.standardise(second * known)

    def gap(x, y):
        values = [agree(each, human, coefficient, by=by).value for each in (x, y)]
        return values[0] - values[1]

    rng = np.random.default_rng(7)
    # All systems change places together on an item.
    masks = [np.tile(rng.random(human.shape[1]) < 0.5, (len(human), 1)) for _ in range(trials)]
    deltas = [gap(*obvious.swapped(a, b, mask)) for mask in masks]
    slow = (sum(abs(d) >= abs(gap(a, b)) - 1e-12 for d in deltas) + 1) / (trials + 1)
    ours = permutation_p(
        first, second, human, coefficient, by=by, trials=trials, rng=np.random.default_rng(7)
    )
    assert ours == pytest.approx(slow, abs=1e-12)


def test_a_metric_is_not_better_than_itself():
    first, _, human = metrics()
    p = permutation_p(
        first, first, human, COEFFICIENTS.parse("kendall"), by="item", rng=np.random.default_rng(1)
    )
    assert p == 1


def test_a_metric_that_knows_nothing_is_told_apart_from_one_that_knows_all():
    first, _, human = metrics(2, (10, 50))
    noise = np.random.default_rng(9).normal(size=human.shape)
    scores = {"noise": noise, "good": first, "same": first + 1e-12}
    found = compare_metrics(
        scores,
        human,
        COEFFICIENTS.parse("acc-eq"),
        by="item",
        trials=200,
        rng=np.random.default_rng(1),
    )
    assert found.clusters == (2, 1, 1)
    assert found.p[1, 0] == pytest.approx(1 / 201)
    assert np.isnan(found.p[0, 1])


def test_no_trials_are_refused():
    first, second, human = metrics()
    with pytest.raises(DataError, match="give at least 1"):
        permutation_p(
            first,
            second,
            human,
            COEFFICIENTS.parse("pearson"),
            trials=0,
            rng=np.random.default_rng(1),
        )


def test_williams_test_equals_the_formula_with_scipys_distribution():
    r12, r13, r23, n = 0.93, 0.84, 0.88, 16
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    root = math.sqrt(
        ((n - 1) * (1 + r23)) / (2 * k * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3)
    )
    expected = 2 * stats.t.sf((r12 - r13) * root, n - 3)
    assert williams(r12, r13, r23, n) == pytest.approx(expected, abs=1e-12)
    assert williams(r13, r12, r23, n) == pytest.approx(expected, abs=1e-12)
    assert williams(0.5, 0.5, 0.3, 10) == pytest.approx(1)


def test_a_test_is_two_sided_whichever_metric_comes_first():
    first, second, human = metrics(shape=(6, 15))
    one, other = (
        permutation_p(*sides, human, COEFFICIENTS.parse("pearson"), rng=np.random.default_rng(1))
        for sides in ((first, second), (second, first))
    )
    assert one == other


@pytest.mark.parametrize("values", [(0.9, 0.8, 0.7, 3), (math.nan, 0.8, 0.7, 30)])
def test_williams_test_of_too_little_is_unknown(values):
    assert math.isnan(williams(*values))


def test_identical_metrics_that_are_perfect_are_not_told_apart():
    assert williams(1.0, 1.0, 1.0, 10) == 1.0


def test_confidence_equals_permuting_one_pair_after_another():
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 5, (4, 12)).astype(float)
    scores[1, 3] = np.nan
    ours = confidences(scores, trials=64, rng=np.random.default_rng(5))
    signs = np.where(np.random.default_rng(5).random((64, 12)) < 0.5, -1, 1)
    for found, (i, j) in zip(ours, combinations(range(4), 2), strict=True):
        gaps = [(at, a - b) for at, (a, b) in enumerate(zip(scores[i], scores[j], strict=True))]
        gaps = [(at, gap) for at, gap in gaps if not np.isnan(gap)]
        observed = sum(gap for _, gap in gaps)
        trials = [sum(sign[at] * gap for at, gap in gaps) for sign in signs]
        share = sum(t < observed for t in trials) + sum(t == observed for t in trials) / 2
        assert found == pytest.approx(share / 64, abs=1e-12)


def test_confidence_of_a_corpus_metric_equals_that_of_its_segments_where_it_is_their_mean():
    rng = np.random.default_rng(4)
    scores = rng.random((3, 30))
    systems = [Mean("x").of(each) for each in scores]
    corpora = confidences_of_corpora(
        systems, np.ones((3, 30), bool), trials=300, rng=np.random.default_rng(6)
    )
    segments = confidences(scores, trials=300, rng=np.random.default_rng(6))
    # Swapping turns the difference's sign where the mask is True: the same mask, the same trials.
    assert corpora == pytest.approx(segments, abs=1e-12)


def test_confidence_of_bleu_swaps_whole_segments():
    metric = parse("bleu")
    systems = [metric.statistics(texts(12, system=n).segments()) for n in ("atlas", "cedar")]
    found = confidences_of_corpora(
        systems, np.ones((2, 12), bool), trials=200, rng=np.random.default_rng(1)
    )
    swaps = np.random.default_rng(1).random((200, 12)) < 0.5
    deltas = []
    for mask in swaps:
        one = np.where(mask[:, None], systems[1].rows, systems[0].rows).sum(axis=0)
        other = np.where(mask[:, None], systems[0].rows, systems[1].rows).sum(axis=0)
        deltas.append(metric.aggregate(one[None])[0] - metric.aggregate(other[None])[0])
    observed = systems[0].corpus() - systems[1].corpus()
    slow = np.mean([(d < observed - 1e-9) + 0.5 * (abs(d - observed) <= 1e-9) for d in deltas])
    assert found[0] == pytest.approx(slow, abs=1e-12)


def test_soft_accuracy_is_one_less_the_mean_distance():
    metric, human = np.array([0.9, 0.2, np.nan]), np.array([1.0, 0.5, 0.3])
    found = agree(metric[:, None], human[:, None], SoftPairwiseAccuracy())
    assert found.value == pytest.approx(1 - (0.1 + 0.3) / 2)
    assert found.chance == pytest.approx(1 - (0.5 + 0.0) / 2)
    assert found.n == 2


def test_soft_accuracy_of_nothing_has_a_reason():
    found = agree(np.array([[np.nan]]), np.array([[0.5]]), SoftPairwiseAccuracy())
    assert math.isnan(found.value)
    assert found.reason == "no pair of systems can be compared"
