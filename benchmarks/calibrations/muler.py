"""MuLER by number of sentences that have the feature (n), its scorers and its judgements.

- null: two systems' outputs swapped at random per segment.
- equal: two systems of very different quality that have the same MuLER in the whole test set;
  nothing is swapped. A p of MuLER should not tell them apart either.
- coverage: sentences drawn from the whole test set, whose MuLER is the truth. MacroF's depends on
  the size of the text, so its truth is the mean over the samples.

TED talks come with tags; newstest2018 is tagged by spaCy, once (see `assay cache`). "NN" is often
wrong, "GPE" nearly always right, so that few of its sentences say anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from assay.data import Array
from assay.decomposition.analysis import MulerEstimate
from assay.decomposition.decompose import PRESETS, Annotated, Parts, decompose, ratio
from assay.decomposition.examples import TallyResult
from assay.features.annotation import Annotation, Feature
from assay.features.cache import AnnotationCache, CachedAnnotator, default_path
from assay.features.lexicons import SentenceScorer
from assay.features.spacy import SpacyAnnotator
from assay.features.tagged_files import read_tags
from assay.metrics.base import Statistics, parse
from assay.metrics.mean import Mean
from assay.statistics import weights
from assay.statistics.significance import bootstrap_p, confidence, interval
from calibrations.harness import DATA, Row, coverage, null

SIZES = (2, 5, 10, 20, 30, 50, 100, 300, 1000)
METRICS = (("bleu", "corpus"), ("bleu", "paper"), ("chrf", "corpus"), ("macrof", "corpus"))
RESAMPLES = 400
OTHERS = 4
"""What is resampled runs so many times less often: it takes longer, and is only compared with."""


COMPARED = 300
"""Up to so many sentences."""


@dataclass(frozen=True, eq=False)
class Population:
    """One feature in two systems, three texts each; rows are of all segments that have it."""

    label: str
    pair: tuple[Parts, Parts]
    length: int

    @classmethod
    def of(cls, annotated: Annotated, metric: str, preset: str, feature: Feature) -> Population:
        """The feature's sentences in the outputs of the two systems."""
        found = decompose(annotated, parse(metric), [feature], preset=PRESETS[preset])
        first, second = (found.parts[feature, name] for name in found.systems)
        label = f"{metric} {preset} {feature.name}"
        return cls(label, (first, second), len(annotated))

    @cached_property
    def either(self) -> Array:
        """The segments that are in I of either system."""
        return np.union1d(*(parts.chosen for parts in self.pair))

    def sample(self, n: int, rng: np.random.Generator, *, swap: bool) -> tuple[Parts, Parts]:
        """Both systems on n of these segments, with some outputs swapped."""
        drawn = rng.choice(self.either, n)
        swapped = rng.random(n) < 0.5 if swap else np.zeros(n, bool)
        first, second = (_places(parts, drawn) for parts in self.pair)
        second = np.where(second < 0, -1, second + len(self.pair[0].chosen))
        return (
            _picked(self._stacked, np.where(swapped, second, first)),
            _picked(self._stacked, np.where(swapped, first, second)),
        )

    @cached_property
    def _stacked(self) -> Parts:
        return _stacked(*self.pair)

    def spread(self, n: int) -> int:
        """The segments of a test set in which n have the feature."""
        return round(n * self.length / len(self.either))


def _places(parts: Parts, segments: Array) -> Array:
    """Where these segments stand among those of I; -1 for those that are not in it."""
    at = np.searchsorted(parts.chosen, segments).clip(max=len(parts.chosen) - 1)
    return np.where(parts.chosen[at] == segments, at, -1)


def _stacked(one: Parts, other: Parts) -> Parts:
    """The rows of both systems, one after the other."""
    return Parts(np.zeros(0, np.intp), *map(_stack, one[1:], other[1:]))


def _stack(one: Statistics, other: Statistics) -> Statistics:
    if isinstance(one.rows, np.ndarray):
        return Statistics(one.metric, np.vstack([one.rows, other.rows]))
    from scipy.sparse import vstack

    return Statistics(one.metric, vstack([one.rows, other.rows], format="csr"))


