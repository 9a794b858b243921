"""Texts cut into pieces that a page can mark: what rules matched, and what differs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

import regex

from assay.suite.model import Polarity

__all__ = ["Piece", "Span", "differing", "marked"]

# Words, blanks and signs; scripts that are written without blanks go sign by sign.
WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|\w+|\s+|.", regex.DOTALL)

LOOKS: dict[Polarity, str] = {"positive": "good", "negative": "bad"}

LONGEST = 3000
"""Texts of more words than this are not compared word by word."""


@dataclass(frozen=True)
class Piece:
    """A stretch of text; `look` is good, bad, both, new, gap or nothing, `title` says why."""

    text: str
    look: str = ""
    title: str = ""


@dataclass(frozen=True)
class Span:
    """Where a rule matched."""

    start: int
    end: int
    polarity: Polarity
    title: str = ""


def marked(text: str, spans: Iterable[Span]) -> list[Piece]:
    """The text in pieces, those in a span marked by what matched them.

    >>> [(piece.text, piece.look) for piece in marked("my old man", [Span(7, 10, "negative")])]
    [('my old ', ''), ('man', 'bad')]
    """
    spans = [span for span in spans if span.start < span.end]
    cuts = sorted({0, len(text)}.union(*((span.start, span.end) for span in spans)))
    return [
        _piece(text[start:end], [span for span in spans if span.start <= start < span.end])
        for start, end in pairwise(cuts)
    ]


def differing(text: str, base: str) -> list[Piece]:
    """The text in pieces: `new` is not in the base, a `gap` is where words of the base are missing.

    >>> [(piece.text, piece.look) for piece in differing("a big house", "a small house")]
    [('a ', ''), ('big', 'new'), (' house', '')]
    """
    words, others = WORD.findall(text), WORD.findall(base)
    if max(len(words), len(others)) > LONGEST:
        return [Piece(text)]
    pieces = []
    for kind, a, b, c, d in SequenceMatcher(None, others, words, autojunk=False).get_opcodes():
        missing = "".join(others[a:b]).strip()
        if kind == "equal":
            pieces.append(Piece("".join(words[c:d])))
        elif kind == "delete" and missing:
            pieces.append(Piece("", "gap", f"missing here: {missing}"))
        elif kind != "delete":
            title = f"instead of: {missing}" if missing else "only here"
            pieces += _new("".join(words[c:d]), title)
    return pieces


def _new(text: str, title: str) -> list[Piece]:
    """A new stretch; the blanks around it are nothing new."""
    bare = text.strip()
    if not bare:
        return [Piece(text)]
    at = text.index(bare)
    around = Piece(text[:at]), Piece(bare, "new", title), Piece(text[at + len(bare) :])
    return [piece for piece in around if piece.text]


def _piece(text: str, spans: Sequence[Span]) -> Piece:
    polarities = {span.polarity for span in spans}
    look = "both" if len(polarities) > 1 else LOOKS[next(iter(polarities))] if polarities else ""
    return Piece(text, look, "; ".join(span.title for span in spans))
