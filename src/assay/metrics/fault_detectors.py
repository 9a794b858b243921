"""Detectors of surface faults: text that is missing, too much, repeated or copied.

Each takes an output that is not empty, its source (empty where there is none) and its references,
and returns whether the fault is there; None where the question makes no sense. The source decides
where there is one, else the first reference. What a reference does as well is no fault.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from assay.metrics import fault_numbers

__all__ = [
    "INK",
    "KEPT",
    "Found",
    "copied",
    "cut",
    "doubled",
    "empty",
    "is_blank",
    "is_dense",
    "length",
    "loop",
    "numbers",
    "originals_of",
    "punctuation",
    "words_of",
]

Found: TypeAlias = bool | None

KEPT = 2**16
"""Texts of which a feature is kept in memory."""

_DENSE = "\u2e80-\u2fff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
"""Scripts in which a letter says as much as several Latin ones."""

_SPACED = (
    "A-Za-zªµºÀ-ÖØ-öø-\u02af\u0300-\u0588\u0591-\u05bd\u05c1-\u05ea\u0610-\u061a\u0620-\u065f"
    "\u066e-\u06d3\u06d5-\u0963\u0970-\u0e4e\u0e5a-\u1fff\u2c00-\u2dff\ua640-\uabff"
)
_WORD = re.compile(rf"[{_DENSE}]|[{_SPACED}]+(?:['’][{_SPACED}]+)*")
_DENSE_LETTER = re.compile(f"[{_DENSE}]")
INK = re.compile(r"[^\W_]")
"""A letter or a digit."""


def is_blank(text: str) -> bool:
    """Whether a text has neither letter nor digit."""
    return INK.search(text) is None


@lru_cache(maxsize=KEPT)
def words_of(text: str) -> tuple[str, ...]:
    """The words of a text; every letter of Chinese, Japanese and Korean is a word.

    >>> words_of("It's 3 o'clock, 你好!")
    ("It's", "o'clock", '你', '好')
    """
    return tuple(_WORD.findall(text))


@lru_cache(maxsize=KEPT)
def _folded(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.lower()))


def originals_of(source: str, references: tuple[str, ...]) -> list[str]:
    """The texts that say what the output should be: the source first."""
    return [text for text in (source, *references) if text and not is_blank(text)]


def empty(output: str, source: str, references: tuple[str, ...]) -> Found:
    """No letter and no digit, though source and references have some."""
    if not is_blank(output):
        return False
    given = [text for text in (source, *references) if text]
    # Where "---" is translated by "---", nothing is missing.
    return not given or not any(map(is_blank, given)) or (not output.strip() and not references)


SHORT, LONG = 0.45, 2.3
"""The share of the original's size below and above which a length is no matter of style."""

SLACK = 15
"""Letters that are added to both sizes, since short texts vary more."""


@lru_cache(maxsize=KEPT)
def _size(text: str) -> int:
    """Letters; one of a dense script counts for four."""
    return len(text) + (0 if text.isascii() else 3 * len(_DENSE_LETTER.findall(text)))


def _ratio(output: str, original: str) -> float:
    return (_size(output) + SLACK) / (_size(original) + SLACK)


def length(output: str, source: str, references: tuple[str, ...]) -> Found:
    """Far shorter or longer than the source and than every reference."""
    originals = originals_of(source, references)
    if not originals:
        return None
    return all(not SHORT <= _ratio(output, text) <= LONG for text in originals)


_CLOSING = " \t\u00a0\u3000\"'`´’‘“”„«»‹›)]}）】」』》〉*_"
_FINAL = {
    **dict.fromkeys(".。．।۔։።", "."),
    **dict.fromkeys("?？؟;", "?"),
    **dict.fromkeys("!！", "!"),
    **dict.fromkeys("…", "…"),
    **dict.fromkeys(":：", ":"),
    **dict.fromkeys(",，、،", ","),
}
_FINAL[";"] = _FINAL["；"] = _FINAL["؛"] = ";"
_ENDS = frozenset(".?!…:;")
_SENTENCE_END = re.compile(r"[.?!。？！।؟](?=[\s\"'”“’»)」』]|$)|[。？！]")

_DANGLING_WORDS = """
the a an of and or to in on at by for with from as that which who is are was were be been has
have had will would its their his her our my your this these into than but not if because
der die das den dem des ein eine einen einem einer eines und oder zu im am an auf mit von vom
zum zur für bei aus dass ist sind war waren hat haben wird werden sein seine ihre ihr als wie
nicht aber weil wenn durch über unter nach vor
le la les un une des du de et ou à au aux en dans par pour sur avec que qui est sont
el los las una unos y o del al con por para su sus es son il lo gli di da e che
и в на с по к у о за из от для что как но не это
"""
_DANGLING = frozenset(_DANGLING_WORDS.split())
"""Words with which no sentence ends."""


