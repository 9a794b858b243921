"""Agreement with people: `meta correlate`, its p and `--compare`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from assay.agreement.agree import Shuffles, agree, permutation_p, williams
from assay.agreement.coefficients import COEFFICIENTS, Pearson
from assay.agreement.panel import computed
from assay.data import Array, without_humans
from assay.io import read_folder, read_scores
from assay.metrics.base import parse
from assay.statistics.correlation import By, grouped, means, pearson_rows
from calibrations.harness import DATA, SIZES, Row, null

METRICS = ("bleu:effective_order=yes", "chrf")
TRIALS = 199
SYSTEMS = 7
SCORES: tuple[tuple[str, str], ...] = (("wmt20/en-de", "da"), ("wmt20/en-de", "mqm"))
WITHIN: tuple[tuple[By, str], ...] = (
    ("none", "pearson"),
    ("none", "kendall"),
    ("system", "pearson"),
    ("item", "pearson"),
    ("item", "accuracy"),
    ("item", "acc-eq"),
)


class Rated(NamedTuple):
    """Real systems: people's ratings and metrics' scores of segments, (systems, segments).

    `corpora` are the metrics' scores of whole systems, and `documents` the segments' documents.
    """

    gold: Array
    segments: tuple[Array, ...]
    corpora: tuple[Array, ...]
    documents: tuple[str, ...]


def rows(runs: int, rng: np.random.Generator) -> Iterator[Row]:
    """The p of every coefficient at every level; then which of two metrics agrees better."""
    for systems in (5, 8, 10, 14):
        for name in ("pearson", "spearman", "kendall"):
            p = [of_systems(systems, name, rng) for _ in range(runs)]
            yield null("correlate, systems", name, systems, p)
    for pair, gold in SCORES:
        for by, name in WITHIN:
            for size in SIZES[:3]:
                p = [of_segments(pair, gold, size, by, name, rng) for _ in range(runs // 4)]
                yield null(f"correlate, {gold}, by {by}", name, size, p)
    yield from compared(runs, rng)


def compared(runs: int, rng: np.random.Generator) -> Iterator[Row]:
    """Two metrics that agree equally well with people."""
    for systems in (5, 10, 14):
        p = np.array([two_of_systems(systems, rng) for _ in range(runs // 2)])
        yield null("compare, swaps of systems", "pearson", systems, p[:, 0])
        yield null("compare, Williams", "pearson", systems, p[:, 1])
    for pair, gold in SCORES:
        for by, name in (("none", "pearson"), ("item", "pearson"), ("item", "kendall")):
            for size in SIZES[:3]:
                p = [two_of_segments(pair, gold, size, by, name, rng) for _ in range(runs // 4)]
                yield null(f"compare, {gold}, by {by}", name, size, p)


def of_systems(systems: int, name: str, rng: np.random.Generator) -> float:
    """BLEU of some systems, and what people say of others: nothing to find."""
    data = rated("wmt20/en-de", "da")
    own, human = (rng.permutation(each)[:systems] for each in (data.corpora[0], means(data.gold)))
    return agree(own[:, None], human[:, None], COEFFICIENTS.parse(name)).p


def of_segments(
    pair: str, gold: str, size: int, by: By, name: str, rng: np.random.Generator
) -> float:
    """The metric's scores of another test set's systems and segments: nothing to find."""
    human = _drawn(rated(pair, gold).gold, SYSTEMS, size, rng)
    own = _drawn(rated("wmt21/de-en", "da").segments[1], SYSTEMS, size, rng)
    shuffles = Shuffles(TRIALS, rng)
    return agree(own, human, COEFFICIENTS.parse(name), by=by, shuffles=shuffles).p


def two_of_systems(systems: int, rng: np.random.Generator) -> tuple[float, float]:
    """Two metrics that change places at random: the p of swapping, and that of Williams."""
    data = rated("wmt20/en-de", "da")
    chosen = rng.permutation(len(data.gold))[:systems]
    a, b = (standard(each)[chosen] for each in data.corpora)
    swap = rng.random(systems) < 0.5
    first, second = np.where(swap, b, a), np.where(swap, a, b)
    human = means(data.gold)[chosen]
    p = permutation_p(
        first[:, None], second[:, None], human[:, None], Pearson(), trials=TRIALS, rng=rng
    )
    r = [float(pearson_rows(x, y)) for x, y in ((first, human), (second, human), (first, second))]
    return p, williams(r[0], r[1], r[2], systems)


def two_of_segments(
    pair: str, gold: str, size: int, by: By, name: str, rng: np.random.Generator
) -> float:
    """Segments drawn from all, of two metrics that agree equally well over all of them."""
    first, second, human = equals(pair, gold, by, name)
    drawn = rng.integers(0, human.shape[1], size)
    coefficient = COEFFICIENTS.parse(name)
    sides = (each[:, drawn] for each in (first, second, human))
    return permutation_p(*sides, coefficient, by=by, trials=TRIALS, rng=rng)


@lru_cache
def equals(pair: str, gold: str, by: By, name: str) -> tuple[Array, Array, Array]:
    """BLEU, chrF with as much noise as makes it agree no better, and people's scores."""
    from scipy.optimize import brentq

    data = rated(pair, gold)
    coefficient, human = COEFFICIENTS.parse(name), grouped(data.gold, by)

    def value(scores: Array) -> float:
        return float(coefficient.overall(grouped(scores, by), human))

    known = [np.where(np.isnan(data.gold), np.nan, each) for each in data.segments]
    worse, better = sorted((standard(each) for each in known), key=value)
    noise = np.random.default_rng(1).normal(size=better.shape)
    # Half of the noise is the same for all systems: what misleads a metric misleads it everywhere.
    noise = noise + np.random.default_rng(2).normal(size=better.shape[1])
    size = brentq(lambda x: value(better + x * noise) - value(worse), 0.0, 8.0, xtol=1e-6)
    return worse, better + size * noise, data.gold


@lru_cache
def rated(pair: str, gold: str) -> Rated:
    """A test set with people's ratings of segments, without human translations."""
    dataset = without_humans(read_folder(DATA / pair))
    scores = read_scores(
        DATA / pair / "human" / f"{gold}.seg.tsv",
        list(dataset.systems),
        length=len(dataset),
        documents=dataset.documents,
    )
    keep = np.flatnonzero(~np.isnan(scores.values).all(axis=1))
    metrics = [parse(each) for each in METRICS]
    segments, corpora = (
        tuple(each.oriented[keep] for each in computed(dataset, metrics, granularity=granularity))
        for granularity in ("segment", "system")
    )
    return Rated(
        scores.values[keep], segments, tuple(each[:, 0] for each in corpora), dataset.documents
    )


def standard(scores: Array) -> Array:
    """The scores with mean 0 and deviation 1, over what is known."""
    return np.asarray((scores - np.nanmean(scores)) / np.nanstd(scores))


def _drawn(scores: Array, systems: int, size: int, rng: np.random.Generator) -> Array:
    rows, columns = (
        rng.permutation(each)[:n]
        for each, n in ((scores.shape[0], systems), (scores.shape[1], size))
    )
    return scores[np.ix_(rows, columns)]
