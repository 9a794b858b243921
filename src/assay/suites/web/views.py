"""What the templates show of a case, made from what the store hands out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

import regex

from assay.data import DataError
from assay.suites.check import OutOfTime, pattern
from assay.suites.model import Item, Polarity, Rule
from assay.suites.store.records import (
    Case,
    Choice,
    Decision,
    Draft,
    PreviewLine,
    Saved,
    StoredOutput,
)
from assay.suites.web.site import counted, listed, said

__all__ = [
    "CaseView",
    "MatchSpan",
    "Piece",
    "Toast",
    "decisions_notice",
    "differing",
    "draft_pieces",
    "line_pieces",
    "marked",
    "met_notice",
    "view",
]

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
class MatchSpan:
    """Where a rule matched."""

    start: int
    end: int
    polarity: Polarity
    title: str = ""


def marked(text: str, spans: Iterable[MatchSpan]) -> list[Piece]:
    """The text in pieces, those in a span marked by what matched them.

    >>> [(piece.text, piece.look) for piece in marked("my old man", [MatchSpan(7, 10, "negative")])]
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


def _piece(text: str, spans: Sequence[MatchSpan]) -> Piece:
    polarities = {span.polarity for span in spans}
    look = "both" if len(polarities) > 1 else LOOKS[next(iter(polarities))] if polarities else ""
    return Piece(text, look, "; ".join(span.title for span in spans))


@dataclass(frozen=True)
class Other:
    """Another output of the same item, and how it differs from the one to judge."""

    output: StoredOutput
    pieces: list[Piece]


@dataclass(frozen=True)
class CaseView:
    """A case, ready to be shown: `matched` are the rules that the output has."""

    case: Case
    pieces: list[Piece]
    matched: list[Rule]
    others: list[Other]
    reach: str
    mine: Decision | None
    decisions: list[Decision]

    @property
    def item(self) -> Item:
        """The item of the case."""
        return self.case.item

    @property
    def output(self) -> StoredOutput:
        """The output to judge."""
        return self.case.output


@dataclass(frozen=True)
class Toast:
    """What was just done; `change` undoes it, `rule` is the address of a rule made from it."""

    text: str
    change: int
    rule: str = ""


def view(case: Case, name: str) -> CaseView:
    """A case as the person of that name sees it."""
    rules = {rule.id: rule for rule in case.item.rules}
    spans = [
        MatchSpan(start, end, rules[rule].polarity, f"{rule}: {rules[rule].text}")
        for rule, start, end in case.matches
    ]
    found = dict.fromkeys(rule for rule, _, _ in case.matches)
    given = case.output.decisions
    return CaseView(
        case=case,
        pieces=marked(case.output.text, spans),
        matched=[rules[rule] for rule in found],
        others=[Other(other, differing(other.text, case.output.text)) for other in case.others],
        reach=reach(case.output.systems),
        mine=next((decision for decision in given if decision.person == name), None),
        decisions=[decision for decision in given if decision.verdict != "skip"],
    )


def reach(systems: Sequence[str]) -> str:
    """How much one decision settles."""
    return f"{counted(len(systems), 'output')} of {counted(len(systems), 'system')}"


def met_notice(saved: Saved, choice: Choice) -> str:
    """What a person is told whose decision met the decision of another; else nothing."""
    if saved.met is None:
        return ""
    you = "skipped it" if choice == "skip" else f"said {choice}"
    they = f"{saved.met.person} skipped" if saved.met.verdict == "skip" else said(saved.met)
    return f"{they} while you were looking at the same output, and you {you}. {_fate(saved.output)}"


def decisions_notice(output: StoredOutput) -> str:
    """What all people say of an output, and what becomes of it."""
    return f"{listed([said(decision) for decision in output.decisions])}. {_fate(output)}"


def draft_pieces(text: str, draft: Draft) -> list[Piece]:
    """The output with what the draft matches, nothing marked where it does not work."""
    try:
        found = pattern(draft.text, draft.kind).search(text)
    except (DataError, OutOfTime):
        found = None
    return marked(text, [MatchSpan(*found, draft.polarity)] if found else [])


def line_pieces(line: PreviewLine, draft: Draft) -> list[Piece]:
    """An output that a draft would change, with what it matches."""
    return marked(line.text, [MatchSpan(*line.span, draft.polarity)])


def _fate(output: StoredOutput) -> str:
    if output.disputed:
        return "Both decisions are kept; the output is now a dispute."
    return f"Both decisions are kept; the output counts as {output.verdict}."
