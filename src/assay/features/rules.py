"""Annotators without a model: lists of words, and regular expressions."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from assay.data import DataError
from assay.features.annotation import Annotation, Annotator, TokenSpan
from assay.io.files import FilePath
from assay.io.files import label as file_label
from assay.io.tables import read_rows
from assay.text import Language, check_repetitions, check_text, tokenize

if TYPE_CHECKING:
    from regex import Pattern

__all__ = [
    "PRONOUNS",
    "CombinedRules",
    "RegexAnnotator",
    "Rules",
    "WordListAnnotator",
    "gender",
    "read_patterns",
    "read_word_lists",
]

PRONOUNS = {
    "Masc": ("he", "him", "his", "himself"),
    "Fem": ("she", "her", "hers", "herself"),
    "Neut": ("they", "them", "their", "theirs", "themselves", "themself"),
}
"""The English pronouns that stand for people, by gender."""


class Rules(Annotator, Protocol):
    """An annotator that can also add its layers to what another one gives."""

    def add_to(self, annotations: Sequence[Annotation], lines: Sequence[str]) -> list[Annotation]:
        """The annotations of the lines with these layers too; the tokens stay as they are."""


class _Rules:
    """What lists and expressions share: one layer, over words and punctuation marks.

    Texts are tokenized as sacreBLEU's `intl` does it, in any language: every character of the
    text is in a token, and *he's* and *“his”* have the word on its own.
    """

    tokenizer: ClassVar[str] = "intl"
    layer: str

    @property
    def layers(self) -> tuple[str, ...]:
        """The one layer that it gives."""
        return (self.layer,)

    def annotate(self, lines: Sequence[str]) -> list[Annotation]:
        """One annotation per line, in order."""
        plain = [Annotation(tuple(tokens)) for tokens in tokenize(lines, self.tokenizer)]
        return self.add_to(plain, lines)

    def add_to(self, annotations: Sequence[Annotation], lines: Sequence[str]) -> list[Annotation]:
        """The annotations of the lines with this layer too.

        Every token that has a part in what was found is in its span. Where the tokens are not
        made of the line's characters, they are searched instead of the line.
        """
        texts = [
            line if _solid(line) == _solid("".join(annotation.tokens)) else _spaced(annotation)
            for annotation, line in zip(annotations, lines, strict=True)
        ]
        return [
            annotation.with_layer(self.layer, _over_tokens(annotation.tokens, found))
            for annotation, found in zip(annotations, self._find(texts), strict=True)
        ]

    def _find(self, texts: Sequence[str]) -> Iterator[list[TokenSpan]]:
        """What each text has, in characters, white space not counted."""
        raise NotImplementedError


@dataclass(frozen=True)
class WordListAnnotator(_Rules):
    """Spans for the words of lists, labelled with the list's name; case does not count.

    A list may have phrases. Of two words of a list that begin at the same place the longer
    one counts, and no two spans of a list overlap; a word may stand in several lists.
    """

    layer: str
    lists: Mapping[str, Sequence[str]] = field(hash=False)

    @property
    def identity(self) -> str:
        """The layer and a digest of the lists."""
        return f"words {self.layer} {_digest(self.lists)} {self.tokenizer}"

    def _find(self, texts: Sequence[str]) -> Iterator[list[TokenSpan]]:
        for tokens in tokenize(texts, self.tokenizer):
            ends = [0, *accumulate(map(_size, tokens))]
            folded = [token.casefold() for token in tokens]
            yield [TokenSpan(ends[s], ends[e], label) for s, e, label in self._spans(folded)]

    def _spans(self, tokens: Sequence[str]) -> Iterator[TokenSpan]:
        free: dict[str, int] = {}
        for start, token in enumerate(tokens):
            for words, label in self._entries.get(token, ()):
                end = start + len(words)
                if start >= free.get(label, 0) and tokens[start:end] == words:
                    free[label] = end
                    yield TokenSpan(start, end, label)

    @cached_property
    def _entries(self) -> dict[str, list[tuple[list[str], str]]]:
        """By their first token: the words of the lists, the longest first, and their labels."""
        pairs = [(word, label) for label, words in self.lists.items() for word in words]
        entries: dict[str, list[tuple[list[str], str]]] = {}
        split = tokenize([word for word, _ in pairs], self.tokenizer)
        for tokens, (word, label) in zip(split, pairs, strict=True):
            if not tokens:
                raise DataError(f"{self.layer}: the list {label!r} has {word!r}, which is no word.")
            folded = [token.casefold() for token in tokens]
            entries.setdefault(folded[0], []).append((folded, label))
        for found in entries.values():
            found.sort(key=lambda entry: -len(entry[0]))
        return entries


@dataclass(frozen=True)
class RegexAnnotator(_Rules):
    r"""Spans for whatever regular expressions find in the text, labelled by expression.

    Expressions are searched in the line as it is, case-sensitively, in the syntax of the
    `regex` package (`(?i)` and `\p{Lu}` work). An expression that takes longer than `limit`
    seconds on one line is an error, which names the `source`, a file say. Finds without a
    character are no finds.
    """

    layer: str
    patterns: Mapping[str, Sequence[str]] = field(hash=False)
    limit: float = 1.0
    source: str = ""

    @property
    def identity(self) -> str:
        """The layer and a digest of the expressions."""
        return f"regex {self.layer} {_digest(self.patterns)} {self.tokenizer}"

    def _find(self, texts: Sequence[str]) -> Iterator[list[TokenSpan]]:
        for number, text in enumerate(texts, 1):
            found = [
                TokenSpan(start, end, label)
                for label, patterns in self._compiled.items()
                for pattern in patterns
                for start, end in self._matches(pattern, text, number)
            ]
            before = [0, *accumulate(not each.isspace() for each in text)] if found else []
            solid = {TokenSpan(before[start], before[end], label) for start, end, label in found}
            yield sorted(span for span in solid if span.start < span.end)

    def _matches(self, pattern: Pattern[str], text: str, number: int) -> list[tuple[int, int]]:
        try:
            return [match.span() for match in pattern.finditer(text, timeout=self.limit)]
        except (TimeoutError, MemoryError):
            where = f"{self.source}: " if self.source else ""
            raise DataError(
                f"{where}the regular expression {pattern.pattern[:200]!r} takes longer than "
                f"{self.limit:g} s on line {number}. "
                "Avoid repetitions inside repetitions, as in (a+)+."
            ) from None

    @cached_property
    def _compiled(self) -> dict[str, list[Pattern[str]]]:
        return {label: list(map(compiled, each)) for label, each in self.patterns.items()}


@dataclass(frozen=True)
class CombinedRules:
    """Several such annotators as one; without any, only tokens come out.

    With a `language`, texts that are seen to be in another one are refused.
    """

    parts: tuple[Rules, ...]
    language: str = ""

    @property
    def identity(self) -> str:
        """Those of the parts."""
        return "; ".join(part.identity for part in self.parts)

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers of all parts."""
        return tuple(layer for part in self.parts for layer in part.layers)

    def annotate(self, lines: Sequence[str]) -> list[Annotation]:
        """One annotation per line, in order."""
        plain = [Annotation(tuple(tokens)) for tokens in tokenize(lines, _Rules.tokenizer)]
        return self.add_to(plain, lines)

    def add_to(self, annotations: Sequence[Annotation], lines: Sequence[str]) -> list[Annotation]:
        """The annotations of the lines with all these layers too."""
        if self.language:
            check_text(lines, self.language, "these word lists are English", _OTHER_LISTS)
        annotations = list(annotations)
        for part in self.parts:
            annotations = part.add_to(annotations, lines)
        return annotations


