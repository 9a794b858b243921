"""Words as slices: classes of words, bins of frequency, single words and pairs of words.

Everything is counted per segment, three figures each: how often the output has the words, how often
the reference wants them, and how many of these match.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.comparison.slices import NEGATION
from assay.data import Array, Dataset, divide
from assay.features.annotation import Annotation, Feature, Finder
from assay.metrics.base import select_metrics
from assay.metrics.typef import TypeF
from assay.text import language_of

__all__ = [
    "FrequencyBin",
    "Vocabulary",
    "WordClass",
    "class_counts",
    "f_score",
    "form_classes",
    "frequency_bins",
    "rare_words",
]

FUNCTION_WORDS = 50
"""So many of the most frequent words are function words, where nobody tagged them."""

LONG = 10
"""Letters of a long word."""

IN_REFERENCES = (1, 2, 5, 10, 100)
IN_TRAINING = (0, 1, 10, 100, 1000)
"""Frequencies at which bins begin."""


def f_score(sums: Array) -> Array:
    """F1 in percent of (b, 3) sums: predicted, wanted, matched; `nan` where there are no words."""
    predicted, wanted, matched = np.moveaxis(sums, -1, 0)
    there = predicted + wanted
    return np.where(there > 0, 100 * divide(2 * matched, there), np.nan)


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Counts of every type, (segments of all systems, types) sparse: predicted, wanted, matched.

    The rows of one system stand together, in the order of the dataset's systems.
    """

    types: tuple[str, ...]
    predicted: Any
    wanted: Any
    matched: Any
    length: int

    @classmethod
    def of(cls, dataset: Dataset, *, order: int = 1) -> Vocabulary:
        """The words of a dataset, or its sequences of `order` words."""
        spec = "macrof" if order == 1 else f"macrof:min_order={order},max_order={order}"
        [metric] = select_metrics([spec], dataset).metrics
        assert isinstance(metric, TypeF)
        rows, types = metric.count(dataset.all_segments())
        parts = [rows[:, at::3].tocsr().astype(float) for at in range(3)]
        for part in parts:
            part.eliminate_zeros()
        predicted, wanted, matched = parts
        return cls(tuple(types), predicted, wanted, matched, len(dataset))

    def of_system(self, at: int) -> tuple[Any, Any]:
        """What a system has and what of it matches, each (segments, types)."""
        rows = slice(at * self.length, (at + 1) * self.length)
        return self.predicted[rows], self.matched[rows]

    @cached_property
    def reference(self) -> Any:
        """What the references want, (segments, types): the same for all systems."""
        return self.wanted[: self.length]

    @cached_property
    def reference_counts(self) -> Array:
        """How often each type stands in the references."""
        return np.asarray(self.reference.sum(axis=0), float).ravel()

    def counts(self, chosen: NDArray[np.bool_]) -> Array:
        """The counts of some types together, (systems, segments, 3)."""
        weights = chosen.astype(float)
        parts = [part @ weights for part in (self.predicted, self.wanted, self.matched)]
        return np.stack(parts, axis=-1).reshape(-1, self.length, 3)


class WordClass(NamedTuple):
    """A class of words, and its counts, (systems, segments, 3): predicted, wanted, matched."""

    name: str
    counts: Array


def form_classes(dataset: Dataset, words: Vocabulary) -> list[WordClass]:
    """Classes that the form of a word tells: numbers, names, punctuation, negation ..."""
    code = language_of(dataset, "target").code
    known = dict(zip(words.types, words.reference_counts, strict=True))
    frequent = [word for word, _ in Counter(known).most_common() if word.isalpha()]
    function = frozenset(frequent[:FUNCTION_WORDS])
    tests: dict[str, Callable[[str], bool]] = {
        "numbers": lambda word: any(map(str.isdigit, word)),
        "capitalised words": lambda word: _is_name(word, known),
        "acronyms": lambda word: len(word) > 1 and word.isalpha() and word.isupper(),
        "punctuation": lambda word: not any(map(str.isalnum, word)),
        "quotation marks": lambda word: word in _QUOTES,
        "function words": function.__contains__,
        f"words of {LONG} letters and more": lambda word: len(word) >= LONG and word.isalpha(),
        "hyphenated words": lambda word: _HYPHEN.search(word) is not None,
    }
    if code in NEGATION:
        deny = NEGATION[code]
        tests["negations"] = lambda word: word.lower().replace("’", "'") in deny
    found = []
    for name, test in tests.items():
        chosen = np.fromiter(map(test, words.types), bool, count=len(words.types))
        if chosen.any():
            found.append(WordClass(name, words.counts(chosen)))
    return found


