"""Slices: parts of a test set that have a name, by what their texts are like and by labels.

What a slice is decided by never depends on which of two systems an output came from: sources,
references, labels, or all outputs alike. Tests of slices rely on that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import Array, DataError, Dataset
from assay.text import language_of

__all__ = ["FEWEST", "NEGATION", "Slice", "label_slices", "score_slices", "text_slices"]

FEWEST = 5
"""A slice of fewer segments is too small to be tested."""

MOST = 0.9
"""A slice of more than this share of all segments says nothing of its own."""

BINS = 4
"""Lengths and difficulties are cut into so many parts of the same size."""

QUARTERS = (
    "the hardest quarter",
    "the second hardest quarter",
    "the second easiest quarter",
    "the easiest quarter",
)

Mask = NDArray[np.bool_]


class Slice(NamedTuple):
    """Some segments: what kind of slice, its name, and for every segment whether it is in it."""

    kind: str
    name: str
    mask: Mask


NEGATION: Mapping[str, frozenset[str]] = {
    code: frozenset(words.split())
    for code, words in {
        "en": "not n't no never none nobody nothing nowhere neither nor cannot without "
        "can't don't doesn't didn't won't isn't aren't wasn't weren't hasn't haven't hadn't "
        "wouldn't shouldn't couldn't mustn't needn't",
        "de": "nicht kein keine keinen keinem keiner keines nie niemals nichts niemand niemanden "
        "weder noch nirgends nirgendwo ohne",
        "fr": "ne pas jamais rien personne aucun aucune ni sans n'",
        "es": "no nunca jamás nada nadie ningún ninguna ninguno ni sin tampoco",
        "it": "non mai niente nulla nessuno nessuna né senza",
        "pt": "não nunca jamais nada ninguém nenhum nenhuma nem sem",
        "nl": "niet geen nooit niets niemand nergens noch zonder",
        "ru": "не нет никогда ничего никто никого ни нигде без нельзя",
        "uk": "не немає ніколи нічого ніхто ні ніде без",
        "pl": "nie nigdy nic nikt żaden żadna żadne ani bez",
        "cs": "ne není nikdy nic nikdo žádný žádná žádné ani bez nebyl nebyla nebude nemá nemůže",
        "zh": "不 没 没有 未 无 非",
        "tr": "değil yok hiç asla hiçbir ne",
        "fi": "ei eivät en emme ette et ei koskaan mikään kukaan ilman",
        "et": "ei pole mitte kunagi miski keegi ilma",
        "ro": "nu niciodată nimic nimeni niciun nicio nici fără",
        "sv": "inte ingen inget inga aldrig ingenting utan",
        "da": "ikke ingen intet aldrig uden",
        "no": "ikke ingen intet aldri uten",
    }.items()
}
"""Words that deny, by language."""

_UPPER = "".join(letter for letter in map(chr, range(0x530)) if letter.isupper())
"""Capital letters of the Latin, Greek and Cyrillic scripts, for patterns."""

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_QUOTES = re.compile(r"[\"“”„«»「」『』‹›]|(?<!\w)['‘‚]\w")
_BRACKETS = re.compile(r"[()\[\]（）【】]")
_MARKUP = re.compile(r"https?://|www\.|\w@\w+\.\w|</?\w[^<>]*>|&\w+;|\{\w*\}|%[sd]\b|[#@]\w")
_SENTENCE_END = re.compile(r"[.!?。！？…][\"”’»)]*(?=\s+\S)|[。！？](?=.)")
_END = re.compile(r"[.!?。！？…:;][\"“”’'»)\]]*\s*$")
_NAME = re.compile(rf"(?<=[,;\w] )[{_UPPER}]\w+")
_UNITS = re.compile(r"[%€$£¥₽]|\b(?:percent|Prozent|per cent|Euro|euros?|dollars?|Dollar)\b")
_SIMPLE: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("with a number", re.compile(r"\d")),
    ("with a question", re.compile(r"[?？؟]")),
    ("with an exclamation mark", re.compile(r"[!！]")),
    ("with quotation marks", _QUOTES),
    ("with brackets", _BRACKETS),
    ("with a link, markup or placeholder", _MARKUP),
    ("with a percentage or sum of money", _UNITS),
    ("with a colon, semicolon or dash", re.compile(r"[:;：；—–]|\s-\s")),
    ("with three commas or more", re.compile(r"(?:[,，、،][^,，、،]*){3}")),
    ("with a hyphenated word", re.compile(r"[^\W\d]-[^\W\d]")),
    ("with an acronym", re.compile(rf"\b[{_UPPER}]{{2,}}\b")),
    ("of several sentences", _SENTENCE_END),
)
"""What the source has, or the reference where there is no source."""

_CAPITAL_NOUNS = ("de", "lb")
"""Languages in which all nouns are capitalised, so that a capital says nothing of names."""

_CASELESS = ("zh", "ja", "ko", "ar", "he", "hi", "th", "fa", "ka")


def text_slices(dataset: Dataset) -> list[Slice]:
    """Slices by length and by what is in the texts: numbers, questions, negation, names ..."""
    references = [lines[0] if lines else "" for lines in dataset.references]
    sources = list(dataset.sources) or references
    found = _by_length(dataset, references if any(references) else sources)
    found += [_matching(name, pattern, sources) for name, pattern in _SIMPLE]
    found.append(Slice("text", "without final punctuation (headings)", _mask(
        bool(line.strip()) and not _END.search(line[-40:]) for line in sources
    )))  # fmt: skip
    found += _negated(dataset, references, sources)
    found += _named(dataset, references, sources)
    found += _first_of_document(dataset)
    return [part for part in found if _is_part(part.mask)]


def label_slices(dataset: Dataset, labels: Mapping[str, Sequence[str]]) -> list[Slice]:
    """One slice per document, per group, and per value of each further column of labels."""
    columns = {"document": dataset.documents, "group": dataset.groups, **labels}
    found = []
    for column, values in columns.items():
        if values and len(values) != len(dataset):
            raise DataError(
                f"labels {column!r}: {len(values)} values for {len(dataset)} segments. Give one "
                "for each segment."
            )
        array = np.array(values, dtype=object)
        found += [
            Slice("label", f"{column} {value}", np.asarray(array == value, bool))
            for value in dict.fromkeys(values)
            if value
        ]
    return [part for part in found if part.mask.sum() <= MOST * len(dataset)]


def score_slices(scores: Array) -> list[Slice]:
    """Slices by difficulty: the mean score of each segment over all systems, best last.

    `scores` are (systems, segments), oriented so that higher is better.
    """
    known = ~np.isnan(scores)
    counts = known.sum(axis=0)
    means = np.where(known, scores, 0.0).sum(axis=0) / np.maximum(1, counts)
    masks = _bins(np.where(counts > 0, means, np.nan))
    if len(masks) != BINS:
        return []
    return [Slice("difficulty", *pair) for pair in zip(QUARTERS, masks, strict=True)]


def _by_length(dataset: Dataset, lines: Sequence[str]) -> list[Slice]:
    """Quarters by length: in words, or in characters where words are not set apart."""
    code = language_of(dataset, "target").code
    in_characters = code in ("zh", "ja", "th")
    unit = "characters" if in_characters else "words"
    lengths = np.array([len(line) if in_characters else len(line.split()) for line in lines], float)
    return [Slice("text", f"of {_span(lengths[mask])} {unit}", mask) for mask in _bins(lengths)]


def _span(lengths: Array) -> str:
    low, high = int(lengths.min()), int(lengths.max())
    return f"{low}" if low == high else f"{low} to {high}"


def _bins(values: Array) -> list[Mask]:
    """Parts of about the same size; equal values stay together."""
    known = values[~np.isnan(values)]
    if len(known) < BINS * FEWEST:
        return []
    cuts = np.unique(np.quantile(known, np.arange(1, BINS) / BINS))
    places = np.where(np.isnan(values), -1, np.searchsorted(cuts, values, side="left"))
    masks = [places == place for place in range(len(cuts) + 1)]
    return [mask for mask in masks if mask.any()]


def _matching(name: str, pattern: re.Pattern[str], lines: Sequence[str]) -> Slice:
    return Slice("text", name, _mask(pattern.search(line) is not None for line in lines))


def _negated(
    dataset: Dataset, references: Sequence[str], sources: Sequence[str]
) -> Iterator[Slice]:
    """Negation in the reference or the source, of the languages whose words are known."""
    sides: list[tuple[Sequence[str], str]] = [(references, language_of(dataset, "target").code)]
    if dataset.sources:
        sides.append((sources, language_of(dataset, "source").code))
    masks = [
        _mask(_has_word(line, NEGATION[code]) for line in lines)
        for lines, code in sides
        if code in NEGATION
    ]
    if masks:
        yield Slice("text", "with a negation", np.logical_or.reduce(masks))


def _has_word(line: str, words: frozenset[str]) -> bool:
    folded = line.lower().replace("’", "'")
    if not folded.isascii() and any(word in folded for word in words if ord(word[0]) > 0x3000):
        return True
    return any(word in words or word.endswith("n't") for word in _WORD.findall(folded))


def _named(dataset: Dataset, references: Sequence[str], sources: Sequence[str]) -> Iterator[Slice]:
    """Capitalised words inside a sentence, in a language where these are names."""
    sides: list[tuple[Sequence[str], str]] = [(references, language_of(dataset, "target").code)]
    if dataset.sources:
        sides.append((sources, language_of(dataset, "source").code))
    for lines, code in sides:
        if code and code not in (*_CAPITAL_NOUNS, *_CASELESS):
            yield _matching("with a name", _NAME, lines)
            return


def _first_of_document(dataset: Dataset) -> Iterator[Slice]:
    documents = dataset.documents
    if documents and len(set(documents)) > 1:
        new = [at == 0 or documents[at] != documents[at - 1] for at in range(len(documents))]
        yield Slice("text", "first of a document", _mask(new))


def _is_part(mask: Mask) -> bool:
    return bool(0 < mask.sum() <= MOST * len(mask))


def _mask(values: Iterable[bool]) -> Mask:
    return np.fromiter(values, bool)
