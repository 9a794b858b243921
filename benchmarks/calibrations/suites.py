"""Test suites: accuracies, first clusters and comparisons.

The data are the 18 systems of WMT21 on the German-English suite. Intervals: a suite of n items is
drawn from a population, which is the published suite itself ("suite"), where many phenomena have
no wrong output at all, or has accuracies that follow a beta distribution fitted to it ("smooth").
The truth is the accuracy in the population, for macro averages over the groups that were drawn.
Tests: the verdicts on every item are shuffled among the compared systems. "Before" is what was
offered once: square-and-add intervals, and the Z-test as the default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import betaln

from assay.statistics.proportions import mean_interval, wilson
from assay.suites.check import Verdicts, check
from assay.suites.clusters import (
    Correction,
    Tally,
    Test,
    against_best,
    averaged,
    best_of,
    corrected_pairs,
    grouped,
    macro_pairs,
    pairs,
    tally,
)
from assay.suites.files import read_runs, read_suite
from assay.suites.model import Item
from assay.suites.versions import compare_versions
from calibrations.harness import DATA, Row, coverage, null

SIZES = (100, 300, 1000, 2748)
"""Items per suite; 2,748 are those that all systems translated."""

AVERAGES = ("micro", "category macro", "phenomenon macro")

Array = NDArray[np.float64]
Counts = NDArray[np.float64]


def rows(runs: int, rng: np.random.Generator) -> Iterator[Row]:
    """Intervals by population and size, then tests, first clusters and comparisons by size."""
    for kind in ("suite", "smooth"):
        for n in SIZES:
            yield from interval_rows(kind, n, runs, rng)
    for n in SIZES:
        yield from cluster_rows(2, n, runs, rng)
    # Many pairs of systems take their time: a quarter of the runs.
    for systems in (5, 18):
        for n in (300, 2748):
            yield from cluster_rows(systems, n, runs if systems == 5 else runs // 4, rng)
    for sizes in ((5, 5), (2, 10)):
        yield from best_rows(sizes, 1000, runs // 4, rng)


def interval_rows(kind: str, n: int, runs: int, rng: np.random.Generator) -> Iterator[Row]:
    """How often intervals hold, of one phenomenon and of the averages."""
    errors: dict[tuple[str, str], list[Sequence[float]]] = {}
    for _ in range(runs):
        drawn = draw(kind, n, rng)
        alone = rng.integers(len(drawn.phenomenon))
        cases: list[tuple[str, str, Callable[..., tuple[object, object]], Counts]] = [
            ("Wilson", "one phenomenon", wilson, drawn.phenomenon[[alone]]),
            ("Wilson", "micro", wilson, drawn.micro),
            ("before: square-and-add", "category macro", square_and_add, drawn.category),
            ("interval of the mean", "category macro", mean_interval, drawn.category),
            ("before: square-and-add", "phenomenon macro", square_and_add, drawn.phenomenon),
            ("interval of the mean", "phenomenon macro", mean_interval, drawn.phenomenon),
        ]
        for test, average, interval, (passed, items, true) in (
            (*case[:3], case[3].T) for case in cases
        ):
            low, high = (float(np.squeeze(end)) for end in interval(passed, items))
            # Rounding is no miss, where the truth is 0 or 1.
            ends = (low - true.mean() - 1e-9, high - true.mean() + 1e-9)
            errors.setdefault((test, average), []).append(ends)
    for (test, average), ends_of_runs in errors.items():
        yield coverage(f"{test} ({kind})", average, n, ends_of_runs, 0.0)


def cluster_rows(systems: int, n: int, runs: int, rng: np.random.Generator) -> Iterator[Row]:
    """How often a system is outside the first cluster where all are equally good."""
    tests: dict[str, tuple[Test, Correction]] = {
        "before: Z-test": ("z", "none"),
        "McNemar, exact": ("mcnemar", "row"),
        "McNemar, mid-p": ("midp", "row"),
    }
    p: dict[tuple[str, str], list[float]] = {}
    for _ in range(runs):
        given = shuffled(systems, n, rng)
        for average, (counts, best) in averages_of(given).items():
            for name, (test, correct) in tests.items():
                every = (pairs if average == "micro" else macro_pairs)(counts, test)
                new = against_best(corrected_pairs(every, [average], correct), best)
                p.setdefault((name, average), []).append(float(np.nanmin([1.0, *new[0]])))
    for (name, average), values in p.items():
        what = "" if systems == 2 else f", first cluster of {systems}"
        yield null(f"{name}{what}", average, n, values)


def best_rows(sizes: tuple[int, int], n: int, runs: int, rng: np.random.Generator) -> Iterator[Row]:
    """How often the best of one campaign and the best of the next differ by chance."""
    p: dict[str, list[float]] = {average: [] for average in AVERAGES}
    for _ in range(runs):
        given = shuffled(sum(sizes), n, rng)
        cut = sizes[0]
        parts = {"old": _some(given, range(cut)), "new": _some(given, range(cut, sum(sizes)))}
        (step,) = compare_versions(parts).best_steps
        for gain in step.gains:
            if gain.level in AVERAGES:
                p[gain.level].append(gain.p)
    for average, values in p.items():
        yield null(f"compare, best of {sizes[0]} to best of {sizes[1]}", average, n, values)


@dataclass(frozen=True)
class Drawn:
    """Passed, items and true accuracy (columns) of every group that has items (rows)."""

    phenomenon: Counts
    category: Counts
    micro: Counts


def draw(kind: str, n: int, rng: np.random.Generator) -> Drawn:
    """What some system does on n items of a population."""
    system = int(rng.integers(len(values())))
    passed, items = _by_phenomenon(system)
    true = passed / items if kind == "suite" else rng.beta(*fitted(system), size=len(items))
    weights = items / items.sum()
    counts = rng.multinomial(n, weights)
    right = rng.binomial(counts, true)
    return Drawn(
        phenomenon=_groups(right, counts, true, weights, np.arange(len(items))),
        category=_groups(right, counts, true, weights, _category_of_phenomenon(system)),
        micro=_groups(right, counts, true, weights, np.zeros(len(items), int)),
    )


def shuffled(systems: int, n: int, rng: np.random.Generator) -> Verdicts:
    """Real verdicts of some systems on n items, each item's shuffled among them."""
    chosen = rng.choice(len(values()), systems, replace=False)
    known = np.flatnonzero(~np.isnan(values()[chosen]).any(axis=0))
    at = np.sort(rng.choice(known, min(n, len(known)), replace=False))
    codes = rng.permuted(values()[np.ix_(chosen, at)], axis=0).astype(np.int8)
    items = tuple(suite_items()[place] for place in at)
    nothing = [[""] * len(at)] * systems
    return Verdicts(tuple(f"s{place}" for place in range(systems)), items, codes, nothing, nothing)


