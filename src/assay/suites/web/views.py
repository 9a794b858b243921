"""What the templates show of a case, made from what the store hands out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise
from urllib.parse import urlencode

import regex

from assay.data import DataError
from assay.suites.check import OutOfTime, pattern
from assay.suites.model import Item, Polarity, Rule
from assay.suites.store.queue import rule_matches
from assay.suites.store.records import (
    Case,
    Choice,
    Decision,
    Draft,
    Note,
    Phenomenon,
    PreviewLine,
    Saved,
    StoredOutput,
)
from assay.suites.store.tables import digest
from assay.suites.web.site import counted, listed, said

__all__ = [
    "CaseView",
    "ItemView",
    "MatchSpan",
    "OutputRow",
    "Piece",
    "Toast",
    "compared",
    "decisions_notice",
    "differing",
    "draft_pieces",
    "item_view",
    "line_pieces",
    "marked",
    "met_notice",
    "rule_address",
    "view",
]

# Words and signs, each with the blanks before it; scripts that are written without blanks go
# sign by sign.
WORD = regex.compile(r"\s*(?:[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|\w+|\S)|\s+")

LOOKS: dict[Polarity, str] = {"positive": "good", "negative": "bad"}

LONGEST = 1000
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
    bare = [word.strip() for word in others], [word.strip() for word in words]
    pieces = []
    for kind, a, b, c, d in SequenceMatcher(None, *bare, autojunk=False).get_opcodes():
        missing = "".join(others[a:b]).strip()
        if kind == "equal":
            pieces.append(Piece("".join(words[c:d])))
        elif kind == "delete" and missing:
            pieces.append(Piece("", "gap", f"missing here: {missing}"))
        elif kind != "delete":
            title = f"instead of: {missing}" if missing else "only here"
            pieces += _new("".join(words[c:d]), title)
    return _joined(pieces)


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces, with stretches of plain text as one."""
    found: list[Piece] = []
    for piece in pieces:
        if found and not piece.look and not found[-1].look:
            found[-1] = Piece(found[-1].text + piece.text)
        else:
            found.append(piece)
    return found


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


def compared(text: str, spans: Sequence[MatchSpan], base: str) -> list[Piece]:
    """The text in pieces: what rules matched, and what differs from the base.

    >>> spans = [MatchSpan(0, 5, "positive", "a+1: a big")]
    >>> [(piece.text, piece.look) for piece in compared("a big house", spans, "a small house")]
    [('a ', 'good'), ('big', 'good new'), (' house', '')]
    """
    pieces, at = [], 0
    for piece in differing(text, base):
        end = at + len(piece.text)
        inside = [
            replace(span, start=max(span.start, at) - at, end=min(span.end, end) - at)
            for span in spans
            if span.start < end and span.end > at
        ]
        pieces += [_both(part, piece) for part in marked(piece.text, inside)] or [piece]
        at = end
    return pieces


def _both(part: Piece, around: Piece) -> Piece:
    """A stretch of text that is marked for itself, and as a part of what is around it."""
    looks = [piece.look for piece in (part, around) if piece.look]
    titles = [piece.title for piece in (part, around) if piece.title]
    return Piece(part.text, " ".join(looks), "; ".join(titles))


@dataclass(frozen=True)
class OutputRow:
    """An output of an item: `pieces` mark what rules matched and how it differs from the chosen.

    `systems` are names, or stand for names that are hidden. It is `open` where this person has
    a warning to settle.
    """

    output: StoredOutput
    pieces: list[Piece]
    matched: list[Rule]
    trouble: tuple[str, ...]
    systems: tuple[str, ...]
    mine: Decision | None
    decisions: list[Decision]
    open: bool
    chosen: bool

    @property
    def reach(self) -> str:
        """How much one decision settles."""
        return counted(len(self.systems), "system")


