"""The screen of an item, while it is looked at: differences between outputs, names of systems."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from assay.suites.store.queue import case
from assay.suites.web.requests import (
    YEAR,
    Number,
    Posted,
    Visitor,
    inside,
    names_cookie,
    set_cookie,
)
from assay.suites.web.site import site_of
from assay.suites.web.views import item_view

__all__ = ["router"]

router = APIRouter()


@router.get("/case/{output}/differences")
def differences(request: Request, session: Visitor, output: Number) -> Response:
    """How each output of the item differs from this one, by its number."""
    site = site_of(request)
    with site.store.read() as conn:
        shown = case(conn, output, session.person.id)
    view = item_view(shown, session.person.name, named=session.named)
    texts = {
        row.output.id: site.fragment("text", session, row=row)
        for row in view.rows
        if row.output.text
    }
    return JSONResponse({"texts": texts})


@router.post("/names")
def name_systems(request: Request, post: Posted) -> Response:
    """Show the names of systems on this person's screens, or hide them."""
    choice = post.form.one_of("names", ("shown", "hidden"))
    answer = RedirectResponse(inside(post.form.text("after")), 303)
    cookie = names_cookie(site_of(request), post.person)
    set_cookie(answer, request, cookie, choice, lasts=YEAR)
    return answer
