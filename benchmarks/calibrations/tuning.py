"""Boosting: the held-out test of `boost tune`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial

import numpy as np

from assay.agreement.agree import permutation_p
from assay.agreement.coefficients import Pearson
from assay.data import Array, Segment
from assay.explanation.boosted import WeightAndPower
from assay.explanation.explainers import EXPLAINERS
from assay.explanation.tune import Evidence, RatedSegments, gather, tried
from assay.metrics.base import parse
from assay.statistics.correlation import pearson_rows
from calibrations.agreement import standard
from calibrations.harness import DATA, SIZES, Row, null

TRIALS = 199
AT = WeightAndPower(0.6, 1.0)


def rows(runs: int, rng: np.random.Generator) -> Iterator[Row]:
    """Ratings that have nothing to do with the texts; then two metrics that agree equally well."""
    for size in SIZES:
        p = [unrelated(size, rng) for _ in range(runs // 2)]
        yield null("boost tune, ratings shuffled", "chrF", size, p)
    for size in SIZES:
        p = [equal(size, rng) for _ in range(runs // 2)]
        yield null("boost tune, no gain", "chrF", size, p)


def unrelated(size: int, rng: np.random.Generator) -> float:
    """Neither the metric nor the boosted one has to do with the ratings."""
    whole = judged()
    chosen = np.zeros(len(whole), bool)
    chosen[rng.permutation(len(whole))[:size]] = True
    some = whole.chosen(chosen)
    shuffled = Evidence(some.setting, some.explained, rng.permutation(some.human), some.items)
    test = partial(permutation_p, coefficient=Pearson(), trials=TRIALS, rng=rng)
    return tried(shuffled, AT, regular="shift", test=test).significance


def equal(size: int, rng: np.random.Generator) -> float:
    """Segments drawn from all, over which both metrics agree equally well with people."""
    drawn = rng.integers(0, len(judged()), size)
    sides = (each[None, drawn] for each in equals())
    return permutation_p(*sides, Pearson(), trials=TRIALS, rng=rng)


@lru_cache
def equals() -> tuple[Array, Array, Array]:
    """The metric, the boosted one, the better of them with noise, and people's scores."""
    from scipy.optimize import brentq

    evidence = judged()
    gold = evidence.human
    sides = evidence.explained.base, evidence.explained.boosted(AT, "shift")
    worse, better = sorted(map(standard, sides), key=lambda each: float(pearson_rows(each, gold)))
    noise = np.random.default_rng(1).normal(size=len(gold))

    def gain(size: float) -> float:
        return float(pearson_rows(better + size * noise, gold) - pearson_rows(worse, gold))

    return worse, better + brentq(gain, 0.0, 5.0) * noise, gold


@lru_cache
def judged() -> Evidence:
    """All segments of WMT17 with their ratings, explained by erasure."""
    segments, gold = [], []
    for path in sorted((DATA / "qe" / "wmt17-da560").glob("*.tsv")):
        for line in path.read_text("utf-8").splitlines()[1:]:
            _, source, output, reference, score, _ = line.split("\t")
            segments.append(Segment(output, (reference,), source))
            gold.append(float(score))
    rated = RatedSegments("wmt17", "", segments, np.array(gold), np.arange(len(gold)))
    return gather(rated, parse("chrf"), EXPLAINERS.parse("erasure"), seed=1)
