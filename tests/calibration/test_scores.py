"""A short form of the simulations of score tests and intervals, on made-up systems.

Two systems translate texts with a Zipf-like vocabulary, each with its own errors; the long form
on real systems is `benchmarks/calibration.py scores`.
"""

from functools import cache

import numpy as np
import pytest
from calibrations.scores import Population, intervals_of, p_values_of

from assay.data import Segment
from assay.metrics.base import parse

SIZE = 4000
N = 150
RUNS = 200
NOISE = 3 * np.sqrt(0.05 * 0.95 / RUNS)
"""Three standard errors of a share of .05: what is off by chance stays within."""


def made_up(seed):
    """Segments of both systems, the first system's before the second's."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{number}" for number in range(30_000)])
    weights = 1 / np.arange(3, 30_003)
    lengths = rng.integers(6, 25, size=SIZE)
    references = [rng.choice(words, size=n, p=weights / weights.sum()) for n in lengths]
    segments = []
    for errors in (0.35, 0.3):
        for reference in references:
            wrong = rng.random(len(reference)) < errors * rng.random() * 2
            output = np.where(wrong, rng.choice(words[:3000], size=len(reference)), reference)
            segments.append(Segment(" ".join(output), (" ".join(reference),)))
    return segments


@pytest.fixture(scope="module")
def segments():
    return made_up(1)


def population(segments, name):
    metric = parse(name)
    if name.startswith("m"):
        return Population(metric, SIZE, segments)
    return Population(metric, SIZE, rows=metric.statistics(segments))


def usual_test(name):
    return "jackknife t-test" if name.startswith("m") else "paired bootstrap"


@pytest.fixture(scope="module")
def runs_of(segments):
    """The p of all tests in every run, where the two systems exchange their outputs."""

    @cache
    def runs(name):
        rng = np.random.default_rng(2)
        drawn = population(segments, name)
        return [p_values_of(drawn, N, rng, resamples=200, trials=200) for _ in range(RUNS)]

    return runs


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter", "microf", "macrof"])
def test_tests_find_nothing_where_nothing_is(runs_of, name):
    runs = runs_of(name)
    for test in (usual_test(name), "approximate randomisation"):
        share = np.mean([run[test] < 0.05 for run in runs])
        assert abs(share - 0.05) <= NOISE, test


def test_the_bootstrap_of_types_finds_too_much(runs_of):
    runs = runs_of("macrof")
    assert np.mean([run["paired bootstrap"] < 0.05 for run in runs]) > 0.05 + NOISE


@pytest.mark.parametrize("name", ["bleu", "ter", "macrof", "microf"])
def test_intervals_hold_the_truth(segments, name):
    rng = np.random.default_rng(3)
    drawn = population(segments, name)
    runs = [intervals_of(drawn, N, rng, resamples=300) for _ in range(RUNS)]
    kind = "jackknife" if name.startswith("m") else "bca"
    for figure in ("score", "difference"):
        value, low, high = np.array([run[f"{kind} interval of the {figure}"] for run in runs]).T
        truth = value.mean()
        for side in (truth < low, truth > high):
            assert np.mean(side) <= 0.025 + 3 * np.sqrt(0.025 / RUNS)
        assert 0.95 - NOISE <= np.mean((low <= truth) & (truth <= high)) <= 0.95 + NOISE
