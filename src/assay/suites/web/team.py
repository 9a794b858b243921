"""The team: who does what, how far it is, and how work is dealt out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy import Connection

from assay.data import DataError
from assay.suites.store.dealing import assign, clear, shares
from assay.suites.store.people import add_person, all_people, person_named
from assay.suites.store.queue import progress
from assay.suites.store.records import Progress, Share
from assay.suites.web.requests import Form, Posted, Visitor
from assay.suites.web.site import Session, Site, site_of

__all__ = ["router"]

router = APIRouter()

MOST = 1000
"""Rows of the form that are looked at."""


@dataclass(frozen=True)
class Member:
    """A person of the team, the share and the pace."""

    name: str
    share: Share | None
    progress: Progress


@router.get("/team")
def team(request: Request, session: Visitor) -> Response:
    """Who does what, and how far it is."""
    return _page(site_of(request), session)


@router.post("/team")
def share_out(request: Request, post: Posted) -> Response:
    """Deal the items out anew, or take all shares back."""
    site = site_of(request)
    try:
        with site.store.write() as conn:
            if post.form.one_of("do", ("assign", "clear")) == "clear":
                clear(conn)
            else:
                _assign(conn, post.form, newcomers=not site.settings.accounts)
    except DataError as error:
        return _page(site, post.session, error=str(error), status=400)
    return RedirectResponse("/team", 303)


def _page(site: Site, session: Session, *, error: str = "", status: int = 200) -> Response:
    with site.store.read() as conn:
        dealt = {share.person: share for share in shares(conn)}
        members = [
            Member(person.name, dealt.get(person.name), progress(conn, person.id))
            for person in all_people(conn)
        ]
        mine = progress(conn, session.person.id)
    return site.page(
        "team",
        session,
        status=status,
        members=members,
        progress=mine,
        shared=bool(dealt),
        error=error,
    )


def _assign(conn: Connection, form: Form, *, newcomers: bool) -> None:
    weights = _weights(form)
    for name in weights:
        if newcomers and person_named(conn, name) is None:
            add_person(conn, name)
    double = _quantity(form.text("double"), "the part judged by two") / 100
    assign(conn, weights, double=double, rng=np.random.default_rng())


def _weights(form: Form) -> dict[str, float]:
    """The weights by name; rows without a name or a weight are left out."""
    weights = {}
    for at in range(1, MOST):
        if f"name-{at}" not in form.values:
            break
        name = form.text(f"name-{at}").strip()
        weight = _quantity(form.text(f"weight-{at}"), f"the weight of {name}") if name else 0
        if weight > 0:
            weights[name] = weight
    if not weights:
        raise DataError("Nobody has a weight above 0: give at least one person a share.")
    return weights


def _quantity(text: str, what: str) -> float:
    try:
        value = float(text or 0)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 100:
        raise DataError(f"{what} has to be a number from 0 to 100, not {text!r}.")
    return value
