"""Annotations given in files beside the texts: a tag per token, or CoNLL-U."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from assay.data import DataError
from assay.features.annotation import Annotation, TokenSpan
from assay.io.files import FilePath, label, read_lines, suffix

__all__ = [
    "CHUNK",
    "LAYERS",
    "PART",
    "UPOS",
    "Sentence",
    "chunks",
    "looks_like_conllu",
    "match_sentences",
    "parse_conllu",
    "read_tags",
]


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
        for name, value in (("upos", word.upos), ("tag", word.xpos), ("dep", word.deprel)):
            if value not in ("_", ""):
                layers[name].append(TokenSpan(start, end, value))
        if word.feats != "_":
            features = [feature for feature in word.feats.split("|") if "=" in feature]
            layers["morph"] += [TokenSpan(start, end, feature) for feature in features]
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
    pairs = (pair.partition("=") for pair in word.misc.split("|"))
    values = (value for key, _, value in pairs if key.lower() in _NAME_KEYS)
    return next((value for value in values if "(" not in value and ")" not in value), "")
