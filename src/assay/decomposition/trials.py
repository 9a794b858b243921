"""Trials of MuLER, features masked in part or drawn at random, and what they check (section 5)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import Array, Segment
from assay.decomposition.analysis import by_sentence
from assay.decomposition.decompose import (
    FEW,
    Annotated,
    FeaturePlaces,
    MaskedTexts,
    Parts,
    Preset,
    decompose,
    plain_segments,
    ratio,
)
from assay.decomposition.mask import (
    FeatureText,
    Masks,
    MaskUnit,
    Treat,
    Treatment,
    always,
    mask,
    masks_of,
)
from assay.features.annotation import Feature
from assay.metrics.base import Metric, Rows, Statistics
from assay.results import Record, known

__all__ = [
    "SPREAD",
    "Alphabet",
    "AlphabetCut",
    "FeatureDraw",
    "FeatureDraws",
    "FeatureTrial",
    "Hybrid",
    "Portion",
    "RangeCheck",
    "RobustnessCheck",
    "SpecificityCheck",
    "batches",
    "check_range",
    "check_robustness",
    "draw_features",
    "trials",
]


class AlphabetCut(NamedTuple):
    """The alphabetically first words of a feature: about `alpha` of them, and `share` in truth."""

    alpha: float
    share: float
    initials: frozenset[str]
    lower_initial: bool = False

    def treat(self, first: Treatment, rest: Treatment) -> Treat:
        """The first words one way, the rest another; words that do not count stay plain."""

        def treatment(word: str) -> Treatment:
            if self.lower_initial and not word[:1].islower():
                return "plain"
            return first if _initial(word) in self.initials else rest

        return treatment


@dataclass(frozen=True)
class Alphabet:
    """How many words of a feature begin with each letter; other characters come after letters.

    `lower_initial` counts only words that begin in lower case, as the paper's Tables 11-13 do.
    """

    counts: Mapping[str, int]
    lower_initial: bool = False

    @classmethod
    def of(cls, words: Iterable[str], *, lower_initial: bool = False) -> Alphabet:
        """Count every occurrence, without regard to case."""
        counts = Counter(_initial(w) for w in words if not lower_initial or w[:1].islower())
        ordered = sorted(counts, key=lambda letter: (not letter.isalpha(), letter))
        return cls({letter: counts[letter] for letter in ordered}, lower_initial)

    def cut(self, alpha: float) -> AlphabetCut:
        """The words up to the first letter with which they are `alpha` of all; none at 0.

        >>> Alphabet.of(["air", "Ale", "bee", "cat"]).cut(0.6).share
        0.75
        """
        total = sum(self.counts.values())
        taken: list[str] = []
        held = 0
        for letter, count in self.counts.items():
            # 0.3 * 10 is a little more than 3.
            if held >= alpha * total - 1e-9:
                break
            taken.append(letter)
            held += count
        share = held / total if total else float("nan")
        return AlphabetCut(alpha, share, frozenset(taken), self.lower_initial)


@dataclass(frozen=True, eq=False)
class FeatureTrial:
    """One feature in one system's output, to be masked as a check wants it."""

    metric: Metric
    preset: Preset
    feature: Feature
    system: str
    texts: MaskedTexts
    whole: Parts

    def alphabet(self, *, lower_initial: bool = False) -> Alphabet:
        """Of the feature's words in the sentences of I, on both sides."""
        return Alphabet.of(self._words(), lower_initial=lower_initial)

    def score(self, treat: Treat) -> float:
        """The metric's score of the sentences of I, masked."""
        if not len(self.whole.chosen):
            return float("nan")
        return self._masked(treat).corpus() * self.preset.scale

    def parts(self, cut: AlphabetCut) -> Parts:
        """Masked at best and at worst in the words of the cut only, all others left alone."""
        if not len(self.whole.chosen):
            return self.whole
        oracle, anti = cut.treat("oracle", "plain"), cut.treat("anti", "plain")
        return self.whole._replace(oracle=self._masked(oracle), anti=self._masked(anti))

    def _masked(self, treat: Treat) -> Statistics:
        rows = self.metric.statistics(self.texts.segments(treat)).rows
        return self.preset.statistics(self.metric, rows)

    def _words(self) -> Iterator[str]:
        for at in self.whole.chosen:
            for side in (*self.texts.references[at], self.texts.systems[self.system][at]):
                by_span = (start for start, _ in side.spans)
                for place in by_span if self.texts.per == "span" else side.positions:
                    yield side.tokens[place]


