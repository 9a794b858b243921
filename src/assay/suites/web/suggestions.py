"""Suggestions: rules that would settle the most warnings, accepted or dismissed one by one."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from assay.suites.store.suggestions import (
    count_dismissed,
    dismiss_suggestion,
    offer_again,
    suggestions,
)
from assay.suites.web.requests import Form, Posted, Visitor
from assay.suites.web.site import site_of
from assay.suites.web.views import line_pieces, rule_address
from assay.suites.web.work import last_toast

__all__ = ["router"]

router = APIRouter()


@router.get("/suggestions")
def suggest_rules(request: Request, session: Visitor) -> Response:
    """The rules that would settle the most of the warnings that are left."""
    site, asked = site_of(request), Form(dict(request.query_params))
    with site.store.read() as conn:
        found = suggestions(conn)
        dismissed = count_dismissed(conn)
        toast = last_toast(conn, session, asked)
    offered = [
        (
            one,
            rule_address(one.draft, after="/suggestions"),
            line_pieces(one.effect.settles[0], one.draft),
        )
        for one in found
    ]
    return site.page("suggestions", session, offered=offered, dismissed=dismissed, toast=toast)


@router.post("/suggestions")
def dismiss_one(request: Request, post: Posted) -> Response:
    """Do not offer a suggestion again, or offer all of them again."""
    with site_of(request).store.write() as conn:
        if post.form.text("key"):
            dismiss_suggestion(conn, post.form.text("key")[:64])
        else:
            offer_again(conn)
    return RedirectResponse("/suggestions", 303)
