"""Scores: paired tests, intervals and rank clusters of every metric on real systems.

Into English, newstest2018 has 20,962 segments that online-A and online-B both translated: the
population. Samples are drawn from it without replacement. Under the null, the outputs of the two
change places in a sample wherever a coin says so. The truth of an interval is the mean score of
the samples, since MacroF depends on their size. Names (entityf) and ratings (MQM) come from
newstest2021 de-en and newstest2020 en-de, of 1,000 and 1,418 segments.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from assay.data import Segment
from assay.metrics.base import Metric, Statistics, parse
from assay.metrics.mean import Mean
from assay.statistics.significance import (
    Correction,
    IntervalMethod,
    all_pairs,
    bootstrap,
    interval,
    paired_bootstrap,
    paired_jackknife,
    paired_randomisation,
)
from calibrations.harness import DATA, SIZES, Row, coverage, null

PAIRS = ("cs-en", "de-en", "et-en", "fi-en", "ru-en", "tr-en", "zh-en")
DENSE = ("bleu", "chrf", "chrf++", "ter", "wer", "cer", "rouge1", "rougeL")
TYPES = ("macrof", "microf", "macrof:max_order=2", "microf:max_order=4")
SMALL = (20, 50)
KINDS: tuple[IntervalMethod, ...] = ("bca", "percentile", "basic", "jackknife")
RESAMPLES = 1000
TRIALS = 1000
SYSTEMS = 6
COST = {1000: 2, 3000: 5}
"""Large samples are simulated less often, by this factor."""


@dataclass(frozen=True)
class Population:
    """Two systems on the same segments; statistics are cut from these, or made per sample.

    Rows of types are as wide as the vocabulary: counting a sample anew is quicker, and what a
    user does.
    """

    metric: Metric
    size: int
    segments: Sequence[Segment] = ()
    rows: Statistics | None = None

    def draw(self, first: np.ndarray, second: np.ndarray) -> list[Statistics]:
        """The statistics of two systems: positions below `size` are the first system's."""
        if self.rows is not None:
            return [self.rows[first], self.rows[second]]
        chosen = [self.segments[at] for at in (*first, *second)]
        both = self.metric.statistics(chosen)
        return [both[: len(first)], both[len(first) :]]