def trials(
    annotated: Annotated,
    metric: Metric,
    features: Sequence[Feature],
    *,
    preset: Preset,
    per: MaskUnit = "token",
) -> Iterator[FeatureTrial]:
    """Every feature of every system, feature by feature."""
    whole = decompose(annotated, metric, features, preset=preset, per=per)
    places = FeaturePlaces.of(annotated, features)
    masks = masks_of(whole.metric, plain_segments(annotated))
    for feature in features:
        for system in whole.systems:
            own = places._replace(systems={system: places.systems[system]})
            texts = MaskedTexts(own, feature, masks, per)
            parts = whole.parts[feature, system]
            yield FeatureTrial(whole.metric, preset, feature, system, texts, parts)


def _initial(word: str) -> str:
    return word.casefold()[:1]


BATCH = 40_000
"""About so many masked texts are scored at a time: few calls, and memory stays bounded."""

WordGroup = frozenset[str]


class FeatureDraw(NamedTuple):
    """A feature of random words: MuLER, the sentences of I, its share of either side's words."""

    muler: float
    n: int
    frequency_ref: float
    frequency_sys: float


class FeatureDraws(NamedTuple):
    """The same of many draws, as arrays."""

    muler: Array
    n: NDArray[np.intp]
    frequency_ref: Array
    frequency_sys: Array

    @classmethod
    def joined(cls, parts: Iterable[FeatureDraws]) -> FeatureDraws:
        """All draws of several parts, in their order."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))


def draw_features(
    annotated: Annotated,
    system: str,
    metric: Metric,
    *,
    groups: int,
    draws: int,
    preset: Preset,
    rng: np.random.Generator,
) -> Iterator[FeatureDraws]:
    """MuLER of one random group out of `groups`, `draws` times: as many yields as `batches`."""
    texts = _Texts.of(annotated, system)
    metric = preset.metric(metric)
    segments = texts.plain()
    plain, masks = metric.statistics(segments).rows, masks_of(metric, segments)
    words = texts.words()
    size = max(1, len(words) // groups)
    step = _step(annotated)
    for start in range(0, draws, step):
        drawn = [_group(words, size, rng) for _ in range(min(step, draws - start))]
        scored = _score(texts, drawn, metric, preset, masks, plain)
        yield FeatureDraws(*map(np.array, zip(*scored, strict=True)))


def batches(annotated: Annotated, draws: int) -> int:
    """In how many parts that many draws are made."""
    return math.ceil(draws / _step(annotated))


def _step(annotated: Annotated) -> int:
    return max(1, BATCH // max(1, 2 * len(annotated)))


def _group(words: Sequence[str], size: int, rng: np.random.Generator) -> WordGroup:
    """One group of a random split into equal parts; the rest of the split is not needed."""
    return frozenset(words[at] for at in rng.permutation(len(words))[:size])


class _Texts(NamedTuple):
    """One system's outputs and their references, word by word."""

    outputs: Sequence[tuple[str, ...]]
    references: Sequence[tuple[tuple[str, ...], ...]]
    counts: tuple[Counter[str], Counter[str]]

    @classmethod
    def of(cls, annotated: Annotated, system: str) -> _Texts:
        outputs = [text.tokens for text in annotated.systems[system]]
        references = [tuple(text.tokens for text in texts) for texts in annotated.references]
        first = Counter(chain.from_iterable(texts[0] for texts in references))
        return cls(outputs, references, (first, Counter(chain.from_iterable(outputs))))

    def words(self) -> list[str]:
        """The distinct words of both sides, in one order whatever the run."""
        others = chain.from_iterable(chain.from_iterable(self.references))
        return sorted({*others, *self.counts[1]})

    def plain(self) -> list[Segment]:
        pairs = zip(self.outputs, self.references, strict=True)
        return [
            Segment(" ".join(output), tuple(map(" ".join, references)))
            for output, references in pairs
        ]

    def frequencies(self, group: WordGroup) -> Iterator[float]:
        """The group's share of the words of the first references, and of the outputs."""
        for counts in self.counts:
            yield sum(counts[word] for word in group) / max(1, counts.total())

    def chosen(self, group: WordGroup) -> list[int]:
        """The sentences that have words of the group on both sides."""
        apart = group.isdisjoint
        pairs = enumerate(zip(self.outputs, self.references, strict=True))
        return [at for at, (o, r) in pairs if not apart(o) and not all(map(apart, r))]

    def masked(self, group: WordGroup, chosen: Sequence[int], masks: Masks) -> Iterator[Segment]:
        """The chosen sentences with the group masked at best, and then at worst."""
        if masks.policy == "type":
            yield from self._masked_types(group, chosen, masks)
            return
        best, worst = (
            _table(group, masks, placeholder) for placeholder in (masks.shared, masks.hypothesis)
        )
        # The shared mask does for the references at worst, too: the output has another one there.
        references = [
            tuple(" ".join([best.get(word, word) for word in text]) for text in self.references[at])
            for at in chosen
        ]
        for table in (best, worst):
            for at, shared in zip(chosen, references, strict=True):
                output = " ".join([table.get(word, word) for word in self.outputs[at]])
                yield Segment(output, shared)

    def _masked_types(
        self, group: WordGroup, chosen: Sequence[int], masks: Masks
    ) -> Iterator[Segment]:
        for treat in (always("oracle"), always("anti")):
            for at in chosen:
                references = [_side(text, group) for text in self.references[at]]
                yield Segment(*mask(_side(self.outputs[at], group), references, masks, treat))