def _picked(stacked: Parts, rows: Array) -> Parts:
    inside = np.flatnonzero(rows >= 0)
    return Parts(inside, *(each[rows[inside]] for each in stacked[1:]))


def jackknife_test(pair: tuple[Parts, Parts]) -> float:
    """The p that assay gives, without the lower limit of n."""
    return MulerEstimate(pair[0]).p(MulerEstimate(pair[1]))


def bootstrap_test(pair: tuple[Parts, Parts], length: int, rng: np.random.Generator) -> float:
    """The p that assay gave before: paired bootstrap over all segments."""
    (block,) = weights.resamples(length, RESAMPLES, rng=rng)
    replicates = [_weighted(parts, block[:, parts.chosen]) for parts in pair]
    values = [MulerEstimate(parts).value for parts in pair]
    return bootstrap_p(replicates[0] - replicates[1], *values)


def randomisation_test(pair: tuple[Parts, Parts], n: int, rng: np.random.Generator) -> float:
    """Approximate randomisation: the two swapped on a random half of the segments."""
    (keep,) = weights.swaps(n, RESAMPLES, rng=rng)
    kept = [keep[:, parts.chosen] for parts in pair]
    both = _stacked(*pair)
    one = _weighted(both, np.hstack([kept[0], 1 - kept[1]]))
    other = _weighted(both, np.hstack([1 - kept[0], kept[1]]))
    observed = abs(MulerEstimate(pair[0]).value - MulerEstimate(pair[1]).value)
    known = np.abs(one - other)[~np.isnan(one - other)]
    return (np.count_nonzero(known >= observed - 1e-9) + 1) / (len(known) + 1)


def _weighted(parts: Parts, block: Array) -> Array:
    block = np.ascontiguousarray(block)
    return ratio(np.array([each.score(block) for each in parts[1:]]))


def jackknife_limits(parts: Parts) -> tuple[float, float]:
    """The interval that assay gives, without the lower limit of n."""
    return MulerEstimate(parts).interval()[:2]


def bootstrap_limits(parts: Parts, length: int, rng: np.random.Generator) -> tuple[float, float]:
    """The interval that assay gave before: BCa over all segments."""
    (block,) = weights.resamples(length, RESAMPLES, rng=rng)
    estimate = MulerEstimate(parts)
    replicates = _weighted(parts, block[:, parts.chosen])
    return interval(estimate.value, replicates, jackknife=estimate.without_each)[:2]


