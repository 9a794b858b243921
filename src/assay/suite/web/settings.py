"""What a server of the pages is told at its start."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "LOOPBACK", "Settings"]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""The names by which a machine calls itself."""


@dataclass(frozen=True)
class Settings:
    """How the pages are guarded.

    `accounts`: people log in with a password or a one-time link; without, they just say a name.
    `hosts` are the names under which the server answers, None for any. `cookie` keeps servers on
    several ports of one machine apart. `largest` is the most bytes that a request may carry.
    """

    accounts: bool = False
    hosts: frozenset[str] | None = LOOPBACK
    cookie: str = "assay"
    largest: int = 1 << 18


DEFAULT = Settings()
"""For people at this machine."""
