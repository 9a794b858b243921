"""The time as the store writes it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

__all__ = ["now"]


def now(*, later: timedelta = timedelta()) -> str:
    """The time in UTC, as ISO 8601 with microseconds, so that texts sort as times do."""
    return (datetime.now(UTC) + later).isoformat(timespec="microseconds")
