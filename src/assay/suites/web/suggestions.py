"""Suggestions: rules that would settle the most warnings, accepted or dismissed one by one."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from assay.suites.store.suggestions import (
    Suggestion,
    count_dismissed,
    dismiss_suggestion,
    offer_again,
    suggestions,
)
from assay.suites.web.requests import Form, Posted, Visitor
from assay.suites.web.site import site_of
from assay.suites.web.views import line_pieces
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
    offered = [(one, _address(one), line_pieces(one.effect.settles[0], one.draft)) for one in found]
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


def _address(one: Suggestion) -> str:
    """Where the suggestion is tried once more, and saved."""
    draft = one.draft
    query = {
        "polarity": draft.polarity,
        "kind": draft.kind,
        "text": draft.text,
        "scope": draft.scope,
        "after": "/suggestions",
    }
    return f"/rule/{draft.output}?{urlencode(query)}"
