"""Annotations given in files beside the texts: a tag per token, or CoNLL-U."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from assay.data import DataError
from assay.features.annotation import Annotation, TokenSpan
from assay.features.conllu import (
    CHUNK,
    LAYERS,
    PART,
    UPOS,
    Sentence,
    chunks,
    looks_like_conllu,
    parse_conllu,
)
from assay.io.files import FilePath, label, read_lines, suffix

__all__ = ["match_sentences", "read_tags"]

_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
"""Brackets as the taggers of the Penn Treebank write them."""


def match_sentences(
    sentences: Sequence[Sentence], lines: Sequence[str], where: str, text: str = "the text"
) -> list[Annotation]:
    """One annotation per line, of the sentences that make it up; white space does not count.

    Where the characters differ (a tagger may change quotes or brackets), there must be one
    sentence, or one `# newdoc` or `# segment_id`, per line that is not blank, and the letters
    and digits must agree.
    """
    taken = _by_characters(sentences, lines)
    if len(taken) == len(lines) and sum(map(len, taken)) == len(sentences):
        return [_joined(group) for group in taken]
    filled = [number for number, line in enumerate(lines, 1) if line.strip()]
    for groups in ([[each] for each in sentences], _by_comments(sentences)):
        if len(groups) == len(filled):
            by_number = dict(zip(filled, groups, strict=True))
            _check_letters(by_number, lines, where, text)
            return [_joined(by_number.get(number, ())) for number in range(1, len(lines) + 1)]
    raise DataError(_mismatch(sentences, taken, lines, where, text))


def _by_characters(sentences: Sequence[Sentence], lines: Sequence[str]) -> list[list[Sentence]]:
    """The sentences of each line, up to the first line that they do not spell."""
    taken: list[list[Sentence]] = []
    at = 0
    for line in lines:
        rest, group = _solid(line), list[Sentence]()
        while rest and at < len(sentences):
            sentence = sentences[at]
            spellings = (_solid(sentence.text), "".join(sentence.annotation.tokens))
            spelt = next((each for each in spellings if each and rest.startswith(each)), "")
            if not spelt:
                break
            rest = rest[len(spelt) :]
            group.append(sentence)
            at += 1
        if rest:
            break
        taken.append(group)
    return taken


def _by_comments(sentences: Sequence[Sentence]) -> list[list[Sentence]]:
    """The sentences by segment; no groups where no comment says where a segment begins."""
    if not any(sentence.segment for sentence in sentences):
        return []
    groups: list[list[Sentence]] = []
    last = ""
    for sentence in sentences:
        begins = "newdoc" in sentence.segment or (sentence.segment and sentence.segment != last)
        if begins or not groups:
            groups.append([])
        groups[-1].append(sentence)
        last = sentence.segment or last
    return groups


def _check_letters(
    groups: dict[int, list[Sentence]], lines: Sequence[str], where: str, text: str
) -> None:
    for number, group in groups.items():
        written, line = _written(group), lines[number - 1]
        if _letters(written) != _letters(line):
            raise DataError(
                f"{where}, line {group[0].line}: this sentence is not line {number} of {text} "
                f"({_short(written)!r} against {_short(line)!r}). "
                "Tag exactly the text that is given."
            )


def _mismatch(
    sentences: Sequence[Sentence],
    taken: Sequence[Sequence[Sentence]],
    lines: Sequence[str],
    where: str,
    text: str,
) -> str:
    used = sum(map(len, taken))
    count = f"{where} has {len(sentences)} sentences for the {len(lines)} lines of {text}"
    if len(taken) == len(lines):
        after = f"line {sentences[used].line} ({_short(_written(sentences[used:][:1]))!r})"
        return f"{count}; the lines end before the sentence on {after}. Tag the same text."
    line = f"line {len(taken) + 1} ({_short(lines[len(taken)])!r})"
    if used == len(sentences):
        return f"{count}; the sentences end before {line}. Tag the same text."
    at = f"from line {sentences[used].line} of the file"
    return (
        f"{count}, and {line} is not made up of the sentences {at}. Tag exactly the text that "
        "is given, or mark each segment with '# segment_id = NUMBER'."
    )


def _joined(group: Sequence[Sentence]) -> Annotation:
    """Several sentences as one text."""
    if len(group) == 1:
        return group[0].annotation
    tokens: list[str] = []
    layers: dict[str, list[TokenSpan]] = {name: [] for name in LAYERS}
    for sentence in group:
        by = len(tokens)
        for name, spans in sentence.annotation.layers.items():
            layers[name] += [TokenSpan(start + by, end + by, label) for start, end, label in spans]
        tokens += sentence.annotation.tokens
    return Annotation(tuple(tokens), {name: tuple(spans) for name, spans in layers.items()})


def _written(group: Sequence[Sentence]) -> str:
    return " ".join(each.text or " ".join(each.annotation.tokens) for each in group)


def _solid(text: str) -> str:
    return "".join(text.split())


def _letters(text: str) -> str:
    for name, bracket in _BRACKETS.items():
        text = text.replace(name, bracket)
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


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