def cut(output: str, source: str, references: tuple[str, ...]) -> Found:
    """The end is missing: the output stops short of source and references."""
    originals = originals_of(source, references)
    if not originals:
        return None
    return all(_stops_short(output, text) for text in originals)


def _stops_short(output: str, original: str) -> bool:
    ratio = _ratio(output, original)
    if ratio >= 1:
        return False
    final = _final(output)
    if final in _ENDS:
        ends = len(_SENTENCE_END.findall(output[:10_000]))
        return ratio < 0.6 and ends < len(_SENTENCE_END.findall(original[:10_000]))
    if _final(original) in _ENDS and ratio < 0.9:
        return True
    last = _last_word(output)
    dangles = final == "," or (last in _DANGLING and last != _last_word(original))
    return ratio < (0.9 if dangles else 0.68)


def _last_word(text: str) -> str:
    found = _folded(text[-60:])
    return found[-1] if found else ""


@lru_cache(maxsize=KEPT)
def _final(text: str) -> str:
    """The kind of the last mark, quotes and brackets left out; empty where it is a word."""
    text = text.rstrip(_CLOSING)
    if text.endswith(("...", ". . .", "..")):
        return "…"
    return _FINAL.get(text[-1:], "")


def punctuation(output: str, source: str, references: tuple[str, ...]) -> Found:
    """The final mark of source and references is lost or another one."""
    originals = originals_of(source, references)
    if not originals:
        return None
    mark = _final(output)
    return all(_is_other(mark, _final(text)) for text in originals)


def _is_other(mark: str, wanted: str) -> bool:
    if mark == wanted or not wanted or wanted == ",":
        return False
    return {mark, wanted} not in ({".", "…"}, {".", "!"}, {".", ";"}, {":", "."}, {"?", "!"})


LONGEST_PHRASE = 100
"""Words of a phrase that is looked for again right behind itself."""

LOOKED_AT = 2000
"""Words of a text that are searched for loops."""

_LONG_WORD = 16
_IN_WORD = re.compile(r"(.{1,12}?)\1{4,}")
_TIMES = (0, 4, 3, 2)
_DENSE_TIMES = (0, 5, 3, 3, 3, 2)
"""How often a phrase of one, two, three ... words has to come in a row to be a loop."""


def loop(output: str, source: str, references: tuple[str, ...]) -> Found:
    """A word or phrase comes again and again, more often than in source and references."""
    own = _loops(output)
    return own > 1 and all(_loops(text) < own for text in originals_of(source, references))


@lru_cache(maxsize=KEPT)
def _loops(text: str) -> int:
    """How often a phrase comes in a row, if it is often enough to be seen as a loop, or 1."""
    words = _folded(text)[:LOOKED_AT]
    most = max((_in_word(word) for word in words if len(word) >= _LONG_WORD), default=1)
    if len(set(words)) == len(words):
        return most
    for period in _periods(words):
        times = _in_a_row(words, period)
        needed = _DENSE_TIMES if _DENSE_LETTER.match(words[0]) else _TIMES
        if times >= needed[min(period, len(needed) - 1)]:
            most = max(most, times)
    return max(most, _scattered(words))


def _periods(words: tuple[str, ...]) -> set[int]:
    """The distances at which two words come again: the lengths that a loop may have."""
    seen: dict[tuple[str, str], int] = {}
    found = set()
    for place, pair in enumerate(pairwise(words)):
        if pair in seen:
            found.add(place - seen[pair])
        seen[pair] = place
    return {period for period in found if period <= LONGEST_PHRASE}


def _in_a_row(words: tuple[str, ...], period: int) -> int:
    """How often at most a phrase of that many words follows itself, the first time included."""
    longest = run = 0
    for word, later in zip(words, words[period:], strict=False):
        run = run + 1 if word == later else 0
        longest = max(longest, run)
    return longest // period + 1


def _scattered(words: tuple[str, ...]) -> int:
    """How often the most frequent phrase of four words comes, if it is a large part of the text."""
    counts = Counter(zip(words, words[1:], words[2:], words[3:], strict=False))
    times = max(counts.values(), default=1)
    return times if times >= 3 and 4 * times > len(words) / 2 else 1


