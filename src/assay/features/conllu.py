"""CoNLL-U: sentences with parts of speech, morphology, dependencies and names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from assay.data import DataError
from assay.features.annotation import Annotation, TokenSpan

__all__ = [
    "CHUNK",
    "LAYERS",
    "PART",
    "UPOS",
    "Sentence",
    "chunks",
    "looks_like_conllu",
    "parse_conllu",
]

UPOS = (
    *("NOUN", "VERB", "PUNCT", "PROPN", "INTJ", "NUM", "PRON", "SYM"),
    *("SCONJ", "ADJ", "ADP", "ADV", "AUX", "X", "CCONJ", "DET"),
)
"""The 16 tags of the paper's Table 9, in its order.

X (what fits nowhere else: foreign words, fragments) is among them; of the 17 universal tags
only `PART` is not.
"""

PART = "PART"
"""Particles (*not*, *to*, *'s*): the universal tag that Table 9 leaves out."""

CHUNK = re.compile(r"([BIESLU])-(.+)")
"""B begins, I goes on, E and L end, S and U stand alone."""

_NONE = frozenset(("", "O", "_"))


def chunks(labelled: Iterable[TokenSpan]) -> tuple[TokenSpan, ...]:
    """The names in tokens labelled one by one, in order.

    What goes on without a beginning begins; a name without a prefix begins or goes on.

    >>> chunks([TokenSpan(0, 1, "B-PER"), TokenSpan(1, 2, "I-PER"), TokenSpan(2, 3, "O")])
    (TokenSpan(start=0, end=2, label='PER'),)
    """
    found: list[TokenSpan] = []
    is_open = False
    for start, end, tag in labelled:
        if tag in _NONE:
            is_open = False
            continue
        match = CHUNK.fullmatch(tag)
        position, name = match.groups() if match else ("I", tag)
        if is_open and position in "IEL" and found[-1].label == name and found[-1].end == start:
            found[-1] = found[-1]._replace(end=end)
        else:
            found.append(TokenSpan(start, end, name))
        is_open = position in "BI"
    return tuple(found)


LAYERS = ("upos", "tag", "morph", "dep", "ner")
"""The layers that CoNLL-U gives; `tag` is the language's own part of speech."""

_COLUMNS = 10
_ID = re.compile(r"[0-9]{1,9}(?:[-.][0-9]{1,9})?")
_TEXT = re.compile(r"#\s*text\s*=\s*(.*)")
_SEGMENT = re.compile(r"#\s*(?:newdoc\b.*|seg(?:ment)?_?id\s*=.*)")
_NAME_KEYS = frozenset(("ner", "ne", "entity"))


@dataclass(frozen=True)
class Sentence:
    """One sentence of a file; `segment` is the comment that says where a segment begins."""

    line: int
    annotation: Annotation
    text: str = ""
    segment: str = ""


def looks_like_conllu(rows: Sequence[str]) -> bool:
    """Whether the first row has a word's number and a tab, or says what the sentence's text is."""
    if any(_TEXT.match(row) for row in rows[:5]):
        return True
    first = next((row for row in rows if row.strip() and not row.startswith("#")), "")
    return "\t" in first and _ID.fullmatch(first.partition("\t")[0]) is not None


def parse_conllu(rows: Sequence[str], where: str = "CoNLL-U") -> list[Sentence]:
    """The sentences with layers `upos`, `tag` (XPOS), `morph`, `dep` and `ner` (from MISC).

    Tokens are the words, but a multi-word token whose words do not spell it (French *du*: *de
    le*) stays one token with the labels of all its words. Names are read as `NER=B-PER` and the
    like, in any of the usual schemes; coreference brackets are not read. Empty nodes are left
    out. A word with a blank inside is several tokens in one span.
    """
    return [_sentence(block, where) for block in _blocks(rows, where)]


class _Word(NamedTuple):
    """The columns of one row that matter, and the line it stands on."""

    line: int
    id: str
    form: str
    upos: str
    xpos: str
    feats: str
    deprel: str
    misc: str


class _Placed(NamedTuple):
    """A word and its tokens."""

    start: int
    end: int
    word: _Word


@dataclass
class _Block:
    text: str = ""
    segment: str = ""
    words: list[_Word] = field(default_factory=list)


def _blocks(rows: Sequence[str], where: str) -> Iterator[_Block]:
    block = _Block()
    for number, row in enumerate((*rows, ""), 1):
        if not row.strip():
            if block.words:
                yield block
                block = _Block()
        elif row.startswith("#"):
            if match := _TEXT.match(row):
                block.text = match[1]
            elif _SEGMENT.match(row):
                block.segment = row
        else:
            block.words.append(_word(row, where, number))


def _word(row: str, where: str, number: int) -> _Word:
    cells = row.split("\t")
    if len(cells) != _COLUMNS:
        raise DataError(
            f"{where}, line {number}: {len(cells)} columns, but CoNLL-U has {_COLUMNS}, separated "
            "by tabs. Write _ for what is unknown, and a blank line after each sentence."
        )
    if not _ID.fullmatch(cells[0]):
        raise DataError(f"{where}, line {number}: {cells[0]!r} is no word number (1, 1-2 or 1.1).")
    if not cells[1].strip():
        raise DataError(f"{where}, line {number}: the second column, the word, is empty.")
    number_, form, _, upos, xpos, feats, _, deprel, _, misc = cells
    return _Word(number, number_, form, upos, xpos, feats, deprel, misc)


def _sentence(block: _Block, where: str) -> Sentence:
    tokens: list[str] = []
    placed: list[_Placed] = []
    names: list[TokenSpan] = []
    for whole, parts in _units(block.words, where):
        start, first = len(tokens), len(placed)
        if whole and "".join(part.form for part in parts) != whole.form:
            tokens += whole.form.split()
            placed += [_Placed(start, len(tokens), part) for part in parts]
        else:
            for part in parts:
                at = len(tokens)
                tokens += part.form.split()
                placed.append(_Placed(at, len(tokens), part))
        if whole and (name := _name(whole)):
            names.append(TokenSpan(start, len(tokens), name))
        else:
            names += _names(placed[first:])
    annotation = Annotation(tuple(tokens), {**_layers(placed), "ner": chunks(names)})
    return Sentence(block.words[0].line, annotation, block.text, block.segment)


def _units(words: Iterable[_Word], where: str) -> Iterator[tuple[_Word | None, list[_Word]]]:
    """The tokens in order: the row of a multi-word token if it is one, and its words."""
    whole, parts, last, count = None, list[_Word](), 0, 0
    for word in words:
        if "." in word.id:
            continue
        start, dash, end = word.id.partition("-")
        if int(start) != count + 1 or (dash and (whole or int(end) < int(start))):
            raise DataError(
                f"{where}, line {word.line}: word {word.id} where word {count + 1} should stand. "
                "Number the words from 1, and put a blank line after each sentence."
            )
        if dash:
            whole, last = word, int(end)
            continue
        count += 1
        parts.append(word)
        if count >= last:
            yield whole, parts
            whole, parts = None, []
    if whole:
        raise DataError(
            f"{where}, line {whole.line}: the sentence ends before the words {whole.id} are "
            "complete. Give every word of a multi-word token its own row."
        )


def _layers(placed: Sequence[_Placed]) -> dict[str, tuple[TokenSpan, ...]]:
    layers: dict[str, list[TokenSpan]] = {name: [] for name in LAYERS[:4]}
    for start, end, word in placed:
        for name, label in (("upos", word.upos), ("tag", word.xpos), ("dep", word.deprel)):
            if label not in ("_", ""):
                layers[name].append(TokenSpan(start, end, label))
        if word.feats != "_":
            features = (each for each in word.feats.split("|") if "=" in each)
            layers["morph"] += [TokenSpan(start, end, each) for each in features]
    return {name: tuple(spans) for name, spans in layers.items()}


def _names(placed: Sequence[_Placed]) -> Iterator[TokenSpan]:
    place = None
    for start, end, word in placed:
        # The words of a token that stays whole have the name of the first of them.
        if (start, end) != place:
            yield TokenSpan(start, end, _name(word))
        place = start, end


def _name(word: _Word) -> str:
    if word.misc == "_":
        return ""
    pairs = (each.partition("=") for each in word.misc.split("|"))
    values = (value for key, _, value in pairs if key.lower() in _NAME_KEYS)
    return next((value for value in values if "(" not in value and ")" not in value), "")
