"""Who somebody is: a name, a password or a one-time link, and a way out."""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import RedirectResponse

from assay.data import DataError
from assay.suites.store import people
from assay.suites.store.leases import give_back_all
from assay.suites.store.opening import Unavailable
from assay.suites.store.records import Person
from assay.suites.web.requests import (
    YEAR,
    Given,
    Posted,
    Visitor,
    inside,
    session_of,
    set_cookie,
)
from assay.suites.web.site import AttemptKey, Site, keys_of, site_of

__all__ = ["open_door", "router"]

router = APIRouter()

CLOSED = (
    "This page opens with the link that ends in ?token=... It stands in the terminal where "
    "`assay suite serve` was started, and is a new one at each start."
)


def open_door(request: Request) -> None:
    """Let in whoever has the token of this server, where a name is enough to log in.

    A token in the address becomes a cookie, so that it is in no bookmark, history or copied link.
    """
    settings = site_of(request).settings
    if settings.accounts:
        return
    given = request.query_params.get("token")
    if given is None and _same(request.cookies.get(f"{settings.cookie}-token", ""), settings.token):
        return
    if given is None or not _same(given, settings.token):
        raise HTTPException(403, CLOSED)
    clean = request.url.remove_query_params("token")
    response = RedirectResponse(clean.path + (f"?{clean.query}" if clean.query else ""), 303)
    set_cookie(response, request, f"{settings.cookie}-token", settings.token)
    raise HTTPException(303, headers=dict(response.headers))


def _same(given: str, expected: str) -> bool:
    """Whether two secrets are the same, in a time that does not tell how much of them is."""
    return hmac.compare_digest(given.encode(errors="replace"), expected.encode())


@router.get("/login")
def login_page(request: Request, next: Annotated[str, Query()] = "/resolve") -> Response:
    """The form where a person says who they are."""
    if session_of(request):
        return RedirectResponse(inside(next), 303)
    return _form_page(request, "login", after=inside(next))


@router.post("/login")
def log_in(request: Request, form: Given) -> Response:
    """Log in with a name, and a password where accounts are required."""
    site, name, after = site_of(request), form.text("name").strip(), inside(form.text("after"))
    try:
        person = _known(request, name, form.text("password")) if site.settings.accounts else None
        person = person or _named(site, name)
    except Unavailable:
        raise
    except DataError as error:
        return _form_page(request, "login", 403, after=after, name=name, error=str(error))
    return _enter(request, person, after)


@router.get("/invite/{secret}")
def invitation_page(request: Request, secret: str) -> Response:
    """What a one-time link shows; only the button uses it up, so that a preview does not."""
    return _form_page(request, "invite", secret=secret)


@router.post("/invite")
def accept(request: Request, form: Given) -> Response:
    """Use up a one-time link."""
    site, keys = site_of(request), keys_of("", _address(request))
    _begin(site, keys)
    with site.store.write() as conn:
        person = people.redeem(conn, form.text("secret"))
    if person is None:
        error = "This link was used already, or it has expired. Ask for a new one."
        return _form_page(request, "invite", 403, secret="", error=error)
    site.attempts.succeeded(*keys)
    return _enter(request, person, "/account")


@router.get("/account")
def account_page(request: Request, session: Visitor) -> Response:
    """The person's own page, to choose a password."""
    done = request.query_params.get("done") == "1"
    return site_of(request).page("account", session, done=done, error="")


@router.post("/account")
def choose_password(request: Request, post: Posted) -> Response:
    """Set the person's password."""
    site, password = site_of(request), post.form.text("password")
    try:
        if password != post.form.text("again"):
            raise DataError("The two passwords differ.")
        with _turn(site):
            hashed = people.hashed_password(password)
        with site.store.write() as conn:
            people.set_password(conn, post.person.id, hashed)
            people.log_out_everywhere(conn, post.person.id)
    except DataError as error:
        return site.page("account", post.session, status=400, done=False, error=str(error))
    return _enter(request, post.person, "/account?done=1")


@router.post("/logout")
def log_out(request: Request, post: Posted) -> Response:
    """End this login."""
    site = site_of(request)
    with site.store.write() as conn:
        people.log_out(conn, request.cookies.get(site.settings.cookie, ""))
        give_back_all(conn, post.person.id)
    response = RedirectResponse("/login", 303)
    response.delete_cookie(site.settings.cookie)
    return response


def _known(request: Request, name: str, password: str) -> Person:
    """The person with that name and password; tries are limited by name, address and browser."""
    site, device = site_of(request), request.cookies.get(_device(site_of(request)), "")
    with site.store.read() as conn:
        known = people.knows_device(conn, name, device)
    keys = keys_of(name, _address(request), device if known else "")
    _begin(site, keys)
    with _turn(site), site.store.read() as conn:
        person = people.check_password(conn, name, password)
    if person is None:
        raise DataError("The name or the password is wrong.")
    site.attempts.succeeded(*keys)
    return person


def _named(site: Site, name: str) -> Person:
    with site.store.write() as conn:
        return people.person_named(conn, name) or people.add_person(conn, name)


def _begin(site: Site, keys: Sequence[AttemptKey]) -> None:
    wait = site.attempts.begin(*keys)
    if wait > 0:
        raise HTTPException(
            429,
            "Too many log-ins failed. Wait a few minutes, then try again, or ask a lead for a "
            "one-time link.",
            {"Retry-After": str(int(wait) + 1)},
        )


@contextmanager
def _turn(site: Site) -> Iterator[None]:
    with site.hashing.take() as mine:
        if not mine:
            why = "Too many people log in at this moment. Try again in a few seconds."
            raise HTTPException(503, why, {"Retry-After": "10"})
        yield


def _enter(request: Request, person: Person, after: str) -> Response:
    site = site_of(request)
    with site.store.write() as conn:
        secret = people.log_in(conn, person.id)
        device = people.new_device(conn, person.id)
    response = RedirectResponse(after, 303)
    set_cookie(response, request, site.settings.cookie, secret)
    if device:
        set_cookie(response, request, _device(site), device, lasts=YEAR)
    return response


def _form_page(request: Request, page: str, status: int = 200, **values: str) -> Response:
    """A form for somebody who is not logged in."""
    values = {"name": "", "error": "", "after": "", "secret": ""} | values
    return site_of(request).page(page, None, status=status, **values)


def _device(site: Site) -> str:
    """The cookie by which a browser is known that logged in before."""
    return f"{site.settings.cookie}-device"


def _address(request: Request) -> str:
    return request.client.host if request.client else ""