def _in_word(word: str) -> int:
    """How often letters come in a row within a word: hahahahaha."""
    match = _IN_WORD.search(word[:200])
    return len(match[0]) // len(match[1]) if match and len(match[0]) >= _LONG_WORD else 1


_EDGES = "\"'`‘’“”„«»‹›()[]{}.,;:!?…¿¡"
_DOUBLE_WORDS = """
had that very really so no ha bye blah many long far now again never more bora duran baden walla
sing pago sehr viel ja nein nous vous si ну да очень muito muy più
"""
_DOUBLE = frozenset(_DOUBLE_WORDS.split())
"""Words that people do write twice."""

_RELATIVE = frozenset(("die", "der", "das", "den", "dem", "sie"))
"""Behind a comma they may be a pronoun and an article: "die Frau, die die Katze hat"."""


def doubled(output: str, source: str, references: tuple[str, ...]) -> Found:
    """A word or a phrase of two words twice in a row, where neither source nor reference has one.

    A loop is no doubled word; scripts without blanks have none.
    """
    if is_dense(output):
        return None
    if not _doubles(output):
        return False
    if any(map(_doubles, originals_of(source, references))):
        return False
    return not loop(output, source, references)


@lru_cache(maxsize=KEPT)
def is_dense(text: str) -> bool:
    """Whether most letters are of a script that is dense, and mostly without blanks."""
    return not text.isascii() and 2 * len(_DENSE_LETTER.findall(text)) > len(INK.findall(text))


@lru_cache(maxsize=KEPT)
def _doubles(text: str) -> bool:
    """Whether a word, or two, come twice in a row without a mark between them."""
    folded = text.lower().split()
    # The mark behind the last word hides that it is the one before.
    hidden = folded and folded[-1].rstrip(_EDGES) in folded[-4:-1]
    if len(set(folded)) == len(folded) and not hidden:
        return False
    return any(
        _twice(folded[at : at + 2 * size], size)
        for size in (1, 2)
        for at in range(len(folded) - 1)
        if not (at and folded[at] in _RELATIVE and folded[at - 1].endswith(","))
    )


def _twice(words: list[str], size: int) -> bool:
    """Whether they are one phrase twice; marks around the whole do not count."""
    if len(words) < 2 * size:
        return False
    words = [words[0].lstrip(_EDGES), *words[1:-1], words[-1].rstrip(_EDGES)]
    if words[:size] != words[size:] or not all(map(str.isalpha, words)):
        return False
    return words[0] not in _DOUBLE


COPIED_RUN = 4
"""Words in a row from which on they are copied, if they are no name."""

NEARLY = 0.7
"""The share of an output's words in the source from which on it is a copy."""


def copied(output: str, source: str, references: tuple[str, ...]) -> Found:
    """The source, nearly all of it, or a run of its words that no reference has."""
    theirs = words_of(source)
    if not theirs:
        return None
    ours = words_of(output)
    known = set(theirs)
    shared = sum(word in known for word in ours)
    if shared < 3:
        return False
    common = set(ours) & known
    plain = sum(map(_is_plain, common))
    if plain and shared >= NEARLY * len(ours) and shared >= NEARLY * min(len(theirs), len(ours)):
        return not any(_shares(_folded(text), theirs) for text in references)
    return any(_runs(ours, theirs, references))


def _is_plain(word: str) -> bool:
    """Whether a word is no name by its case."""
    return word[0].islower() or not word[0].isupper()


def _shares(words: tuple[str, ...], source: tuple[str, ...]) -> bool:
    known = {word.lower() for word in source}
    return sum(word in known for word in words) >= NEARLY * len(words)


def _runs(
    ours: tuple[str, ...], theirs: tuple[str, ...], references: tuple[str, ...]
) -> Iterator[bool]:
    """Runs of the source's words in the output which are no names and in no reference."""
    dense = bool(_DENSE_LETTER.match(theirs[0]))
    size = 2 * COPIED_RUN if dense else COPIED_RUN
    starts = set(zip(*(theirs[at:] for at in range(size)), strict=False))
    for run in zip(*(ours[at:] for at in range(size)), strict=False):
        if run in starts and (dense or sum(map(_is_plain, run)) >= size - 1):
            folded = " ".join(run).lower()
            if not any(folded in " ".join(_folded(text)) for text in references):
                yield True


def numbers(output: str, source: str, references: tuple[str, ...]) -> Found:
    """A number of the original is lost, or one is in none of source and references."""
    originals = originals_of(source, references)
    if not originals:
        return None
    first, *others = originals
    return fault_numbers.made_up(output, originals) or fault_numbers.lost(first, output, others)
