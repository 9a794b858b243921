"""What a linter may find in a suite: the checks by name, and a problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["CHECKS", "SEVERITIES", "Problem", "Severity", "quoted"]

Severity = Literal["error", "warning", "info"]
"""Verdicts are wrong or missing; probably a slip; worth knowing, often meant so."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")

CHECKS: Mapping[str, str] = {
    "broken": "regular expressions that cannot be read",
    "explosive": "regular expressions that can search for ever",
    "everything": "regular expressions that match any output",
    "no-rule": "items without a rule: every output is a warning",
    "contradiction": "fixed strings that the rules of their own item judge otherwise",
    "both-sides": "the same text as a positive and as a negative rule",
    "empty": "fixed strings that are empty and match nothing",
    "no-source": "items with nothing to translate",
    "no-name": "items without a category or a phenomenon",
    "languages": "more than one language pair in the suite",
    "similar-names": "names that look like two spellings of one",
    "two-categories": "phenomena that stand in two categories",
    "same-source": "sentences that stand in the suite twice",
    "few-items": "phenomena with fewer than 20 items, too few to compare systems",
    "blank": "blanks in regular expressions that may keep them from matching",
    "dialect": "regular expressions that Python's re does not read alike",
    "one-sided": "items that no output can fail, or none can pass, without a person",
    "duplicate": "rules that stand in their item twice",
    "shadowed": "rules, or parts of rules, that others make superfluous",
}
"""The checks, and what each of them finds, the gravest first."""

LONGEST = 90
"""Characters of a quotation."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong or odd; `item` and `rule` are None where it concerns the suite."""

    severity: Severity
    check: str
    message: str
    item: str | None = None
    rule: str | None = None


def quoted(text: str, *, longest: int = LONGEST) -> str:
    """The text in quotation marks, with the middle of a long one left out.

    >>> quoted("Hold the line, please.", longest=11)
    '"Hold ... ease."'
    """
    if len(text) > longest:
        head, tail = (longest - 1) // 2, longest // 2
        text = f"{text[:head].rstrip()} ... {text[-tail:].lstrip()}"
    return f'"{text}"'
