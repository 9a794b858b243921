"""What looks odd in a test set, in words; nothing here changes a score."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from assay.data import Dataset
from assay.languages import identify, language_of
from assay.metrics.base import Metric

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
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W\d_{_UNSPACED}]+")


def oddities(dataset: Dataset, metrics: Sequence[Metric] = ()) -> list[str]:
    """Remarks for the user: tokenized or empty lines, untranslated ones, twin systems.

    Of tokenized text only where a metric is lowered by it, or where none is named.
    """
    tokenized = _tokenized(dataset) if _minds_tokens(metrics) else ()
    every = [_few(dataset), tokenized, _per_system(dataset), _untranslated(dataset)]
    return [*chain(*every), *_twins(dataset)]


def _few(dataset: Dataset) -> Iterator[str]:
    if len(dataset) < FEW_SEGMENTS:
        plural = "s" if len(dataset) > 1 else ""
        yield (
            f"{len(dataset)} segment{plural}: too few to say much; corpus scores, intervals and "
            "tests of so little text are unsteady."
        )


def _minds_tokens(metrics: Sequence[Metric]) -> bool:
    return not metrics or any(not metric.ignores_blanks for metric in metrics)


def _tokenized(dataset: Dataset) -> Iterator[str]:
    for name, lines in dataset.systems.items():
        if (tokenized := sum(line.endswith(" .") for line in lines)) >= MANY_TOKENIZED:
            yield f"{name}: {tokenized} lines end in ' .': forgot to detokenize? It lowers scores."


def _per_system(dataset: Dataset) -> Iterator[str]:
    for name, lines in dataset.systems.items():
        if empty := sum(not line.strip() for line in lines):
            yield f"{name}: {empty} of {len(lines)} lines are empty."


class _Line(NamedTuple):
    """A line of an output, and whether its source and the whole source text have its words."""

    text: str
    repeats: bool
    familiar: bool


def _untranslated(dataset: Dataset) -> Iterator[str]:
    """Systems that leave many lines in the source's language, copied or not."""
    pair = dataset.languages
    if not dataset.sources or (pair and pair[0] == pair[1]):
        return
    sources = {at: _words(dataset.sources[at]) for at in _places(len(dataset))}
    vocabulary = set().union(*sources.values())
    for at, source in list(sources.items()):
        # Where a reference repeats the source as well, an output that does so is right.
        if any(_repeats(_words(line), source) for line in dataset.references[at]):
            del sources[at]
    for name, lines in dataset.systems.items():
        looked = [
            _Line(lines[at], _repeats(words, source), _share(words, vocabulary) >= SAME)
            for at, source in sources.items()
            if len(words := _words(lines[at])) >= FEWEST_WORDS
        ]
        yield from _told(dataset, name, looked)


def _places(length: int) -> list[int]:
    """All segments, or so many of them that no period in the test set matters."""
    if length <= LOOKED_AT:
        return list(range(length))
    return sorted({at * _PRIME % length for at in range(LOOKED_AT)})


def _told(dataset: Dataset, name: str, looked: Sequence[_Line]) -> Iterator[str]:
    copies = sum(line.repeats for line in looked)
    familiar = sum(line.familiar for line in looked)
    language = ""
    if copies > UNTRANSLATED * len(looked) or familiar > FAMILIAR * len(looked):
        language = language_of(dataset, "source").code
        if any(dataset.references) and language == language_of(dataset, "target").code:
            return
    others = [line.text for line in looked if not line.repeats] if language else []
    foreign = sum(identify([line]) == language for line in others)
    if copies + foreign <= UNTRANSLATED * len(looked):
        return
    share = (copies + foreign) / len(looked)
    also = f", {foreign} more are in its language ({language})" if foreign else ""
    yield (
        f"{name}: {share:.0%} of the output is untranslated. Of {len(looked)} lines looked at, "
        f"{copies} repeat the source{also}. Metrics without references may prefer that."
    )


def _words(line: str) -> frozenset[str]:
    return frozenset(_WORD.findall(line.lower()))


def _repeats(words: frozenset[str], source: frozenset[str]) -> bool:
    return len(words) >= FEWEST_WORDS and _share(words, source) >= SAME


def _share(words: frozenset[str], others: frozenset[str] | set[str]) -> float:
    return len(words & others) / len(words) if words else 0.0


def _twins(dataset: Dataset) -> Iterator[str]:
    seen: dict[tuple[str, ...], str] = {}
    for name, lines in dataset.systems.items():
        if lines in seen:
            yield f"{seen[lines]} and {name} are the same text throughout."
        seen.setdefault(lines, name)
