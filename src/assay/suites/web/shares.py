"""Shares: how far everybody is with theirs, and the weights by which they were dealt."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from threading import Lock

from sqlalchemy import Connection

from assay.suites.store.dealing import shares, team
from assay.suites.store.people import all_people
from assay.suites.store.queue import progress
from assay.suites.store.records import DealPlan, Progress, Share

__all__ = ["Member", "ShownPlans", "TeamShares", "team_shares"]

DOUBLE = 0.1
"""The share that two people judge, unless somebody has said otherwise."""


MOST = 20
"""So many plans are kept; beyond that, the oldest go."""


@dataclass
class ShownPlans:
    """Plans that leads were shown, by secret names, so that what was shown is what is done."""

    _kept: dict[str, DealPlan] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def keep(self, plan: DealPlan) -> str:
        """Keep a plan; the name under which `take` finds it."""
        name = secrets.token_urlsafe(16)
        with self._lock:
            self._kept[name] = plan
            while len(self._kept) > MOST:
                self._kept.pop(next(iter(self._kept)))
        return name

    def take(self, name: str) -> DealPlan | None:
        """The plan of this name, once; None for one that was taken or is not kept any more."""
        with self._lock:
            return self._kept.pop(name, None)


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
