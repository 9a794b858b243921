"""Notes and flags: the forms that keep them and take them away."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from assay.suites.store.notes import add_note, remove_note
from assay.suites.web.requests import Form, Posted, inside
from assay.suites.web.site import site_of

__all__ = ["router"]

router = APIRouter()


@router.post("/note")
def write_note(request: Request, post: Posted) -> Response:
    """Keep a note on an output or on its item, and go back."""
    form = post.form
    about = form.one_of("about", ("output", "item"))
    with site_of(request).store.write() as conn:
        add_note(
            conn,
            post.person.id,
            item=form.text("item"),
            output=form.number("output") if about == "output" else None,
            flag=form.text("flag"),
            text=form.text("text"),
            key=form.key() or None,
        )
    return _back(form)


@router.post("/note/remove")
def take_away(request: Request, post: Posted) -> Response:
    """Take a note away, and go back."""
    with site_of(request).store.write() as conn:
        remove_note(conn, post.person.id, post.form.number("note"), key=post.form.key() or None)
    return _back(post.form)


def _back(form: Form) -> Response:
    return RedirectResponse(inside(form.text("after")), 303)