_OTHER_LISTS = "Give lists for it, list:FILE, or take morph:Gender of a tagger"


def gender(language: Language | None = None) -> CombinedRules:
    """English pronouns for people: layer `gender` (any of them), `gender-value` (Masc, Fem, Neut).

    The `language` of the texts must be English; where it is not given, the texts must not be seen
    to be in another one.

    Pronouns only: no titles (*Mr.*), no nouns (*woman*, *waiter*), no *it*; *they* is Neut also
    where it stands for several people, and *her* and *his* whatever they belong to.
    """
    if language and language.known("gender") != "en":
        raise DataError(
            f"gender: its pronouns are English, but the texts are in {language}. {_OTHER_LISTS}."
        )
    every = tuple(word for words in PRONOUNS.values() for word in words)
    parts = (
        WordListAnnotator("gender", {"gender": every}),
        WordListAnnotator("gender-value", PRONOUNS),
    )
    return CombinedRules(parts, "" if language else "en")


def compiled(pattern: str) -> Pattern[str]:
    """The expression, compiled; a `DataError` says what is wrong with it."""
    import regex

    try:
        check_repetitions(pattern)
        return regex.compile(pattern)
    except (regex.error, ValueError, OverflowError, RecursionError, MemoryError) as error:
        shown = pattern if len(pattern) <= 60 else pattern[:59] + "…"
        raise DataError(f"{shown!r} is not a regular expression ({error}).") from None


