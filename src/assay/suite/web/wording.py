"""How numbers, times and names are put into words on the pages."""

from __future__ import annotations

from datetime import datetime

from assay.suite.store.records import Change, Decision

__all__ = ["counted", "deed", "duration", "listed", "moment", "said"]

MINUTE, HOUR = 60, 3600


def counted(number: int, thing: str) -> str:
    """A number of things.

    >>> counted(1, "output"), counted(1200, "output")
    ('1 output', '1,200 outputs')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """A time span as exact as an estimate deserves.

    >>> duration(40), duration(1500), duration(9000)
    ('less than a minute', 'about 25 min', 'about 2.5 h')
    """
    if seconds < MINUTE:
        return "less than a minute"
    if seconds < HOUR:
        return f"about {seconds / MINUTE:.0f} min"
    return f"about {seconds / HOUR:.1f} h"


def moment(time: str) -> str:
    """A stored time for people; what is no time is left as it is.

    >>> moment("2026-05-01T12:30:59.123456+00:00")
    '2026-05-01 12:30 UTC'
    """
    try:
        return f"{datetime.fromisoformat(time):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return time


def deed(change: Change) -> str:
    """What somebody did.

    >>> deed(Change(1, "Ada", "", "decision", "fail", ""))
    'said fail'
    """
    if change.kind == "adjudication":
        return f"decided the dispute: {change.note}"
    return {"decision": f"said {change.note}", "skip": "skipped"}.get(change.kind, change.note)


def listed(names: list[str]) -> str:
    """Names as a person would say them.

    >>> listed(["Ada"]), listed(["Ada", "Ben", "Cy"])
    ('Ada', 'Ada, Ben and Cy')
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def said(decision: Decision) -> str:
    """Somebody's word.

    >>> said(Decision(1, "Ada", "pass", False, ""))
    'Ada said pass'
    """
    return f"{decision.annotator} said {decision.verdict}"
