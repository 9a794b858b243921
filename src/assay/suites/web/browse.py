"""Looking through: the outputs that fit the filters, and the disputes."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from assay.suites.store.blind import hidden_from
from assay.suites.store.counts import counts
from assay.suites.store.decisions import adjudication_problem
from assay.suites.store.filters import choices
from assay.suites.store.finding import disputed_cases, find
from assay.suites.store.notes import load_notes
from assay.suites.web.requests import Asked, Form, Queue, Visitor
from assay.suites.web.site import site_of
from assay.suites.web.views import view
from assay.suites.web.work import last_toast

__all__ = ["router"]

router = APIRouter()

STEP = 50
"""How many outputs a page lists."""


@router.get("/")
def start() -> Response:
    """The way to the main page."""
    return RedirectResponse("/resolve", 303)


@router.get("/browse")
def browse(request: Request, session: Visitor, queue: Asked) -> Response:
    """The outputs that fit the filters, as this person may see them."""
    site, asked, me = site_of(request), Form(dict(request.query_params)), session.person.id
    offset = asked.number("offset") if asked.text("offset") else 0
    with site.store.read() as conn:
        found, total = find(conn, queue.filters, person=me, offset=offset, limit=STEP)
        written = load_notes(
            conn, [output.id for _, output in found], hidden=hidden_from(conn, me), person=me
        )
        known, counted = choices(conn), counts(conn, queue.filters, person=me)
    return site.page(
        "browse",
        session,
        queue=queue,
        listed=replace(queue, listed=True).query,
        found=found,
        notes=written,
        total=total,
        offset=offset,
        step=STEP,
        choices=known,
        counts=counted,
    )


@router.get("/disputes")
def disputes(request: Request, session: Visitor) -> Response:
    """Outputs on which people disagree, each person's decision beside the others'."""
    site, asked = site_of(request), Form(dict(request.query_params))
    with site.store.read() as conn:
        cases = disputed_cases(conn, person=session.person.id, limit=STEP)
        views = [
            (view(case), adjudication_problem(conn, case.output.id, session.person.id))
            for case in cases
        ]
        toast = last_toast(conn, session, asked)
    return site.page("disputes", session, views=views, toast=toast, queue=Queue(), notice="")