def _over_tokens(tokens: Sequence[str], found: Sequence[TokenSpan]) -> list[TokenSpan]:
    """Spans of characters as spans of the tokens that they touch, each once."""
    if not found:
        return []
    ends = list(accumulate(map(_size, tokens)))
    touched = (
        TokenSpan(bisect_right(ends, start), bisect_left(ends, end) + 1, label)
        for start, end, label in found
    )
    return list(dict.fromkeys(touched))


def _spaced(annotation: Annotation) -> str:
    return " ".join(annotation.tokens)


def _solid(text: str) -> str:
    return "".join(text.split())


def _size(text: str) -> int:
    return len(_solid(text))


def _digest(lists: Mapping[str, Sequence[str]]) -> str:
    text = json.dumps([[label, *words] for label, words in lists.items()])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_word_lists(path: FilePath) -> dict[str, tuple[str, ...]]:
    """The words of each label, from rows of `word<TAB>label`; `he<TAB>Masc`, for one.

    Blank lines, and lines with # in front and no tab, are left out.
    """
    lists: dict[str, list[str]] = {}
    for row in _rows(path, "word<TAB>label"):
        lists.setdefault(_label(path, row.number, row.second), []).append(row.first)
    return {name: tuple(dict.fromkeys(words)) for name, words in lists.items()}


def read_patterns(path: FilePath) -> dict[str, tuple[str, ...]]:
    r"""The regular expressions of each label, from rows of `label<TAB>expression`.

    Blank lines, and lines with # in front and no tab, are left out.
    """
    patterns: dict[str, list[str]] = {}
    for row in _rows(path, "label<TAB>expression"):
        try:
            compiled(row.second)
        except DataError as error:
            raise DataError(f"{file_label(path)}, line {row.number}: {error}") from None
        patterns.setdefault(_label(path, row.number, row.first), []).append(row.second)
    return {name: tuple(dict.fromkeys(each)) for name, each in patterns.items()}


class _LabelRow(NamedTuple):
    number: int
    first: str
    second: str


def _rows(path: FilePath, form: str) -> Iterator[_LabelRow]:
    count = 0
    for number, raw in read_rows(path):
        cells = [cell.strip() for cell in raw]
        if not any(cells) or (raw[0].startswith("#") and len(raw) == 1):
            continue
        if len(cells) != 2 or not all(cells):
            line = "\t".join(raw)
            raise DataError(
                f"{file_label(path)}, line {number}: {_shown(line)} is not {form}. "
                "Put both on one line with one tab between them."
            )
        count += 1
        yield _LabelRow(number, *cells)
    if not count:
        raise DataError(f"{file_label(path)} has no rows; it needs lines of {form}.")


def _label(path: FilePath, number: int, text: str) -> str:
    if len(text.split()) > 1:
        raise DataError(
            f"{file_label(path)}, line {number}: the label {text!r} has a blank inside. "
            f"Write {'_'.join(text.split())!r}."
        )
    return text


def _shown(line: str) -> str:
    return repr(line if len(line) <= 60 else line[:59] + "…")
