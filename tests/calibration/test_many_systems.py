"""A short form of the simulations of all pairs of many systems, on made-up segment scores.

The long form on real systems is `benchmarks/calibration.py scores`.
"""

import numpy as np
import pytest
from calibrations.scores import p_of_all

from assay.metrics.mean import Mean
from assay.statistics.significance import all_pairs

SYSTEMS, SEGMENTS, RUNS = 8, 100, 120
NOISE = 3 * np.sqrt(0.05 * 0.95 / RUNS)
"""Three standard errors of a share of .05: what is off by chance stays within."""


def made_up(rng, better=0.0):
    """Skewed scores with what is hard for all; the last half is better, each more than the last."""
    hard = rng.exponential(size=SEGMENTS)
    shifts = better * np.maximum(0, np.arange(SYSTEMS) - SYSTEMS // 2 + 1)
    return [Mean("x").of(hard + rng.exponential(size=SEGMENTS) + shift) for shift in shifts]


@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
def test_systems_that_do_not_differ_are_seldom_told_apart(test):
    rng = np.random.default_rng(1)
    least = [
        min(p_of_all(made_up(rng), test, "step-down", rng, resamples=200).values())
        for _ in range(RUNS)
    ]
    assert np.mean(np.array(least) < 0.05) <= 0.05 + NOISE


@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
def test_differences_are_found_no_less_often_than_with_holm_and_nothing_else(test):
    rng = np.random.default_rng(2)
    half = SYSTEMS // 2
    found = {"holm": 0, "step-down": 0}
    wrong = 0
    for _ in range(RUNS // 3):
        systems = made_up(rng, better=0.15)
        for correction in found:
            p = p_of_all(systems, test, correction, rng, resamples=500)
            found[correction] += sum(
                p[pair] < 0.05 for pair in all_pairs(SYSTEMS) if pair[1] >= half
            )
            alike = min(p[pair] for pair in all_pairs(half))
            wrong += correction == "step-down" and alike < 0.05
    assert found["step-down"] >= found["holm"] > 0
    assert wrong / (RUNS // 3) <= 0.05 + NOISE * np.sqrt(3)