def _table(group: WordGroup, masks: Masks, placeholder: str) -> dict[str, str]:
    """What stands in for each word of the group."""
    stretch = masks.policy == "length"
    return {word: placeholder * len(word) if stretch else placeholder for word in group}


def _side(tokens: tuple[str, ...], group: WordGroup) -> FeatureText:
    places = tuple(at for at, token in enumerate(tokens) if token in group)
    return FeatureText(tokens, tuple((at, at + 1) for at in places), places)


def _score(
    texts: _Texts,
    drawn: Sequence[WordGroup],
    metric: Metric,
    preset: Preset,
    masks: Masks,
    plain: Rows,
) -> Iterator[FeatureDraw]:
    """All draws in one call of the metric, each then cut out of its rows."""
    chosen = [texts.chosen(group) for group in drawn]
    pairs = zip(drawn, chosen, strict=True)
    segments = [segment for group, own in pairs for segment in texts.masked(group, own, masks)]
    rows = metric.statistics(segments).rows if segments else plain
    start = 0
    for group, own in zip(drawn, chosen, strict=True):
        best = slice(start, start := start + len(own))
        worst = slice(start, start := start + len(own))
        three = (preset.statistics(metric, r) for r in (plain[own], rows[best], rows[worst]))
        value = float(ratio(Parts(np.array(own, np.intp), *three).scores()))
        yield FeatureDraw(value, len(own), *texts.frequencies(group))


SPREAD = 0.05
"""Random features whose MuLER has a larger standard deviation are not all alike."""

_TINY = 1e-9


class Hybrid(NamedTuple):
    """The score with the first words of a feature right and the rest wrong."""

    alpha: float
    share: float
    score: float


@dataclass(frozen=True)
class RangeCheck:
    """Hybrid scores from the anti-oracle (alpha 0) to the oracle (alpha 1), by rising alpha."""

    feature: Feature
    system: str
    n: int
    hybrids: tuple[Hybrid, ...]

    @property
    def positions(self) -> tuple[float, ...]:
        """Where each hybrid lies: 0 at the anti-oracle, 1 at the oracle; `nan` if these agree."""
        anti, oracle = self.hybrids[0].score, self.hybrids[-1].score
        spread = oracle - anti
        if not abs(spread) > _TINY * max(1, abs(oracle)):
            return (math.nan,) * len(self.hybrids)
        return tuple((hybrid.score - anti) / spread for hybrid in self.hybrids)

    @property
    def holds(self) -> bool | None:
        """Whether no score leaves the range or falls as alpha rises; None if there is no range."""
        positions = np.array(self.positions)
        if np.isnan(positions).any():
            return None
        return bool(np.all(np.diff(positions) >= -_TINY))

    def records(self) -> list[Record]:
        """One per alpha."""
        ends = {"anti": known(self.hybrids[0].score), "oracle": known(self.hybrids[-1].score)}
        return [
            {
                **_head("range", self),
                "alpha": hybrid.alpha,
                "share": known(hybrid.share),
                "hybrid": known(hybrid.score),
                **ends,
                "position": known(position),
                "holds": self.holds,
            }
            for hybrid, position in zip(self.hybrids, self.positions, strict=True)
        ]


