"""The suite as a whole: its overview, its name, and a new one from nothing."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from assay.suites.store.overview import SuiteOverview, name_suite, overview
from assay.suites.web.requests import Form, LeadPosted, Visitor
from assay.suites.web.site import Session, counted, listed, site_of
from assay.suites.web.uploads import LARGEST_FILE

__all__ = ["overview_page", "router"]

router = APIRouter()


@router.get("/suite")
def suite_page(request: Request, session: Visitor) -> Response:
    """What the suite has and what is missing; how to make one where there is none."""
    return overview_page(request, session)


@router.post("/suite")
def name_it(request: Request, post: LeadPosted) -> Response:
    """Give the suite a name and its languages; a new one goes on with its first item."""
    form, site = post.form, site_of(request)
    if not form.text("name").strip():
        return overview_page(request, post.session, error="Give the suite a name.")
    with site.store.write() as conn:
        name_suite(conn, form.text("name"), form.text("languages"), person=post.person.id)
    return RedirectResponse("/items/new" if form.text("first") else "/suite", 303)


def overview_page(request: Request, session: Session, *, error: str = "") -> Response:
    """The overview, perhaps with what is wrong with a form of it."""
    site = site_of(request)
    with site.store.read() as conn:
        about = overview(conn, person=session.person.id)
    return site.page(
        "suite",
        session,
        status=400 if error else 200,
        about=about,
        error=error,
        done="" if error else _done(request, about),
        megabytes=LARGEST_FILE // 2**20,
    )


def _done(request: Request, about: SuiteOverview) -> str:
    """What was just imported, as the address says it after an import."""
    asked = Form(dict(request.query_params))
    if asked.text("added"):
        added, changed = asked.number("added"), asked.number("changed")
        return f"{counted(added, 'item')} added, {counted(changed, 'item')} changed."
    new = asked.text("runs").split()
    names = [each.run.system for each in about.runs if str(each.run.id) in new]
    return f"Outputs of {listed(names)} were added." if names else ""
