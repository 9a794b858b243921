"""People: who leads, one-time links, names, and two names of one person."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from assay.data import DataError
from assay.suites.store.merging import merge, plan_merge, rename
from assay.suites.store.people import all_people, appoint, dismiss, invite
from assay.suites.web.requests import LeadPosted, Visitor
from assay.suites.web.site import Session, site_of

__all__ = ["router"]

router = APIRouter()


@dataclass(frozen=True)
class OneTimeLink:
    """A link that logs a person in, once; it can be shown at no later time."""

    name: str
    address: str


@router.get("/people")
def people_page(request: Request, session: Visitor) -> Response:
    """Everybody, and who leads."""
    return _page(request, session)


@router.post("/people/lead")
def change_lead(request: Request, post: LeadPosted) -> Response:
    """Make somebody a lead, or a person like others again."""
    number = post.form.number("person")
    change = appoint if post.form.one_of("lead", ("yes", "no")) == "yes" else dismiss
    try:
        with site_of(request).store.write() as conn:
            change(conn, number, by=post.person.id)
    except DataError as error:
        return _page(request, post.session, error=str(error), status=400)
    return RedirectResponse("/people", 303)


@router.post("/people/invite")
def make_link(request: Request, post: LeadPosted) -> Response:
    """Make a one-time link for somebody, and show it this one time."""
    name = post.form.text("name")
    try:
        with site_of(request).store.write() as conn:
            secret = invite(conn, name, by=post.person.id)
    except DataError as error:
        return _page(request, post.session, error=str(error), status=400)
    link = OneTimeLink(" ".join(name.split()), f"{request.base_url}invite/{secret}")
    return _page(request, post.session, link=link)


@router.post("/people/rename")
def change_name(request: Request, post: LeadPosted) -> Response:
    """Give somebody another name."""
    try:
        with site_of(request).store.write() as conn:
            rename(conn, post.form.number("person"), post.form.text("name"), by=post.person.id)
    except DataError as error:
        return _page(request, post.session, error=str(error), status=400)
    return RedirectResponse("/people", 303)


@router.post("/people/merge")
def merge_people(request: Request, post: LeadPosted) -> Response:
    """Say what merging two people would do, and do it once that was read."""
    site, form = site_of(request), post.form
    person, into = form.number("person"), form.number("into")
    try:
        if form.text("sure") != "1":
            with site.store.read() as conn:
                plan = plan_merge(conn, person, into)
            return site.page("merge", post.session, plan=plan)
        with site.store.write() as conn:
            merge(conn, person, into, by=post.person.id)
    except DataError as error:
        return _page(request, post.session, error=str(error), status=400)
    return RedirectResponse("/people", 303)


def _page(
    request: Request,
    session: Session,
    *,
    error: str = "",
    link: OneTimeLink | None = None,
    status: int = 200,
) -> Response:
    site = site_of(request)
    with site.store.read() as conn:
        people = all_people(conn)
    return site.page("people", session, status=status, people=people, error=error, link=link)
