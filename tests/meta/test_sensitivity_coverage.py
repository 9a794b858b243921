"""How often the second stage finds what is not there, by simulation.

`python -m tests.meta.test_sensitivity_coverage` prints the table of docs/meta.md.
"""

import numpy as np
import pytest

from assay.intervals import interval
from assay.meta.coefficients import Pearson
from assay.meta.sensitivity.resampling import (
    Draws,
    across_systems,
    deviations,
    over_texts,
    partial,
    spreads,
)

PEARSON = Pearson()


def world(systems, texts, restricted, rng):
    """Two metrics that are as good for every system, and people.

    Where `restricted`, better systems' texts differ less, and people are as noisy as ever.
    """
    quality = rng.normal(size=(systems, 1))
    scale = np.exp(-0.3 * quality) if restricted else 1.0
    difficulty = rng.normal(size=texts)
    truth = (0.6 * difficulty + 0.8 * rng.normal(size=(systems, texts))) * scale
    metrics = [0.35 * truth + 0.94 * rng.normal(size=truth.shape) for _ in range(2)]
    return metrics, truth + quality + 0.5 * rng.normal(size=truth.shape)


def trial(systems, texts, restricted, rng):
    """Which intervals leave out 0: dependence (corrected, percentile), difference, given spread."""
    metrics, people = world(systems, texts, restricted, rng)
    draws = Draws.of(texts, systems, 300, rng=rng)
    quality, drawn_quality = people.mean(axis=1)[None], draws.weights @ people.T / texts
    spread, drawn_spread = deviations(people)[None], spreads(people, draws.texts)
    values, replicates, given = [], [], []
    for metric in metrics:
        own = over_texts(metric, people, PEARSON, np.arange(texts)[None])
        drawn = over_texts(metric, people, PEARSON, draws.texts)
        values.append(across_systems(own, quality, PEARSON)[0])
        replicates.append(across_systems(drawn, drawn_quality, PEARSON, draws.systems))
        given.append(
            (
                held(own, quality, spread, None)[0],
                held(drawn, drawn_quality, drawn_spread, draws.systems),
            )
        )
    return (
        wrong(values[0], replicates[0]),
        wrong(values[0], replicates[0], method="percentile"),
        wrong(values[1] - values[0], replicates[1] - replicates[0]),
        wrong(*given[0]),
    )


def held(sensitivity, quality, spread, systems):
    pairs = ((sensitivity, quality), (sensitivity, spread), (spread, quality))
    return partial(*(across_systems(a, b, PEARSON, systems) for a, b in pairs))


def wrong(value, replicates, method="bca"):
    low, high, _ = interval(float(value), replicates, method=method)
    return low > 0 or high < 0


def rates(systems, texts, *, restricted, trials, seed=1):
    rng = np.random.default_rng(seed)
    return np.mean([trial(systems, texts, restricted, rng) for _ in range(trials)], axis=0)


@pytest.mark.parametrize("systems", [6, 15])
def test_a_dependence_that_is_not_there_is_seldom_found(systems):
    corrected, percentile, difference, given = rates(systems, 40, restricted=False, trials=80)
    assert corrected <= 0.15
    assert difference <= 0.15
    assert given <= 0.15
    assert percentile <= corrected


def test_where_peoples_scores_vary_less_for_good_systems_only_the_spread_tells():
    corrected, _, difference, given = rates(15, 60, restricted=True, trials=60)
    assert corrected > 0.3
    assert given <= 0.2
    assert difference <= 0.15


if __name__ == "__main__":
    for restricted in (False, True):
        for systems in (5, 8, 14, 19):
            found = rates(systems, 60, restricted=restricted, trials=400)
            print(restricted, systems, (100 * found).round(1))
