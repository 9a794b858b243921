"""What looks odd in the texts: tokenized, empty or untranslated lines, systems that are twins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay import kernel
from assay.data import Dataset, divide
from assay.metrics.base import Metric
from assay.text import identify, language_of

__all__ = ["oddities"]

MANY_TOKENIZED = 100
FEW_SEGMENTS = 30

LOOKED_AT = 500
"""Segments, spread over the test set, that are searched for what is untranslated."""

UNTRANSLATED = 0.1
"""The share of them from which on it is told: no system of WMT18, 20 or 21 has over 3 %."""

SAME = 0.6
"""A line repeats the source where so many of its words are in the source."""

FEWEST_WORDS = 3
"""Shorter lines do not count: they may be names, and right as they are."""

FAMILIAR = 0.2
"""The share of lines in the source's vocabulary from which on their language is looked at.

Loading what identifies languages takes time; below this, outputs in another language are usual.
"""

_PRIME = 7919
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_LETTER = re.compile(rf"[^\W\d_{_UNSPACED}]+")
_WORD_BY_ITSELF = re.compile(rf"[{_UNSPACED}]+")

COMMON, LETTERS, EVERYTHING = 0x3000, 0x32400, 0x110000
"""Below these code points are most alphabets, all letters, and all characters."""


def oddities(dataset: Dataset, metrics: Sequence[Metric] = ()) -> list[str]:
    """Remarks for the user: tokenized or empty lines, untranslated ones, twin systems.

    Of tokenized text only where a metric is lowered by it, or where none is named.
    """
    counts = {name: kernel.count_lines(lines) for name, lines in dataset.systems.items()}
    tokenized = _tokenized(counts) if _minds_tokens(metrics) else ()
    empty = _empty(counts, len(dataset))
    return [*chain(_few(dataset), tokenized, empty, _untranslated(dataset)), *_twins(dataset)]


def _few(dataset: Dataset) -> Iterator[str]:
    if len(dataset) < FEW_SEGMENTS:
        plural = "s" if len(dataset) > 1 else ""
        yield (
            f"{len(dataset)} segment{plural}: too few to say much; corpus scores, intervals and "
            "tests of so little text are unsteady."
        )


def _minds_tokens(metrics: Sequence[Metric]) -> bool:
    return not metrics or any(not metric.ignores_blanks for metric in metrics)


def _tokenized(counts: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    for name, (_, tokenized) in counts.items():
        if tokenized >= MANY_TOKENIZED:
            yield f"{name}: {tokenized} lines end in ' .': forgot to detokenize? It lowers scores."


def _empty(counts: Mapping[str, tuple[int, int]], length: int) -> Iterator[str]:
    for name, (empty, _) in counts.items():
        if empty:
            yield f"{name}: {empty} of {length} lines are empty."


class _Looked(NamedTuple):
    """Which lines are long enough to tell; which have words of their source, and of all sources."""

    enough: NDArray[np.bool_]
    repeats: NDArray[np.bool_]
    familiar: NDArray[np.bool_]


def _untranslated(dataset: Dataset) -> Iterator[str]:
    """Systems that leave many lines in the source's language, copied or not."""
    pair = dataset.languages
    if not dataset.sources or (pair and pair[0] == pair[1]):
        return
    places = _places(len(dataset))
    sources = tuple(dataset.sources[at] for at in places)
    owners = tuple(at for at, place in enumerate(places) for _ in dataset.references[place])
    references = tuple(chain.from_iterable(dataset.references[place] for place in places))
    repeats = _looked(references, owners, sources).repeats
    # Where a reference repeats the source as well, an output that does so is right.
    right = {owners[at] for at in np.flatnonzero(repeats).tolist()}
    left = tuple(at for at in range(len(places)) if at not in right)
    texts = [[lines[places[at]] for at in left] for lines in dataset.systems.values()]
    looked = _looked(tuple(chain.from_iterable(texts)), left * len(texts), sources)
    for at, (name, lines) in enumerate(zip(dataset.systems, texts, strict=True)):
        part = slice(at * len(left), (at + 1) * len(left))
        yield from _told(dataset, name, lines, *(each[part] for each in looked))


def _looked(lines: tuple[str, ...], places: tuple[int, ...], sources: tuple[str, ...]) -> _Looked:
    """Every line beside the source at its place."""
    lowered = tuple(map(str.lower, lines)), places, tuple(map(str.lower, sources))
    counts = kernel.word_overlaps(*lowered, _letters(COMMON))
    if (counts < 0).any():
        counts = kernel.word_overlaps(*lowered, _letters(LETTERS).ljust(EVERYTHING, b"\0"))
    words, in_source, in_sources = counts.T
    enough = words >= FEWEST_WORDS
    return _Looked(
        enough, *(enough & (divide(each, words) >= SAME) for each in (in_source, in_sources))
    )


@cache
def _letters(below: int) -> bytes:
    """One byte per code point: 1 for a letter, 2 for one that is a word by itself."""
    characters = "".join(map(chr, range(below)))
    table = bytearray(below)
    for value, pattern in ((1, _LETTER), (2, _WORD_BY_ITSELF)):
        for match in pattern.finditer(characters):
            table[match.start() : match.end()] = bytes([value]) * (match.end() - match.start())
    return bytes(table)


def _places(length: int) -> list[int]:
    """All segments, or so many of them that no period in the test set matters."""
    if length <= LOOKED_AT:
        return list(range(length))
    return sorted({at * _PRIME % length for at in range(LOOKED_AT)})


def _told(
    dataset: Dataset,
    name: str,
    lines: Sequence[str],
    enough: NDArray[np.bool_],
    repeats: NDArray[np.bool_],
    familiar: NDArray[np.bool_],
) -> Iterator[str]:
    looked, copies = int(enough.sum()), int(repeats.sum())
    language = ""
    if copies > UNTRANSLATED * looked or familiar.sum() > FAMILIAR * looked:
        language = language_of(dataset, "source").code
        if any(dataset.references) and language == language_of(dataset, "target").code:
            return
    others = np.flatnonzero(enough & ~repeats).tolist() if language else []
    foreign = sum(identify([lines[at]]) == language for at in others)
    if copies + foreign <= UNTRANSLATED * looked:
        return
    share = (copies + foreign) / looked
    also = f", {foreign} more are in its language ({language})" if foreign else ""
    yield (
        f"{name}: {share:.0%} of the output is untranslated. Of {looked} lines looked at, "
        f"{copies} repeat the source{also}. Metrics without references may prefer that."
    )


def _twins(dataset: Dataset) -> Iterator[str]:
    seen: dict[tuple[str, ...], str] = {}
    for name, lines in dataset.systems.items():
        if lines in seen:
            yield f"{seen[lines]} and {name} are the same text throughout."
        seen.setdefault(lines, name)
