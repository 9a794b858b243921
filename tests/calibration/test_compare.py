"""A short form of the simulations of comparisons: false alarms, and coverage of intervals.

The long form, with planted faults as well, is `benchmarks/planted.py`.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

import assay
from assay.demo import read_demo
from assay.io import read_folder

RUNS = 60


def swapped(data, rng):
    """Two systems that exchange their outputs at random, segment by segment."""
    one, other = data.systems.values()
    keep = rng.random(len(one)) < 0.5
    first = tuple(a if k else b for a, b, k in zip(one, other, keep, strict=True))
    second = tuple(b if k else a for a, b, k in zip(one, other, keep, strict=True))
    return replace(data, systems={"a": first, "b": second}, human={})


def alarms(data, runs, seed):
    """In how many runs something is established, and all p of tests of segment slices."""
    rng = np.random.default_rng(seed)
    found, every = 0, []
    for _ in range(runs):
        records = assay.compare(swapped(data, rng), ["chrf"], features=()).records()
        found += any(r["p_adjusted"] is not None and r["p_adjusted"] < 0.05 for r in records)
        every += [r["p"] for r in records if r["kind"] == "label" and r["p"] is not None]
    return found, np.array(every)


def test_systems_that_exchange_their_outputs_are_seldom_told_apart():
    data = read_demo()
    pair = replace(data, systems={name: data.systems[name] for name in ("atlas", "birch")})
    found, every = alarms(pair, RUNS, 1)
    # A test with alarms in 5 % of all runs stays within; one with 20 % mostly does not.
    most = binom.ppf(0.999, RUNS, 0.05)
    assert binom.cdf(most, RUNS, 0.2) < 0.3
    assert found <= most
    # The p of single slices are uniform, but for steps: at most 5 % are below .05.
    assert np.mean(every < 0.05) <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / len(every))


@pytest.fixture(scope="module")
def real(shared):
    data = read_folder(shared / "wmt21" / "de-en", "de-en")
    names = ("Online-A", "UEdin")
    return replace(data, systems={name: data.systems[name] for name in names}, human={})


def drawn(data, places):
    """A test set of these segments."""
    return replace(
        data,
        systems={name: tuple(lines[at] for at in places) for name, lines in data.systems.items()},
        references=tuple(data.references[at] for at in places),
        sources=tuple(data.sources[at] for at in places),
        documents=(),
    )


NAMES = ("with a number", "with quotation marks", "with a negation", "of several sentences")


def test_intervals_of_slices_hold_the_true_difference_in_19_of_20_runs(real):
    """The real test set is the population, and half of its size is drawn each time."""
    whole = {
        record["slice"]: record["difference"]
        for record in assay.compare(real, ["chrf"], features=()).records()
        if record["kind"] == "text"
    }
    rng = np.random.default_rng(3)
    held = []
    for _ in range(RUNS):
        places = rng.integers(0, len(real), 500)
        found = assay.compare(drawn(real, places), ["chrf"], features=()).records()
        held += [
            record["low"] <= whole[record["slice"]] <= record["high"]
            for record in found
            if record["kind"] == "text" and record["slice"] in NAMES
        ]
    assert len(held) == RUNS * len(NAMES)
    # Slices overlap, so that runs count and not slices: three standard errors.
    assert abs(np.mean(held) - 0.95) <= 3 * np.sqrt(0.95 * 0.05 / (RUNS * 2))


def test_real_systems_that_exchange_their_outputs_are_seldom_told_apart(real):
    found, _ = alarms(real, 20, 4)
    assert found <= binom.ppf(0.999, 20, 0.05)
