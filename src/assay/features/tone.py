"""Scorers that give every sentence a number, by the words of a lexicon (MuLER, section 2.5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from assay.data import DataError
from assay.features.lexicons import (
    BUILT_IN,
    KINDS,
    Lexicon,
    built_in_lexicon,
    fold,
    read_lexicon,
)
from assay.languages import Language, identify
from assay.settings import did_you_mean
from assay.statistics.arrays import Array

__all__ = [
    "NEGATORS",
    "WINDOW",
    "Scored",
    "SentenceScorer",
    "parse_scorers",
    "score_lines",
    "words",
]

NEGATORS = frozenset(
    {"barely", "cannot", "cease", "hardly", "n't", "neither", "no", "non", "not", "nothing"}
    | {"prevent", "rarely", "seldom", "stop", "unlikely"}
)
"""Khoo and Johnkhan's words that turn the sentiment of what follows; also all that ends in n't."""

WINDOW = 3
"""A negator reaches so many words ahead."""

NO_NEGATION = "no-negation"

# The 's of "dog's" is a word of its own, as tokenizers have it.
_WORD = regex.compile(r"[\p{L}\p{M}]+(?:'(?!s\b)[\p{L}\p{M}]+)*")
_NO_WORDS = regex.compile(r"[^\p{L}\p{M}'\s-]")
_NAME = re.compile(r"[\w.-]+")


class Scored(NamedTuple):
    """The score of every line, and how many words and phrases of the lexicon it has."""

    scores: Array
    found: NDArray[np.int64]


@dataclass(frozen=True)
class SentenceScorer:
    """A number for every sentence: the mean over its words that are in the lexicon, 0 if none.

    `kind` is sentiment, concreteness, valence, arousal or dominance, or a name of one's own for
    the numbers in the file at `path`. Without a path, sentiment and concreteness come from a
    package. Look-up ignores case; of the phrases in a lexicon the longest that fits is taken, and
    counts as one word.

    For sentiment, each of the `NEGATORS` among the `WINDOW` words before a word or phrase turns
    the sign of its number, so that two cancel; a negator has no number of its own, unless as part
    of a phrase, and then it turns nothing. Punctuation does not matter. `negation=False` takes
    all words as they are.

    Written as `kind`, `kind=FILE`, `sentiment:no-negation` or `sentiment:no-negation=FILE`.
    """

    kind: str
    path: str | None = None
    negation: bool = True

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.kind):
            raise DataError(
                f"{self.kind!r} cannot name a scorer: use letters, digits, '-', '_' and '.' only."
            )
        if self.path == "":
            raise DataError(f"{self.kind}= names no file: give one, {self.kind}=FILE.")
        if self.path is None and self.kind not in BUILT_IN:
            raise DataError(_no_lexicon(self.kind))
        if not self.negation and self.kind != "sentiment":
            raise DataError(f"{self.kind}:{NO_NEGATION}: negation matters to sentiment only.")

    def __str__(self) -> str:
        option = "" if self.negation else f":{NO_NEGATION}"
        file = "" if self.path is None else f"={self.path}"
        return self.kind + option + file

    @property
    def title(self) -> str:
        """The name people print."""
        return self.kind if self.negation else f"{self.kind} without negation"

    @property
    def negates(self) -> bool:
        """Whether negators turn signs."""
        return self.negation and self.kind == "sentiment"

    @property
    def needs_english(self) -> bool:
        """Whether it has English words of its own: a packaged lexicon, or negators."""
        return self.path is None or self.negates

    def check_language(self, language: Language) -> None:
        """Raise a `DataError` where its words are English, and the texts are not."""
        if not self.needs_english or language.known(self) == "en":
            return
        words = "lexicon and negators are" if self.negates else "lexicon is"
        words = words if self.path is None else "negators are"
        bare = f"{self.kind}:{NO_NEGATION}" if self.kind == "sentiment" else self.kind
        raise DataError(
            f"{self}: its {words} English, but the texts are in {language}. Give a lexicon for "
            f"them: {bare}={self.path or 'FILE'}"
        )

    def lexicon(self) -> Lexicon:
        """The words and their numbers, read from the file or the package."""
        if self.path is None:
            return built_in_lexicon(self.kind)
        lexicon = read_lexicon(self.path, self.kind)
        if self.negates and lexicon.low >= 0:
            raise DataError(
                f"{self.path}: no number is below 0, so negation cannot turn signs. Centre the "
                f"numbers on 0, or leave negation out: {self.kind}:{NO_NEGATION}={self.path}"
            )
        return lexicon

    def score(self, lines: Sequence[str]) -> Array:
        """The score of every line, (n,)."""
        if self.needs_english and (found := identify(lines)):
            self.check_language(Language(found, "text"))
        return score_lines(self.lexicon(), lines, negation=self.negates).scores


def parse_scorers(specs: Sequence[str]) -> list[SentenceScorer]:
    """Scorers by their specifications: `sentiment`, `valence=nrc.txt`, `name=FILE`.

    >>> parse_scorers(["sentiment:no-negation", "valence=nrc.txt"])[1].path
    'nrc.txt'
    """
    scorers = [_parse(spec) for spec in specs]
    repeated = next((str(each) for each in scorers if scorers.count(each) > 1), None)
    if repeated is not None:
        raise DataError(f"the scorer {repeated} is given twice; once is enough.")
    return scorers


def _parse(spec: str) -> SentenceScorer:
    head, equals, path = spec.partition("=")
    kind, colon, option = head.partition(":")
    if colon and option != NO_NEGATION:
        near = did_you_mean(option, [NO_NEGATION])
        raise DataError(f"{spec}: no scorer has an option {option!r}{near}.")
    return SentenceScorer(kind, path if equals else None, negation=not colon)


def _no_lexicon(kind: str) -> str:
    if kind in KINDS:
        return f"{kind} needs a lexicon: give its file, such as {kind}=NRC-VAD-Lexicon.txt."
    return (
        f"unknown scorer {kind!r}{did_you_mean(kind, KINDS)}. Scorers: {', '.join(BUILT_IN)}; "
        f"with a file {', '.join(f'{each}=FILE' for each in KINDS)}, or NAME=FILE for any other."
    )


def words(line: str) -> list[str]:
    """The words of a line, without case: runs of letters with apostrophes inside.

    >>> words("The dog's good-natured; I DON'T mind 2 of them.")
    ['the', 'dog', 's', 'good', 'natured', 'i', "don't", 'mind', 'of', 'them']
    """
    found: list[str] = _WORD.findall(fold(line))
    return found


def score_lines(lexicon: Lexicon, lines: Sequence[str], *, negation: bool = False) -> Scored:
    """The mean number of the words and phrases found in every line, 0 where there are none.

    Entries with digits or signs in them, such as emoticons, are never found.
    """
    if isinstance(lines, str):
        raise DataError("a scorer takes a list of lines: pass [line], not line.")
    lookup = _Lookup.of(lexicon)
    known = {line: list(lookup.values(words(line), negation)) for line in dict.fromkeys(lines)}
    found = np.array([len(known[line]) for line in lines], np.int64)
    sums = np.array([sum(known[line]) for line in lines], float)
    return Scored(sums / np.maximum(found, 1), found)


class _Lookup(NamedTuple):
    """Numbers by words joined by blanks, and the most words that follow a first one."""

    numbers: Mapping[str, float]
    longest: Mapping[str, int]

    @classmethod
    def of(cls, lexicon: Lexicon) -> _Lookup:
        numbers: dict[str, float] = {}
        longest: dict[str, int] = {}
        for entry, value in lexicon.entries.items():
            parts = [] if _NO_WORDS.search(entry) else words(entry)
            if parts:
                # Of two spellings that come to the same words, the first counts.
                numbers.setdefault(" ".join(parts), value)
                longest[parts[0]] = max(longest.get(parts[0], 0), len(parts))
        return cls(numbers, longest)

    def values(self, line: Sequence[str], negation: bool) -> Iterator[float]:
        """The number of each word or phrase found, its sign turned by negators."""
        at, negators = 0, [-WINDOW - 1]
        while at < len(line):
            size = self._size(line, at)
            if negation and size < 2 and _negates(line[at]):
                negators.append(at)
                size = 0
            if size:
                value = self.numbers[" ".join(line[at : at + size])]
                turns = sum(at - each <= WINDOW for each in negators[-WINDOW:])
                yield 0.0 - value if turns % 2 else value
            at += max(size, 1)

    def _size(self, line: Sequence[str], at: int) -> int:
        """How many words the longest entry that begins here has, 0 without one."""
        most = min(self.longest.get(line[at], 0), len(line) - at)
        sizes = range(most, 0, -1)
        return next((n for n in sizes if " ".join(line[at : at + n]) in self.numbers), 0)


def _negates(word: str) -> bool:
    return word in NEGATORS or word.endswith("n't")
