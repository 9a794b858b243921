"""The history: everything that people did, with the texts that it was about."""

from __future__ import annotations

from datetime import date
from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Request, Response

from assay.suites.store.blind import hidden_from
from assay.suites.store.decisions import may_undo
from assay.suites.store.history import KINDS, history, kinds_done
from assay.suites.store.people import all_people
from assay.suites.web.requests import Form, Visitor
from assay.suites.web.site import site_of

__all__ = ["router"]

router = APIRouter()

STEP = 50
"""How many entries a page lists."""

NOBODY = 0
"""No person has this number."""

FIELDS = ("person", "kind", "item", "since", "until")
"""What the history can be filtered by."""


@router.get("/history")
def past(request: Request, session: Visitor) -> Response:
    """Everything that people did, the latest first, as far as this person may see it."""
    site, form = site_of(request), Form(dict(request.query_params))
    asked = {name: form.text(name).strip() for name in FIELDS}
    for name in ("since", "until"):
        _check_day(name, asked[name])
    with site.store.read() as conn:
        numbers = {somebody.name: somebody.id for somebody in all_people(conn)}
        found = history(
            conn,
            person=numbers.get(asked["person"], NOBODY) if asked["person"] else None,
            item=asked["item"] or None,
            kind=asked["kind"],
            since=asked["since"],
            until=asked["until"],
            hidden=hidden_from(conn, session.person.id),
            viewer=session.person.id,
            limit=STEP + 1,
            before=form.number("before") if form.text("before") else None,
        )
        kinds = {kind: KINDS.get(kind, kind) for kind in sorted(kinds_done(conn))}
    return site.page(
        "history",
        session,
        changes=found[:STEP],
        undoable={change.id for change in found if may_undo(change, session.person)},
        more=len(found) > STEP,
        names=list(numbers),
        kinds=kinds,
        asked=asked,
        query=urlencode({name: value for name, value in asked.items() if value}),
    )


def _check_day(name: str, text: str) -> None:
    try:
        if text:
            date.fromisoformat(text)
    except ValueError:
        raise HTTPException(400, f"{name} has to be a day, as in 2026-05-01.") from None
