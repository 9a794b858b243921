"""Sensitivity: `meta sensitivity`, both stages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from assay.agreement.coefficients import COEFFICIENTS, Pearson, fisher_interval
from assay.agreement.panel import Candidate, computed
from assay.agreement.sensitivity.stages import (
    CorrelationEstimate,
    Stages,
    TextDraws,
    difference,
    stages_of,
)
from assay.agreement.sensitivity.study import Study, TextRatings, Texts
from assay.data import Array, without_humans
from assay.io import read_folder, read_scores
from assay.metrics.base import parse
from assay.metrics.mean import Mean
from assay.statistics.weights import groups
from calibrations.agreement import rated, standard
from calibrations.harness import DATA, Row, coverage, null

RESAMPLES = 300
TEXTS = 60
SETS = ("wmt20/en-de", "wmt21/de-en")


class Documents(NamedTuple):
    """Scores of documents, (systems, documents): people's, metrics', and the rated segments."""

    gold: Array
    metrics: tuple[Array, ...]
    counts: Array


def rows(runs: int, rng: np.random.Generator) -> Iterator[Row]:
    """First stage: documents drawn from all. Second stage: quality shuffled over systems."""
    for texts in (30, 60, 120):
        yield first_stage(texts, runs // 4, rng)
    for pair in SETS:
        for systems in (5, 10, 14, 19):
            if systems <= len(documents(pair).gold):
                yield from second_stage(pair, systems, runs // 2, rng)
    for systems in (5, 10, 20):
        yield from narrowing(systems, runs // 2, rng)
    for name in ("pearson", "spearman", "kendall"):
        for systems in (5, 10, 20):
            yield of_systems(name, systems, 4 * runs, rng)


def first_stage(texts: int, runs: int, rng: np.random.Generator) -> Row:
    """The BCa interval of a system's sensitivity, against that over all its documents."""
    data = documents(SETS[0])
    whole = np.arange(data.gold.shape[1])
    truth = [each.value for each in _stages(data, whole, 1, rng, resamples=1)[0].sensitivity]
    ends = []
    for _ in range(runs):
        drawn = rng.integers(0, len(whole), texts)
        (stages,) = _stages(data, drawn, 1, rng)
        ends += [(e.low - t, e.high - t) for e, t in zip(stages.sensitivity, truth, strict=True)]
    return coverage("sensitivity, first stage", "BLEU", texts, ends, 0.0)


def second_stage(pair: str, systems: int, runs: int, rng: np.random.Generator) -> Iterator[Row]:
    """Every system's human scores moved, so that its quality is another's: nothing to find."""
    found = [_unrelated(documents(pair), systems, rng) for _ in range(runs)]
    tests = ("second stage", "given spread", "difference of two metrics")
    yield null(f"sensitivity, second stage, {pair}", "BLEU", systems, [e[0].p for e in found])
    for at, test in enumerate(tests):
        ends = [each[at][1:3] for each in found]
        yield coverage(f"sensitivity, {test}, {pair}", "BLEU", systems, ends, 0.0)


def narrowing(systems: int, runs: int, rng: np.random.Generator) -> Iterator[Row]:
    """Made-up metrics that lose nothing, where good systems' texts differ less: a known trap."""
    found = []
    for _ in range(runs):
        level = rng.normal(size=(systems, 1))
        truth = 0.6 * rng.normal(size=TEXTS) + 0.8 * rng.normal(size=(systems, TEXTS))
        truth *= np.exp(-0.3 * level)
        metric = 0.35 * truth + 0.94 * rng.normal(size=truth.shape)
        people = truth + level + 0.5 * rng.normal(size=truth.shape)
        world = Documents(people, (metric,), np.ones(truth.shape))
        found += _stages(world, np.arange(TEXTS), 1, rng, resamples=1)
    for test in ("dependence", "given_spread"):
        ends = [getattr(each, test)[1:3] for each in found]
        yield coverage(f"good systems vary less, {test}", "made up", systems, ends, 0.0)


def of_systems(name: str, systems: int, runs: int, rng: np.random.Generator) -> Row:
    """The interval of a correlation over systems, drawn from all of WMT18."""
    coefficient, (own, human) = COEFFICIENTS.parse(name), population()
    truth = float(coefficient.overall(own[None], human[None]))
    ends = []
    for _ in range(runs):
        drawn = rng.permutation(len(own))[:systems]
        value = float(coefficient.overall(own[None, drawn], human[None, drawn]))
        ends.append(fisher_interval(coefficient, value, systems))
    return coverage("correlation over systems, Fisher's z", name, systems, ends, truth)


def _unrelated(
    data: Documents, systems: int, rng: np.random.Generator
) -> Sequence[CorrelationEstimate]:
    chosen = rng.permutation(len(data.gold))[:systems]
    moved = quality(data)[rng.permutation(chosen)] - quality(data)[chosen]
    world = Documents(
        data.gold[chosen] + moved[:, None],
        tuple(each[chosen] for each in data.metrics),
        data.counts[chosen],
    )
    drawn = rng.integers(0, data.gold.shape[1], TEXTS)
    first, second = _stages(world, drawn, 2, rng, resamples=1)
    return first.dependence, first.given_spread, difference(second, first, Pearson())


def _stages(
    data: Documents,
    drawn: Array,
    metrics: int,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> list[Stages]:
    """Both stages of the metrics on the drawn documents, each as one segment of its own."""
    gold, counts = data.gold[:, drawn], data.counts[:, drawn]
    own = Documents(gold, (), counts)
    texts = Texts("document", tuple(map(str, range(len(drawn)))), np.ones(len(drawn)))
    people = TextRatings("da", gold, counts, ~np.isnan(gold), quality(own))
    candidates = [
        Candidate("", "", each[:, drawn], False, tuple(Mean("m").of(row) for row in each[:, drawn]))
        for each in data.metrics[:metrics]
    ]
    names = tuple(map(str, range(len(gold))))
    study = Study(names, texts, people, tuple(candidates))
    draws = TextDraws.of(len(drawn), resamples, rng=rng)
    return [stages_of(study, each, Pearson(), draws) for each in candidates]


def quality(data: Documents) -> Array:
    """The mean over rated segments of each system."""
    return np.asarray(np.nansum(data.gold * data.counts, axis=1) / data.counts.sum(axis=1))


@lru_cache
def documents(pair: str) -> Documents:
    """The scores of documents, as means over rated segments."""
    data = rated(pair, "da")
    weights = groups(data.documents).weights
    known = ~np.isnan(data.gold)
    counts = known.astype(float) @ weights.T
    with np.errstate(invalid="ignore"):
        gold, *metrics = (
            np.where(known, each, 0.0) @ weights.T / counts for each in (data.gold, *data.segments)
        )
    return Documents(gold, tuple(metrics), counts)


@lru_cache
def population() -> tuple[Array, Array]:
    """BLEU and human scores of all systems of WMT18, each on the scale of its language pair."""
    own, human = [], []
    for folder in sorted((DATA / "wmt18").iterdir()):
        dataset = without_humans(read_folder(folder))
        scores = read_scores(
            folder / "human" / "da.sys.tsv", list(dataset.systems), length=len(dataset)
        )
        (bleu,) = computed(dataset, [parse("bleu")], granularity="system")
        known = ~np.isnan(scores.values[:, 0])
        own.append(standard(bleu.scores[known, 0]))
        human.append(standard(scores.values[known, 0]))
    return np.concatenate(own), np.concatenate(human)
