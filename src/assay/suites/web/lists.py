"""Pages that list: outputs to look through, disputes and the history."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from assay.suites.store.filters import choices
from assay.suites.store.finding import disputed_cases, find
from assay.suites.store.history import history
from assay.suites.store.people import all_people
from assay.suites.web.requests import Asked, Form, Queue, Visitor
from assay.suites.web.site import site_of
from assay.suites.web.views import view
from assay.suites.web.work import last_toast

__all__ = ["router"]

router = APIRouter()

STEP = 50
"""How many entries a page lists."""

NOBODY = 0
"""No person has this number."""


@router.get("/")
def start() -> Response:
    """The way to the main page."""
    return RedirectResponse("/resolve", 303)


@router.get("/browse")
def browse(request: Request, session: Visitor, queue: Asked) -> Response:
    """The outputs that fit the filters."""
    site, offset = site_of(request), _number(request, "offset", 0)
    with site.store.read() as conn:
        found, total = find(conn, queue.filters, offset=offset, limit=STEP)
        known = choices(conn)
    return site.page(
        "browse",
        session,
        queue=queue,
        listed=replace(queue, listed=True).query,
        found=found,
        total=total,
        offset=offset,
        step=STEP,
        choices=known,
    )


@router.get("/disputes")
def disputes(request: Request, session: Visitor) -> Response:
    """Outputs on which people disagree, each person's decision beside the others'."""
    site, asked = site_of(request), Form(dict(request.query_params))
    with site.store.read() as conn:
        cases = disputed_cases(conn, limit=STEP)
        views = [view(case) for case in cases]
        toast = last_toast(conn, session, asked)
    notice = ""
    return site.page("disputes", session, views=views, toast=toast, queue=Queue(), notice=notice)


@router.get("/history")
def past(request: Request, session: Visitor) -> Response:
    """Everything that people did, the latest first."""
    site, query = site_of(request), request.query_params
    person, item = query.get("person", ""), query.get("item", "").strip()
    before = _number(request, "before", 0) or None
    with site.store.read() as conn:
        numbers = {somebody.name: somebody.id for somebody in all_people(conn)}
        who = numbers.get(person, NOBODY) if person else None
        found = history(conn, person=who, item=item or None, limit=STEP + 1, before=before)
    return site.page(
        "history",
        session,
        changes=found[:STEP],
        more=len(found) > STEP,
        names=list(numbers),
        person=person,
        item=item,
    )


def _number(request: Request, name: str, default: int) -> int:
    asked = Form(dict(request.query_params))
    return asked.number(name) if asked.text(name) else default