def averages_of(given: Verdicts) -> dict[str, tuple[Tally, NDArray[np.bool_]]]:
    """The counts behind each average, and which systems are the best by it: `accuracies`' way."""
    groups = grouped(given.items)
    counts = tally(groups, given.codes.astype(float))
    parts: dict[str, Tally] = {"micro": counts.of([len(groups) - 1]), **averaged(groups, counts)}
    return {
        name: (part, best_of((part.passed / part.items).mean(axis=0)[None, :]))
        for name, part in parts.items()
    }


def square_and_add(passed: Counts, items: Counts) -> tuple[float, float]:
    """The interval of a mean of proportions as it was before: MOVER of Wilson's limits."""
    share = passed / items
    low, high = wilson(passed, items)
    down, up = (np.sqrt((ends**2).sum()) / len(items) for ends in (share - low, high - share))
    return share.mean() - down, share.mean() + up


@cache
def verdicts() -> Verdicts:
    """The rules' verdicts on the 18 systems."""
    folder = DATA / "testsuite" / "de-en"
    suite = read_suite(folder / "items.json")
    paths = sorted((folder / "wmt21" / "systems").glob("*.txt"))
    return check(suite, read_runs(suite, paths, ids=folder / "wmt21" / "item_ids.txt")).verdicts


@cache
def values() -> Array:
    """1, 0 or, undecided, `nan`: a row per system, a column per item."""
    codes = verdicts().codes
    return np.where(codes < 0, np.nan, codes)


def suite_items() -> tuple[Item, ...]:
    """The items of the suite."""
    return verdicts().items


@cache
def fitted(system: int) -> tuple[float, float]:
    """The beta distribution that the accuracies of a system's phenomena most likely follow."""
    passed, items = _by_phenomenon(system)

    def surprise(logs: Array) -> float:
        a, b = np.exp(logs)
        return -float((betaln(a + passed, b + items - passed) - betaln(a, b)).sum())

    a, b = np.exp(minimize(surprise, [0.5, -0.5], method="Nelder-Mead").x)
    return float(a), float(b)


@cache
def _labels() -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The phenomenon of every item and the category of every phenomenon, as numbers."""
    names = [f"{item.category}\t{item.phenomenon}" for item in suite_items()]
    known, phenomena = np.unique(names, return_inverse=True)
    _, categories = np.unique([name.split("\t")[0] for name in known], return_inverse=True)
    return phenomena, categories


@cache
def _by_phenomenon(system: int) -> tuple[Counts, Counts]:
    """Passed and decided items of the phenomena that have any."""
    phenomena, _ = _labels()
    known = ~np.isnan(values()[system])
    items = np.bincount(phenomena[known], minlength=phenomena.max() + 1)
    passed = np.bincount(phenomena[known], values()[system, known], minlength=phenomena.max() + 1)
    return passed[items > 0], items[items > 0].astype(float)


@cache
def _category_of_phenomenon(system: int) -> NDArray[np.intp]:
    phenomena, categories = _labels()
    known = ~np.isnan(values()[system])
    items = np.bincount(phenomena[known], minlength=phenomena.max() + 1)
    return categories[items > 0]


def _groups(
    right: NDArray[np.int_],
    counts: NDArray[np.int_],
    true: Array,
    weights: Array,
    where: NDArray[np.intp],
) -> Counts:
    passed, items = np.bincount(where, right), np.bincount(where, counts)
    share = np.bincount(where, weights * true) / np.maximum(np.bincount(where, weights), 1e-300)
    return np.column_stack([passed, items, share])[items > 0]


def _some(given: Verdicts, systems: Sequence[int]) -> Verdicts:
    return Verdicts(
        systems=tuple(given.systems[at] for at in systems),
        items=given.items,
        codes=given.codes[list(systems)],
        by=[given.by[at] for at in systems],
        outputs=[given.outputs[at] for at in systems],
    )