@dataclass(frozen=True)
class ItemView:
    """An item with all its outputs, those that the rules leave open first; one is chosen.

    `uses` are the item's rules, each with the number of outputs that it matches; `notes` are those
    on the item and on its outputs.
    """

    item: Item
    output: StoredOutput
    rows: list[OutputRow]
    uses: list[tuple[Rule, int]]
    named: bool
    notes: tuple[Note, ...] = ()
    definition: Phenomenon | None = None

    @property
    def left(self) -> int:
        """How many warnings this person can settle here."""
        return sum(row.open for row in self.rows)


def item_view(case: Case, name: str, *, named: bool = True) -> ItemView:
    """The item of a case as the person of that name sees it; `named` tells the systems' names."""
    outputs = sorted((case.output, *case.others), key=_place)
    if not named:
        outputs = _without_names(outputs, case.item.id)
    slow: dict[str, str] = {}
    rows = [_row(case, output, name, slow) for output in outputs]
    uses = [(rule, sum(rule in row.matched for row in rows)) for rule in case.item.rules]
    return ItemView(case.item, case.output, rows, uses, named, case.notes, case.definition)


def _place(output: StoredOutput) -> tuple[bool, int]:
    # What people say moves no output, so that nobody loses their place.
    return output.ruled != "warning", output.id


def _row(case: Case, output: StoredOutput, name: str, slow: dict[str, str]) -> OutputRow:
    """One output; a rule that could not be searched in another one is not tried again."""
    item = replace(case.item, rules=tuple(rule for rule in case.item.rules if rule.id not in slow))
    matches, trouble = rule_matches(item, output.text)
    slow |= {
        rule.id: why
        for rule in item.rules
        for why in trouble
        if why.startswith(f"rule {rule.id}: ")
    }
    spans = _spans(item, matches)
    chosen = output.id == case.output.id
    mine = next((given for given in output.decisions if given.person == name), None)
    return OutputRow(
        output=output,
        pieces=(
            marked(output.text, spans) if chosen else compared(output.text, spans, case.output.text)
        ),
        matched=[rule for rule in item.rules if rule.id in {match[0] for match in matches}],
        trouble=tuple(slow.values()),
        systems=output.systems,
        mine=mine,
        decisions=[decision for decision in output.decisions if decision.verdict != "skip"],
        open=output.verdict == "warning" and not output.disputed and mine is None,
        chosen=chosen,
    )


def _spans(item: Item, matches: Iterable[tuple[str, int, int]]) -> list[MatchSpan]:
    rules = {rule.id: rule for rule in item.rules}
    return [
        MatchSpan(start, end, rules[rule].polarity, f"{rule}: {rules[rule].text}")
        for rule, start, end in matches
    ]


def _without_names(outputs: Sequence[StoredOutput], item: str) -> list[StoredOutput]:
    """The outputs with a number for each system, in an order of the item's own."""
    names = {name for output in outputs for name in output.systems}
    shuffled = sorted(names, key=lambda name: digest(f"{item}\n{name}"))
    numbers = {name: f"system {at}" for at, name in enumerate(shuffled, 1)}
    return [
        replace(output, systems=tuple(sorted(numbers[name] for name in output.systems)))
        for output in outputs
    ]


@dataclass(frozen=True)
class CaseView:
    """An output to judge, ready to be shown."""

    case: Case
    pieces: list[Piece]
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
    """What was just done; `change` undoes it.

    `rule` is the address of a rule made from it, which `settles` so many more outputs.
    """

    text: str
    change: int
    rule: str = ""
    settles: int = 0


def rule_address(draft: Draft, **more: str) -> str:
    """Where a draft is tried on all outputs, and saved."""
    told = {"polarity": draft.polarity, "kind": draft.kind, "text": draft.text}
    return f"/rule/{draft.output}?{urlencode(told | {'scope': draft.scope} | more)}"


def view(case: Case) -> CaseView:
    """A case with what rules matched in it, and all that people said."""
    return CaseView(
        case=case,
        pieces=marked(case.output.text, _spans(case.item, case.matches)),
        decisions=[given for given in case.output.decisions if given.verdict != "skip"],
    )


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
