"""The team: who does what, and how far it is."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from assay.suites.store.queue import progress
from assay.suites.web.requests import Form, Queue, Visitor
from assay.suites.web.shares import team_shares
from assay.suites.web.site import Session, site_of
from assay.suites.web.work import last_toast

__all__ = ["router", "team_page"]

router = APIRouter()


@router.get("/team")
def team(request: Request, session: Visitor) -> Response:
    """Who does what, and how far it is."""
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
            "toast": last_toast(conn, session, asked),
            "queue": Queue(),
        }
    return site.page("team", session, status=status, error=error, **values)
