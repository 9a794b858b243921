"""MuLER's p and interval hold what they say: a short form of the benchmark."""

import numpy as np
import pytest
from calibrations import muler
from calibrations.harness import coverage, null

from assay.decomposition.decompose import FEW, MANY
from assay.features.annotation import Feature

RUNS = 200


@pytest.fixture(scope="module")
def populations(shared):
    talks = muler.ted()
    cases = [("bleu", "corpus", "NN"), ("bleu", "paper", "JJ"), ("chrf", "corpus", "CD"),
             ("macrof", "corpus", "NN")]  # fmt: skip
    return [
        muler.Population.of(talks, metric, preset, Feature("tags", name))
        for metric, preset, name in cases
    ]


@pytest.mark.parametrize("case", range(4))
def test_p_rejects_a_true_null_no_more_often_than_it_says(populations, case):
    population, rng = populations[case], np.random.default_rng(1)
    for n in (FEW, 100):
        pairs = (population.sample(n, rng, swap=True) for _ in range(RUNS))
        row = null("", population.label, n, [muler.jackknife_test(pair) for pair in pairs])
        assert row.runs == RUNS
        assert 0 <= row.at_05 <= 0.09  # of 200 at 5 %: 10, and more than 18 in one of 200 runs


def test_the_bootstrap_that_was_rejects_in_half_of_the_cases_of_two_sentences(populations):
    population, rng = populations[0], np.random.default_rng(1)
    pairs = [population.sample(2, rng, swap=True) for _ in range(60)]
    length = population.spread(2)
    p = [muler.bootstrap_test(pair, length, rng) for pair in pairs if muler._is_known(pair)]
    assert np.mean(np.array(p) < 0.05) > 0.3


@pytest.mark.parametrize("case", range(4))
def test_intervals_of_many_sentences_hold_the_truth(populations, case):
    population, rng = populations[case], np.random.default_rng(2)
    samples = [population.sample(MANY, rng, swap=False)[0] for _ in range(RUNS)]
    values = [muler.MulerEstimate(parts).value for parts in samples]
    whole = muler.MulerEstimate(population.pair[0]).value
    truth = np.mean(values) if population.label.startswith("macrof") else whole
    row = coverage("", "", MANY, [muler.jackknife_limits(parts) for parts in samples], truth)
    assert row.coverage > 0.9  # of 200 at 95 %, fewer than 180 in one of 500 runs


def test_the_sign_test_of_judgements_is_exact():
    row = muler.judgement_row(40, 2000, np.random.default_rng(3))
    assert 0.02 < row.at_05 < 0.05