def null_rows(
    name: str, population: Population, n: int, runs: int, rng: np.random.Generator, *, swap: bool
) -> Iterator[Row]:
    """What three tests do where there is nothing to find."""
    p = [jackknife_test(population.sample(n, rng, swap=swap)) for _ in range(runs)]
    yield null(f"{name}: jackknife t", population.label, n, p)
    if n > COMPARED:
        return
    pairs = [population.sample(n, rng, swap=swap) for _ in range(runs // OTHERS)]
    known = [pair for pair in pairs if _is_known(pair)]
    length = population.spread(n)
    p = [bootstrap_test(pair, length, rng) for pair in known]
    yield null(f"{name}: bootstrap (before)", population.label, n, p)
    p = [randomisation_test(pair, n, rng) for pair in known]
    yield null(f"{name}: randomisation", population.label, n, p)


def coverage_rows(
    population: Population, n: int, runs: int, rng: np.random.Generator
) -> Iterator[Row]:
    """How often two intervals of the first system's MuLER hold the truth."""
    samples = [population.sample(n, rng, swap=False)[0] for _ in range(runs)]
    samples = [parts for parts in samples if len(parts.chosen) > 1]
    values = [MulerEstimate(parts).value for parts in samples]
    by_types = population.label.startswith("macrof")
    truth = float(np.nanmean(values)) if by_types else MulerEstimate(population.pair[0]).value
    limits = [jackknife_limits(parts) for parts in samples]
    yield coverage("interval: jackknife", population.label, n, limits, truth)
    if n > COMPARED:
        return
    length = population.spread(n)
    limits = [bootstrap_limits(parts, length, rng) for parts in samples[: runs // OTHERS]]
    yield coverage("interval: BCa (before)", population.label, n, limits, truth)


def _is_known(pair: tuple[Parts, Parts]) -> bool:
    return all(len(parts.chosen) and np.isfinite(MulerEstimate(parts).value) for parts in pair)


def scorer_rows(n: int, runs: int, rng: np.random.Generator) -> Iterator[Row]:
    """Intervals of the mean differences of a sentence scorer, as `--scorers` gives them."""
    signed = _tone()
    for kind, values in (("signed", signed), ("absolute", np.abs(signed))):
        samples = (Mean(kind).of(rng.choice(values, n)) for _ in range(runs // OTHERS))
        limits = [confidence(each, resamples=1000, rng=rng)[:2] for each in samples]
        yield coverage("scorers: BCa", f"concreteness {kind}", n, limits, float(values.mean()))


@cache
def _tone() -> Array:
    scorer = SentenceScorer("concreteness")
    folder = DATA / "wmt18" / "de-en"
    texts = [_lines(folder / "ref.txt"), _lines(folder / "systems" / "RWTH.5636.txt")]
    return np.subtract(*(scorer.score(lines) for lines in texts))


def judgement_row(n: int, runs: int, rng: np.random.Generator) -> Row:
    """The sign test of `muler examples --tally`, where people toss a coin."""
    wins = rng.binomial(n, 0.5, runs)
    p = [TallyResult("f", "a", "b", 0, 0, 0, int(k), int(n - k), 0).p for k in wins]
    return null("judgements: sign test", "", n, p)


def ted() -> Annotated:
    """The TED talks with their tags: one reference, two systems."""
    texts = [_tagged(name) for name in ("ref", "sys1", "sys2")]
    return Annotated({"sys1": texts[1], "sys2": texts[2]}, [(each,) for each in texts[0]])


def _tagged(name: str) -> list[Annotation]:
    folder = DATA / "ted-pos"
    return read_tags(folder / f"{name}.pos.txt", _lines(folder / f"{name}.tok.txt"), text=name)


def newstest(*systems: str) -> Annotated:
    """Two systems of newstest2018 de-en, tagged by spaCy."""
    tagger = CachedAnnotator(SpacyAnnotator("", language="en"), AnnotationCache(default_path()))
    folder = DATA / "wmt18" / "de-en"
    references = tagger.annotate(_lines(folder / "ref.txt"))
    outputs = {
        name: tagger.annotate(_lines(folder / "systems" / f"{name}.txt")) for name in systems
    }
    return Annotated(outputs, [(each,) for each in references])


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").removesuffix("\n").split("\n")


EQUAL = (
    ("bleu", "paper", Feature("upos", "NUM"), "NJUNMT-private.5406", "online-F.0"),
    ("bleu", "corpus", Feature("ner", "CARDINAL"), "NJUNMT-private.5406", "online-F.0"),
    ("chrf", "corpus", Feature("upos", "NUM"), "online-A.0", "online-F.0"),
)
"""MuLER .036 and .037, .042 and .043, .002 and .002; the score 37 and 19, 41 and 25, 67 and 56."""


def populations() -> Iterable[Population]:
    """A feature that is often wrong, and one that is nearly always right, by every metric."""
    talks, news = ted(), newstest("RWTH.5636", "online-A.0")
    for metric, preset in METRICS:
        yield Population.of(talks, metric, preset, _tag("NN"))
        yield Population.of(news, metric, preset, Feature("ner", "GPE"))


def _tag(name: str) -> Feature:
    return Feature("tags", name)


def rows(runs: int, rng: np.random.Generator, sizes: Sequence[int] = SIZES) -> Iterator[Row]:
    """All of it."""
    for population in populations():
        for n in sizes:
            yield from null_rows("null", population, n, runs, rng, swap=True)
            yield from coverage_rows(population, n, runs, rng)
    for metric, preset, feature, *systems in EQUAL:
        population = Population.of(newstest(*systems), metric, preset, feature)
        for n in (30, 100, 300):
            yield from null_rows("equal", population, n, runs, rng, swap=False)
    for n in (30, 100, 300, 1000):
        yield from scorer_rows(n, runs, rng)
    for n in (10, 30, 100, 300):
        yield judgement_row(n, runs, rng)
