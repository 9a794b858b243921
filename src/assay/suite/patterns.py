"""Patterns from untrusted files, compiled once and searched against the clock."""

from __future__ import annotations

from functools import lru_cache

import regex

from assay.data import DataError
from assay.suite.model import Kind, Rule

__all__ = ["LIMIT", "OutOfTime", "Pattern", "pattern"]

LIMIT = 0.25
"""Seconds of the process's own computing that a pattern may search one output.

`regex` does not count the time in which other programs have the processor, so that a busy machine
decides nothing.
"""

KEPT = 100_000
"""How many compiled patterns are kept; a large suite has a few thousand."""


class OutOfTime(Exception):
    """A search that took longer than it may."""


class Pattern:
    """A rule's pattern: `search` says whether an output has it.

    A regular expression is searched anywhere, case-sensitively; a fixed string stands somewhere
    in the output, blanks around it aside, and an empty one stands nowhere.
    """

    def __init__(self, text: str, kind: Kind) -> None:
        self._fixed = text.strip() if kind == "fixed" else None
        self._regex = None if kind == "fixed" else _compiled(text)

    def search(self, output: str, *, limit: float | None = LIMIT) -> tuple[int, int] | None:
        """Where the first match begins and ends, or None; raises `OutOfTime`.

        A search without a `limit` is faster, and goes on for ever with some patterns.
        """
        if self._regex is None:
            return self._find(output)
        try:
            found = self._regex.search(output, timeout=limit)
        except TimeoutError:
            raise OutOfTime from None
        return found.span() if found else None

    def _find(self, output: str) -> tuple[int, int] | None:
        at = output.find(self._fixed) if self._fixed else -1
        return None if at < 0 else (at, at + len(self._fixed or ""))


@lru_cache(KEPT)
def pattern(text: str, kind: Kind) -> Pattern:
    """The pattern, compiled at its first use; a `DataError` says what is wrong with it."""
    return Pattern(text, kind)


def pattern_of(rule: Rule) -> Pattern:
    """The pattern of a rule."""
    return pattern(rule.text, rule.kind)


def _compiled(text: str) -> regex.Pattern[str]:
    try:
        return regex.compile(text, cache_pattern=False)
    except (regex.error, RecursionError, OverflowError, MemoryError) as error:
        raise DataError(f"{text!r} is not a regular expression ({error}).") from None