@dataclass(frozen=True)
class SpecificityCheck:
    """A real feature beside random ones of about its frequency."""

    feature: Feature
    system: str
    n: int
    muler: float
    frequency: float
    groups: int
    draws: FeatureDraws

    @property
    def mean(self) -> float:
        """The mean MuLER of the random features."""
        defined = self._defined
        return float(defined.mean()) if len(defined) else math.nan

    @property
    def variance(self) -> float:
        """The variance of the random features' MuLER."""
        defined = self._defined
        return float(defined.var(ddof=1)) if len(defined) > 1 else math.nan

    @property
    def deviation(self) -> float:
        """The standard deviation of the random features' MuLER."""
        return math.sqrt(self.variance)

    @property
    def extreme(self) -> float:
        """The share of random features as far from their mean as the real one is, or farther."""
        if math.isnan(self.muler) or not len(self._defined):
            return math.nan
        far = np.abs(self._defined - self.mean) >= abs(self.muler - self.mean) - _TINY
        return float(far.mean())

    @property
    def holds(self) -> bool | None:
        """Whether the random features are all alike; None if they have too few sentences."""
        if math.isnan(self.variance) or self.draws.n.mean() < FEW:
            return None
        return self.deviation <= SPREAD

    def records(self) -> list[Record]:
        """One only."""
        drawn = self.draws
        values = {
            "muler": self.muler,
            "frequency": self.frequency,
            "groups": self.groups,
            "draws": len(drawn.muler),
            "undefined": len(drawn.muler) - len(self._defined),
            "random_n": float(drawn.n.mean()),
            "random_frequency_ref": float(drawn.frequency_ref.mean()),
            "random_frequency_sys": float(drawn.frequency_sys.mean()),
            "mean": self.mean,
            "variance": self.variance,
            "sd": self.deviation,
            "as_far": self.extreme,
        }
        figures = {key: known(value) for key, value in values.items()}
        return [{**_head("specificity", self), **figures, "holds": self.holds}]

    @property
    def _defined(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return self.draws.muler[~np.isnan(self.draws.muler)]


class Portion(NamedTuple):
    """MuLER with only the first words of a feature masked."""

    alpha: float
    share: float
    muler: float
    per_sentence: float
    abl: float


@dataclass(frozen=True)
class RobustnessCheck:
    """MuLER and its numerator by how much of the feature is masked, up to all of it."""

    feature: Feature
    system: str
    n: int
    portions: tuple[Portion, ...]

    def change(self, measure: Literal["muler", "per_sentence", "abl"]) -> float:
        """How much less or more it is with half of the words masked, as a share of the whole.

        Half is the portion nearest to it, as long as that is not everything.
        """
        parts = [portion for portion in self.portions if portion.share < 1]
        whole = getattr(self.portions[-1], measure)
        if not parts or not abs(whole) > _TINY:
            return math.nan
        half = min(parts, key=lambda portion: abs(portion.share - 0.5))
        return float(abs(getattr(half, measure) / whole - 1))

    @property
    def holds(self) -> bool | None:
        """Whether MuLER changes less than its numerator; None if that cannot be said."""
        changes = self.change("muler"), self.change("abl")
        if any(map(math.isnan, changes)) or self.n < FEW:
            return None
        return changes[0] < changes[1]

    def records(self) -> list[Record]:
        """One per alpha."""
        return [
            {
                **_head("robustness", self),
                **{key: known(value) for key, value in portion._asdict().items()},
                "holds": self.holds,
            }
            for portion in self.portions
        ]


def _head(check: str, result: RangeCheck | SpecificityCheck | RobustnessCheck) -> Record:
    feature = {"feature": result.feature.name, "kind": result.feature.kind}
    return {"check": check, "system": result.system, **feature, "n": result.n}


def check_range(
    trial: FeatureTrial, alphas: Sequence[float], *, lower_initial: bool = False
) -> RangeCheck:
    """The scores of all hybrids, between those of the anti-oracle and the oracle."""
    alphabet = trial.alphabet(lower_initial=lower_initial)
    cuts = map(alphabet.cut, (0.0, *alphas, 1.0))
    hybrids = tuple(
        Hybrid(cut.alpha, cut.share, trial.score(cut.treat("oracle", "anti"))) for cut in cuts
    )
    return RangeCheck(trial.feature, trial.system, len(trial.whole.chosen), hybrids)


def check_robustness(trial: FeatureTrial, alphas: Sequence[float]) -> RobustnessCheck:
    """MuLER of the first words of a feature, for every alpha and for all words."""
    cuts = map(trial.alphabet().cut, (*alphas, 1.0))
    portions = tuple(_portion(trial, cut) for cut in cuts)
    return RobustnessCheck(trial.feature, trial.system, len(trial.whole.chosen), portions)


def _portion(trial: FeatureTrial, cut: AlphabetCut) -> Portion:
    parts = trial.whole if cut.share == 1 else trial.parts(cut)
    scores = parts.scores() * trial.preset.scale
    per_sentence = by_sentence(parts, trial.metric).ratio
    plain, oracle, _ = scores
    return Portion(cut.alpha, cut.share, float(ratio(scores)), per_sentence, float(oracle - plain))
