"""Phenomena: what each of them is, written in the page and kept with the suite."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from assay.suites.store.phenomena import all_phenomena, define, phenomenon_named
from assay.suites.web.requests import Posted, Visitor
from assay.suites.web.site import site_of

__all__ = ["router"]

router = APIRouter()


@router.get("/phenomena")
def phenomena(request: Request, session: Visitor) -> Response:
    """All phenomena with their definitions, one of them to be edited where the address names it."""
    site, query = site_of(request), request.query_params
    asked = query.get("category", ""), query.get("phenomenon", "")
    with site.store.read() as conn:
        known = all_phenomena(conn)
        edited = phenomenon_named(conn, *asked) if asked[1] else None
    addresses = {
        one: urlencode({"category": one.category, "phenomenon": one.name}) for one in known
    }
    return site.page("phenomena", session, phenomena=known, addresses=addresses, edited=edited)


@router.post("/phenomena")
def write_definition(request: Request, post: Posted) -> Response:
    """Keep a definition and examples."""
    form = post.form
    with site_of(request).store.write() as conn:
        define(
            conn,
            post.person.id,
            form.text("category"),
            form.text("phenomenon"),
            definition=form.text("definition"),
            examples=form.text("examples"),
            key=form.key() or None,
        )
    return RedirectResponse("/phenomena", 303)
