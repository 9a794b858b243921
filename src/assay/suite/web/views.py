"""What the templates show of a case, made from what the store hands out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.data import DataError
from assay.suite.model import Item, Rule
from assay.suite.patterns import OutOfTime, pattern
from assay.suite.store.records import (
    Case,
    Choice,
    Decision,
    Draft,
    PreviewLine,
    Saved,
    StoredOutput,
)
from assay.suite.web.marking import Piece, Span, differing, marked
from assay.suite.web.wording import counted, listed, said

__all__ = ["CaseView", "Toast", "draft_pieces", "line_pieces", "met_notice", "view", "words_notice"]


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
    words: list[Decision]

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
        Span(start, end, rules[rule].polarity, f"{rule}: {rules[rule].text}")
        for rule, start, end in case.matches
    ]
    found = dict.fromkeys(rule for rule, _, _ in case.matches)
    words = [each for each in case.output.decisions if each.verdict != "skip"]
    return CaseView(
        case=case,
        pieces=marked(case.output.text, spans),
        matched=[rules[rule] for rule in found],
        others=[Other(each, differing(each.text, case.output.text)) for each in case.others],
        reach=reach(case.output.systems),
        mine=next((each for each in case.output.decisions if each.annotator == name), None),
        words=words,
    )


def reach(systems: Sequence[str]) -> str:
    """How much one decision settles."""
    return f"{counted(len(systems), 'output')} of {counted(len(systems), 'system')}"


def met_notice(saved: Saved, choice: Choice) -> str:
    """What a person is told whose decision met the decision of another; else nothing."""
    if saved.met is None:
        return ""
    you = "skipped it" if choice == "skip" else f"said {choice}"
    they = f"{saved.met.annotator} skipped" if saved.met.verdict == "skip" else said(saved.met)
    return f"{they} while you were looking at the same output, and you {you}. {_fate(saved.output)}"


def words_notice(output: StoredOutput) -> str:
    """The words of all people on an output, and what becomes of them."""
    return f"{listed([said(each) for each in output.decisions])}. {_fate(output)}"


def draft_pieces(text: str, draft: Draft) -> list[Piece]:
    """The output with what the draft matches, nothing marked where it does not work."""
    try:
        found = pattern(draft.text, draft.kind).search(text)
    except (DataError, OutOfTime):
        found = None
    return marked(text, [Span(*found, draft.polarity)] if found else [])


def line_pieces(line: PreviewLine, draft: Draft) -> list[Piece]:
    """An output that a draft would change, with what it matches."""
    return marked(line.text, [Span(*line.span, draft.polarity)])


def _fate(output: StoredOutput) -> str:
    if output.disputed:
        return "Both words are kept; the output goes to adjudication."
    return f"Both words are kept; the output counts as {output.verdict}."
