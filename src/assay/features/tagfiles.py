"""Annotations given in files beside the texts: a tag per token, or CoNLL-U."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from assay.data import DataError
from assay.features.annotation import Annotation, TokenSpan
from assay.features.chunks import CHUNK, chunks
from assay.features.conllu import looks_like_conllu, parse_conllu
from assay.features.matching import match_sentences
from assay.features.names import PART, UPOS
from assay.io.files import FilePath, label, suffix
from assay.io.lines import read_lines

__all__ = ["read_tags"]

_MARKS = "/_|"
"""What may stand between a word and its tag."""

_ASCII_BLANKS = re.compile(r"[ \t]+")


def read_tags(
    path: FilePath, lines: Sequence[str], *, text: FilePath = "the text"
) -> list[Annotation]:
    """One annotation per line, from the tag file that belongs to the lines.

    A tag file is CoNLL-U (see `parse_conllu`), or has one line per segment and one tag per
    white-space token, alone (`DT NN`) or behind its word (`the/DT dog/NN`, also with _ or |).
    Such tags are the layer `tags`; universal tags are the layer `upos` as well, and tags like
    B-PER, I-PER and O are the layer `ner` as well. `text` is the name of the text in messages.
    """
    rows = read_lines(path)
    where = label(path)
    if suffix(path) == ".conllu" or looks_like_conllu(rows):
        return match_sentences(parse_conllu(rows, where), lines, where, label(text))
    if len(rows) != len(lines):
        raise DataError(
            f"{where} has {len(rows)} lines, but {label(text)} has {len(lines)}. "
            "A tag file needs one line of tags per segment; blank lines count."
        )
    return _with_known_layers(list(_columns(rows, lines, where, label(text))))


def _columns(
    rows: Sequence[str], lines: Sequence[str], where: str, text: str
) -> Iterator[Annotation]:
    mark = None
    for number, (row, line) in enumerate(zip(rows, lines, strict=True), 1):
        tags = row.split()
        words = _words(line, len(tags))
        if len(words) != len(tags):
            raise DataError(
                f"{where}, line {number}: {len(tags)} tags for the {len(words)} tokens of {text}. "
                "Each line needs one tag per white-space token of its segment."
            )
        if mark is None and tags:
            mark = _mark(words, tags)
        if mark:
            tags = [_tag(each, mark, where, number) for each in tags]
        yield _tagged(line, words, tags)


def _words(line: str, count: int) -> list[str]:
    """What the tags belong to; no-break spaces do not separate where only that gives `count`."""
    words = line.split()
    if len(words) > count:
        unbroken = [each for each in _ASCII_BLANKS.split(line) if each.strip()]
        return unbroken if len(unbroken) == count else words
    return words


def _tagged(line: str, words: Sequence[str], tags: Sequence[str]) -> Annotation:
    tokens = tuple(line.split())
    if len(tokens) == len(tags):
        ends: Iterable[int] = range(1, len(tags) + 1)
    else:
        ends = list(accumulate(len(word.split()) for word in words))
    return Annotation(tokens, {"tags": tuple(map(TokenSpan, (0, *ends), ends, tags))})


def _mark(tokens: Sequence[str], tags: Sequence[str]) -> str:
    """What separates word and tag, or nothing: half the words must be there as they are.

    Taggers change some of them, as in -LRB-/-LRB- for a bracket.
    """
    for mark in _MARKS:
        parts = [each.rpartition(mark) for each in tags]
        same = sum(word == token for token, (word, _, _) in zip(tokens, parts, strict=True))
        if 2 * same >= len(tokens) and all(word and tag for word, _, tag in parts):
            return mark
    return ""


def _tag(token: str, mark: str, where: str, number: int) -> str:
    word, _, tag = token.rpartition(mark)
    if not word or not tag:
        raise DataError(
            f"{where}, line {number}: {token!r} is not word{mark}TAG, as the tokens before it are. "
            "Give every token a tag in the same way."
        )
    return tag


def _with_known_layers(annotations: list[Annotation]) -> list[Annotation]:
    """The tags once more as universal tags or names, where all of them are that."""
    labels = {span.label for each in annotations for span in each.layers["tags"]}
    if labels and labels <= {*UPOS, PART}:
        return [each.with_layer("upos", each.layers["tags"]) for each in annotations]
    if labels > {"O"} and all(each == "O" or CHUNK.fullmatch(each) for each in labels):
        return [each.with_layer("ner", chunks(each.layers["tags"])) for each in annotations]
    return annotations
