"""Some of a feature's words masked one way and the rest another (the paper's section 5).

Words are parted by the alphabet, not by chance: the same words are masked on both sides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assay.features.annotation import Feature
from assay.metrics.base import Metric, Statistics
from assay.muler.decompose import (
    Annotated,
    FoundFeatures,
    MaskedTexts,
    Parts,
    decompose,
    plain_segments,
)
from assay.muler.mask import Per, Treat, Treatment, masks_of
from assay.muler.presets import Preset

__all__ = ["Alphabet", "Cut", "Trial", "trials"]


class Cut(NamedTuple):
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

    def cut(self, alpha: float) -> Cut:
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
        return Cut(alpha, share, frozenset(taken), self.lower_initial)


@dataclass(frozen=True, eq=False)
class Trial:
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

    def parts(self, cut: Cut) -> Parts:
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
    per: Per = "token",
) -> Iterator[Trial]:
    """Every feature of every system, feature by feature."""
    whole = decompose(annotated, metric, features, preset=preset, per=per)
    found = FoundFeatures.of(annotated, features)
    masks = masks_of(whole.metric, plain_segments(annotated))
    for feature in features:
        for system in whole.systems:
            own = found._replace(systems={system: found.systems[system]})
            texts = MaskedTexts(own, feature, masks, per)
            parts = whole.parts[feature, system]
            yield Trial(whole.metric, preset, feature, system, texts, parts)


def _initial(word: str) -> str:
    return word.casefold()[:1]
