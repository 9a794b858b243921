"""Sentences of a tagged file put back to the lines that they were made of."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from assay.data import DataError
from assay.features.annotation import Annotation, TokenSpan
from assay.features.conllu import LAYERS, Sentence

__all__ = ["match_sentences"]

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