_QUOTES = frozenset("\"“”„«»'‘’‚‹›「」『』`")
_HYPHEN = re.compile(r"[^\W\d]-[^\W\d]")


def _is_name(word: str, known: Mapping[str, float]) -> bool:
    """Capitalised, and seldom written otherwise."""
    if len(word) < 2 or not word[0].isupper() or word.isupper():
        return False
    return known.get(word.lower(), 0.0) <= 0.2 * known.get(word, 0.0)


def rare_words(dataset: Dataset, words: Vocabulary, pair: Sequence[int]) -> WordClass:
    """Words found nowhere else: in no reference, source or other output, and in one segment only.

    These are misspelt, garbled, left untranslated in part, or made up. Which of the two systems of
    the `pair` has them does not matter for which words these are.
    """
    from assay.text import tokenize

    others = [at for at in range(len(dataset.systems)) if at not in pair]
    elsewhere = words.reference_counts > 0
    for at in others:
        elsewhere |= np.asarray(words.of_system(at)[0].sum(axis=0)).ravel() > 0
    source = {word for line in tokenize(dataset.sources) for word in line}
    elsewhere |= np.fromiter((word in source for word in words.types), bool)
    first, second = (words.of_system(at)[0] for at in pair)
    segments = np.asarray(((first + second) > 0).sum(axis=0)).ravel()
    letters = np.fromiter((any(map(str.isalpha, word)) for word in words.types), bool)
    chosen = (~elsewhere & (segments == 1) & letters).astype(float)
    counts = np.stack([part @ chosen for part in (first, second)])
    wanted = np.broadcast_to(np.asarray(words.reference.sum(axis=1)).ravel(), counts.shape)
    return WordClass("words found nowhere else", np.stack([counts, wanted], axis=-1))


def class_counts(
    systems: Mapping[str, Sequence[Annotation]],
    references: Sequence[tuple[Annotation, ...]],
    features: Sequence[Feature],
) -> list[WordClass]:
    """The counts of tagged words: those of a feature in the output, in the reference, and shared.

    Names count as a whole, other words one by one; of several references the largest count stands.
    """
    finder = Finder(features)
    wanted = [_largest([_words(finder, text) for text in texts]) for texts in references]
    places = {feature: at for at, feature in enumerate(features)}
    counts = np.zeros((len(systems), len(references), len(features), 3))
    for number, texts in enumerate(systems.values()):
        for segment, text in enumerate(texts):
            row, there = counts[number, segment], wanted[segment]
            for feature, found in there.items():
                row[places[feature], 1] = found.total()
            for feature, found in _words(finder, text).items():
                at = places[feature]
                row[at, 0] = found.total()
                if feature in there:
                    row[at, 2] = (found & there[feature]).total()
    return [WordClass(str(feature), counts[:, :, at]) for feature, at in places.items()]


def _words(finder: Finder, text: Annotation) -> dict[Feature, Counter[str]]:
    tokens = text.tokens
    return {
        feature: Counter(
            [" ".join(tokens[span.start : span.end]) for span in spans]
            if feature.kind == "ner"
            else [tokens[at] for span in spans for at in range(span.start, span.end)]
        )
        for feature, spans in finder(text).items()
    }


def _largest(texts: Iterable[dict[Feature, Counter[str]]]) -> dict[Feature, Counter[str]]:
    first, *others = texts
    for other in others:
        for feature, found in other.items():
            first[feature] = first.get(feature, Counter()) | found
    return first


class FrequencyBin(NamedTuple):
    """Types of similar frequency: which they are."""

    name: str
    chosen: NDArray[np.bool_]


def frequency_bins(
    words: Vocabulary, frequencies: Mapping[str, int] | None = None
) -> list[FrequencyBin]:
    """Bins by how often a type stands in the references, or in a corpus with these frequencies."""
    starts = IN_REFERENCES if frequencies is None else IN_TRAINING
    where = "in the references" if frequencies is None else "in the training corpus"
    wanted = words.reference_counts > 0
    counts = words.reference_counts
    if frequencies is not None:
        counts = np.fromiter((frequencies.get(word, 0) for word in words.types), float)
    places = np.searchsorted(starts, counts, side="right") - 1
    found = [
        FrequencyBin(f"{_times(at, starts)} {where}", wanted & (places == at))
        for at in range(len(starts))
    ]
    return [part for part in found if part.chosen.any()]


def _times(at: int, starts: Sequence[int]) -> str:
    start = starts[at]
    if at + 1 == len(starts):
        return f"seen {start} times or more"
    end = starts[at + 1] - 1
    if start == end:
        return {0: "never seen", 1: "seen once"}.get(start, f"seen {start} times")
    return f"seen {start} to {end} times"
