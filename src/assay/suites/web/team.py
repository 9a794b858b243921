"""The team: who does what, how far it is, and how far people agree."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from assay.statistics.correlation import krippendorff_alpha, pairwise_agreement
from assay.suites.store.queue import progress
from assay.suites.store.ratings import ratings
from assay.suites.store.records import Ratings
from assay.suites.web.requests import Form, Queue, Visitor
from assay.suites.web.shares import team_shares
from assay.suites.web.site import Session, site_of
from assay.suites.web.work import last_toast

__all__ = ["agreement", "router", "team_page"]

router = APIRouter()


@dataclass(frozen=True)
class PairOfPeople:
    """Two people and how far they agree on what both judged."""

    first: str
    second: str
    outputs: int
    same: float
    kappa: str


@dataclass(frozen=True)
class TeamAgreement:
    """How far the team agrees; figures as they are shown, since some are unknown."""

    pairs: list[PairOfPeople]
    alpha: str


@router.get("/team")
def team(request: Request, session: Visitor) -> Response:
    """Who does what, how far it is, and how far people agree."""
    return team_page(request, session)


def team_page(
    request: Request, session: Session, *, error: str = "", status: int = 200
) -> Response:
    """The team's page, perhaps with what is wrong with a form of it."""
    site, asked = site_of(request), Form(dict(request.query_params))
    with site.store.read() as conn:
        values = {
            "shares": team_shares(conn),
            "progress": progress(conn, session.person.id),
            "agreement": agreement(ratings(conn)),
            "toast": last_toast(conn, session, asked),
            "queue": Queue(),
        }
    return site.page("team", session, status=status, error=error, **values)


def agreement(found: Ratings) -> TeamAgreement:
    """Cohen's kappa of every two people, and Krippendorff's alpha of all."""
    verdicts = [[_verdict(code) for code in row] for row in found.codes]
    pairs = [
        PairOfPeople(
            found.people[pair.first],
            found.people[pair.second],
            pair.shared,
            pair.agreed / pair.shared,
            _figure(pair.kappa),
        )
        for pair in pairwise_agreement(verdicts)
    ]
    return TeamAgreement(pairs, _figure(krippendorff_alpha(verdicts)) if pairs else "")


def _verdict(code: float) -> str | None:
    return None if math.isnan(code) else "pass" if code else "fail"


def _figure(value: float) -> str:
    return "unknown" if math.isnan(value) else f"{value:.2f}"
