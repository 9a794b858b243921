"""Shares: how far everybody is with theirs, and the weights by which they were dealt."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from assay.suites.store.dealing import shares, team
from assay.suites.store.people import all_people
from assay.suites.store.queue import progress
from assay.suites.store.records import Progress, Share

__all__ = ["Member", "TeamShares", "team_shares"]

DOUBLE = 0.1
"""The share that two people judge, unless somebody has said otherwise."""


@dataclass(frozen=True)
class Member:
    """A person of the team, the share, the pace, and the weight of the last deal."""

    name: str
    share: Share | None
    progress: Progress
    weight: float


@dataclass(frozen=True)
class TeamShares:
    """Everybody, by name, the share that two people judge, and whether anything is dealt."""

    members: list[Member]
    double: float
    dealt: bool


def team_shares(connection: Connection) -> TeamShares:
    """How far everybody is, and how work was dealt last."""
    dealt, last = {share.person: share for share in shares(connection)}, team(connection)
    weights = {} if last is None else last.weights
    members = [
        Member(
            name=person.name,
            share=dealt.get(person.name),
            progress=progress(connection, person.id),
            weight=weights.get(person.id, 1),
        )
        for person in all_people(connection)
    ]
    return TeamShares(members, DOUBLE if last is None else last.double, bool(dealt))
