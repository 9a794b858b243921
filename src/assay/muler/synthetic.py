"""Features that mean nothing: words drawn at random, about as frequent as those of a real one.

The distinct words of references and output are split at random into equal groups, and the words of
one group are masked wherever they stand (the paper's section 5, specificity).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import Segment
from assay.metrics.base import Array, Metric, Rows
from assay.muler.decompose import Annotated, Parts, ratio
from assay.muler.mask import Masks, Side, always, mask, masks_of
from assay.muler.presets import Preset

__all__ = ["Draw", "Draws", "batches", "draw_features"]

BATCH = 40_000
"""About so many masked texts are scored at a time: few calls, and memory stays bounded."""

Group = frozenset[str]


class Draw(NamedTuple):
    """A feature of random words: MuLER, the sentences of I, its share of either side's words."""

    muler: float
    n: int
    frequency_ref: float
    frequency_sys: float


class Draws(NamedTuple):
    """The same of many draws, as arrays."""

    muler: Array
    n: NDArray[np.intp]
    frequency_ref: Array
    frequency_sys: Array

    @classmethod
    def joined(cls, parts: Iterable[Draws]) -> Draws:
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
) -> Iterator[Draws]:
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
        found = _score(texts, drawn, metric, preset, masks, plain)
        yield Draws(*map(np.array, zip(*found, strict=True)))


def batches(annotated: Annotated, draws: int) -> int:
    """In how many parts that many draws are made."""
    return math.ceil(draws / _step(annotated))


def _step(annotated: Annotated) -> int:
    return max(1, BATCH // max(1, 2 * len(annotated)))


def _group(words: Sequence[str], size: int, rng: np.random.Generator) -> Group:
    """One group of a random split into equal parts; the rest of the split is not needed."""
    return frozenset(words[at] for at in rng.permutation(len(words))[:size])


class _Texts(NamedTuple):
    """One system's outputs and their references, word by word."""

    outputs: Sequence[tuple[str, ...]]
    references: Sequence[tuple[tuple[str, ...], ...]]
    counts: tuple[Counter[str], Counter[str]]

    @classmethod
    def of(cls, annotated: Annotated, system: str) -> _Texts:
        outputs = [each.tokens for each in annotated.systems[system]]
        references = [tuple(each.tokens for each in texts) for texts in annotated.references]
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

    def frequencies(self, group: Group) -> Iterator[float]:
        """The group's share of the words of the first references, and of the outputs."""
        for counts in self.counts:
            yield sum(counts[word] for word in group) / max(1, counts.total())

    def chosen(self, group: Group) -> list[int]:
        """The sentences that have words of the group on both sides."""
        apart = group.isdisjoint
        pairs = enumerate(zip(self.outputs, self.references, strict=True))
        return [at for at, (o, r) in pairs if not apart(o) and not all(map(apart, r))]

    def masked(self, group: Group, chosen: Sequence[int], masks: Masks) -> Iterator[Segment]:
        """The chosen sentences with the group masked at best, and then at worst."""
        if masks.policy == "type":
            yield from self._masked_types(group, chosen, masks)
            return
        best, worst = (_table(group, masks, each) for each in (masks.shared, masks.hypothesis))
        # The shared mask does for the references at worst, too: the output has another one there.
        references = [
            tuple(" ".join([best.get(word, word) for word in text]) for text in self.references[at])
            for at in chosen
        ]
        for table in (best, worst):
            for at, shared in zip(chosen, references, strict=True):
                output = " ".join([table.get(word, word) for word in self.outputs[at]])
                yield Segment(output, shared)

    def _masked_types(self, group: Group, chosen: Sequence[int], masks: Masks) -> Iterator[Segment]:
        for treat in (always("oracle"), always("anti")):
            for at in chosen:
                references = [_side(text, group) for text in self.references[at]]
                yield Segment(*mask(_side(self.outputs[at], group), references, masks, treat))


def _table(group: Group, masks: Masks, placeholder: str) -> dict[str, str]:
    """What stands in for each word of the group."""
    stretch = masks.policy == "length"
    return {word: placeholder * len(word) if stretch else placeholder for word in group}


def _side(tokens: tuple[str, ...], group: Group) -> Side:
    places = tuple(at for at, token in enumerate(tokens) if token in group)
    return Side(tokens, tuple((at, at + 1) for at in places), places)


def _score(
    texts: _Texts, drawn: Sequence[Group], metric: Metric, preset: Preset, masks: Masks, plain: Rows
) -> Iterator[Draw]:
    """All draws in one call of the metric, each then cut out of its rows."""
    chosen = [texts.chosen(group) for group in drawn]
    pairs = zip(drawn, chosen, strict=True)
    segments = [each for group, own in pairs for each in texts.masked(group, own, masks)]
    rows = metric.statistics(segments).rows if segments else plain
    start = 0
    for group, own in zip(drawn, chosen, strict=True):
        best = slice(start, start := start + len(own))
        worst = slice(start, start := start + len(own))
        three = (preset.statistics(metric, r) for r in (plain[own], rows[best], rows[worst]))
        value = float(ratio(Parts(np.array(own, np.intp), *three).scores()))
        yield Draw(value, len(own), *texts.frequencies(group))