def rows(runs: int, rng: np.random.Generator) -> Iterator[Row]:
    """Tests and intervals of all metrics, then the rank clusters."""
    for population in populations():
        for n in (*SMALL, *SIZES):
            if n <= population.size // 5:
                yield from both(population, n, max(1, runs // COST.get(n, 1)), rng)
    for name in ("bleu", "chrf", "macrof"):
        yield family(name, 1000, runs // 2, rng)
    for name in ("bleu", "chrf"):
        for n in (100, 300, 1000):
            yield from many_families(name, n, runs // 2, rng)


def populations() -> Iterator[Population]:
    """All metrics, each on its test set."""
    segments = into_english("online-A.0", "online-B.0")
    for name in DENSE:
        metric = parse(name)
        yield Population(metric, len(segments) // 2, rows=metric.statistics(segments))
    for name in TYPES:
        yield Population(parse(name), len(segments) // 2, segments)
    named = newstest2021("Online-A", "Online-B")
    entityf = parse("entityf")
    yield Population(entityf, len(named) // 2, rows=entityf.statistics(named))
    ratings = newstest2020("OPPO.1535", "Online-B.1590")
    yield Population(Mean("MQM"), len(ratings) // 2, rows=Mean("MQM").of(ratings))


def both(population: Population, n: int, runs: int, rng: np.random.Generator) -> Iterator[Row]:
    """The null of every test, and the coverage of every interval, at one size."""
    tests: dict[str, list[float]] = {}
    for _ in range(runs):
        for test, p in p_values_of(population, n, rng).items():
            tests.setdefault(test, []).append(p)
    for test, p in tests.items():
        yield null(test, str(population.metric), n, p)
    samples = [intervals_of(population, n, rng) for _ in range(runs)]
    for name in samples[0]:
        ends = [sample[name][1:] for sample in samples]
        truth = float(np.mean([sample[name][0] for sample in samples]))
        yield coverage(name, str(population.metric), n, ends, truth)


def p_values_of(
    population: Population,
    n: int,
    rng: np.random.Generator,
    *,
    resamples: int = RESAMPLES,
    trials: int = TRIALS,
) -> dict[str, float]:
    """The p of each test, of two systems that were mixed segment by segment."""
    sample = rng.choice(population.size, n, replace=False)
    swap = population.size * rng.integers(2, size=n)
    statistics = population.draw(sample + swap, sample + population.size - swap)
    pairs = [(1, 0)]
    [randomised] = paired_randomisation(
        statistics, pairs=pairs, trials=trials, resamples=0, rng=rng
    )
    [left_out] = paired_jackknife(statistics, pairs=pairs)
    replicates = bootstrap(statistics, resamples=resamples, rng=rng)
    [drawn] = paired_bootstrap(statistics, pairs=pairs, rng=rng, replicates=replicates)
    [moses] = paired_bootstrap(
        statistics, pairs=pairs, rng=rng, replicates=replicates, statistic="sacrebleu"
    )
    return {
        "paired bootstrap": drawn.p,
        "paired bootstrap, sacreBLEU's statistic": moses.p,
        "approximate randomisation": randomised.p,
        "jackknife t-test": left_out.p,
    }


def intervals_of(
    population: Population, n: int, rng: np.random.Generator, *, resamples: int = RESAMPLES
) -> dict[str, tuple[float, float, float]]:
    """Value, low and high of one system's score and of the difference, by kind of interval."""
    sample = rng.choice(population.size, n, replace=False)
    statistics = population.draw(sample, sample + population.size)
    scores = [each.corpus() for each in statistics]
    without = [each.without_each() for each in statistics]
    replicates = bootstrap(statistics, resamples=resamples, rng=rng)
    values = {
        "score": (scores[0], replicates[0], without[0]),
        "difference": (
            scores[1] - scores[0],
            replicates[1] - replicates[0],
            without[1] - without[0],
        ),
    }
    found = {}
    for name, (value, draws, left_out) in values.items():
        for kind in KINDS:
            ends = interval(value, draws, method=kind, jackknife=left_out)
            found[f"{kind} interval of the {name}"] = (value, ends.low, ends.high)
    return found


def family(name: str, n: int, runs: int, rng: np.random.Generator) -> Row:
    """How often any of several systems that do not differ is told from another."""
    texts = systems_of("de-en")[:SYSTEMS]
    metric, size = parse(name), len(texts[0])
    least = []
    for _ in range(runs):
        sample = rng.choice(size, n, replace=False)
        order = rng.permuted(np.tile(np.arange(SYSTEMS), (n, 1)), axis=1)
        mixed = [
            texts[order[at, system]][place]
            for system in range(SYSTEMS)
            for at, place in enumerate(sample)
        ]
        together = metric.statistics(mixed)
        statistics = [together[n * at : n * (at + 1)] for at in range(SYSTEMS)]
        pairs = all_pairs(SYSTEMS)
        if metric.interval_method == "jackknife":
            compared = paired_jackknife(statistics, pairs=pairs)
        else:
            compared = paired_bootstrap(statistics, pairs=pairs, resamples=RESAMPLES, rng=rng)
        least.append(min(each.p_holm for each in compared))
    return null(f"any of {len(pairs)} pairs, after Holm", name, n, least)


def many_families(name: str, n: int, runs: int, rng: np.random.Generator) -> Iterator[Row]:
    """The same of all systems of a test set, with either correction, and of half of them."""
    population = Systems.of(parse(name), systems_of("de-en"))
    tests = {
        (test, correction, mixed): []
        for test in ("bootstrap", "randomisation")
        for correction in ("holm", "step-down")
        for mixed in (population.count, population.count // 2)
    }
    for _ in range(runs):
        for mixed in (population.count, population.count // 2):
            statistics = population.draw(n, mixed, rng)
            alike = [(i, j) for i, j in all_pairs(population.count) if j < mixed]
            for test, correction, kind in tests:
                if kind == mixed:
                    p = p_of_all(statistics, test, correction, rng)
                    least = min(p[pair] for pair in alike)
                    tests[test, correction, mixed].append(least)
    pairs = len(all_pairs(population.count))
    for (test, correction, mixed), least in tests.items():
        alike = len(all_pairs(mixed))
        yield null(f"{test}, {correction}: any of {alike} in {pairs} pairs", name, n, least)


@dataclass(frozen=True)
class Systems:
    """The dense rows of many systems, (systems, segments, k)."""

    metric: Metric
    rows: np.ndarray

    @classmethod
    def of(cls, metric: Metric, texts: Sequence[Sequence[Segment]]) -> Systems:
        """All texts in one call."""
        together = metric.rows([segment for segments in texts for segment in segments])
        return cls(metric, together.reshape(len(texts), len(texts[0]), -1))

    @property
    def count(self) -> int:
        """The number of systems."""
        return len(self.rows)

    def draw(self, n: int, mixed: int, rng: np.random.Generator) -> list[Statistics]:
        """A sample of segments; the outputs of the first `mixed` systems change places in each."""
        sample = rng.choice(self.rows.shape[1], n, replace=False)
        order = np.tile(np.arange(self.count)[:, None], n)
        order[:mixed] = rng.permuted(order[:mixed], axis=0)
        return [Statistics(self.metric, self.rows[own, sample]) for own in order]


def p_of_all(
    statistics: Sequence[Statistics],
    test: str,
    correction: Correction,
    rng: np.random.Generator,
    *,
    resamples: int = RESAMPLES,
) -> dict[tuple[int, int], float]:
    """The corrected p of every pair; Holm gets as many resamples as it needs."""
    pairs = all_pairs(len(statistics))
    if correction == "holm":
        resamples = max(resamples, 40 * len(pairs))
    if test == "bootstrap":
        compared = paired_bootstrap(
            statistics, pairs=pairs, resamples=resamples, rng=rng, correction=correction
        )
    else:
        compared = paired_randomisation(
            statistics, pairs=pairs, trials=resamples, resamples=0, rng=rng, correction=correction
        )
    return {(each.first, each.second): each.p_holm for each in compared}


@cache
def into_english(*systems: str) -> list[Segment]:
    """The segments of the first system in all pairs, then those of the second."""
    return [
        segment
        for system in systems
        for pair in PAIRS
        for segment in outputs(DATA / "wmt18" / pair, "ref.txt", f"systems/{system}.txt")
    ]


def newstest2021(*systems: str) -> list[Segment]:
    """Segments of newstest2021 de-en, one system after the other."""
    folder = DATA / "wmt21" / "de-en"
    return [s for name in systems for s in outputs(folder, "ref.A.txt", f"systems/{name}.txt")]


def newstest2020(*systems: str) -> list[float]:
    """MQM ratings of newstest2020 en-de, one system after the other."""
    with (DATA / "wmt20" / "en-de" / "human" / "mqm.seg.tsv").open() as file:
        ratings = {
            (row["system"], int(row["line"])): float(row["mqm"])
            for row in csv.DictReader(file, delimiter="\t")
        }
    lines = sorted({line for _, line in ratings})
    return [ratings[name, line] for name in systems for line in lines]


def systems_of(pair: str) -> list[list[Segment]]:
    """All systems of a pair of newstest2018."""
    folder = DATA / "wmt18" / pair
    files = sorted((folder / "systems").glob("*.txt"))
    return [outputs(folder, "ref.txt", f"systems/{file.name}") for file in files]


def outputs(folder: Path, reference: str, system: str) -> list[Segment]:
    """One system's segments."""
    lines = [(folder / name).read_text("utf-8").split("\n")[:-1] for name in (system, reference)]
    return [Segment(output, (wanted,)) for output, wanted in zip(*lines, strict=True)]
