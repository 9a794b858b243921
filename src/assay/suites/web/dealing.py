"""Dealing: what would change is shown first, and then done; it can be taken back."""

from __future__ import annotations

import math
import secrets

import numpy as np
from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy import Connection

from assay.data import DataError
from assay.suites.store.dealing import apply_deal, clear, plan_deal
from assay.suites.store.people import add_person, all_people, person_named
from assay.suites.store.records import DealPlan
from assay.suites.web.requests import Form, LeadPosted, Post
from assay.suites.web.site import Site, site_of
from assay.suites.web.team import team_page

__all__ = ["router"]

router = APIRouter()

MOST = 1000
"""Rows of the form that are looked at."""


@router.post("/deal")
def deal(request: Request, post: LeadPosted) -> Response:
    """Show what dealing the open outputs would change, or do it."""
    site, form = site_of(request), post.form
    todo = form.one_of("do", ("plan", "apply", "clear", "clear now"))
    try:
        if todo == "plan":
            return _confirm(site, post)
        if todo == "clear":
            return site.page("deal", post.session, plan=None, fields={}, judges=[])
        with site.store.write() as conn:
            change = (
                apply_deal(conn, _plan(conn, form), post.person.id)
                if todo == "apply"
                else clear(conn, post.person.id)
            )
    except DataError as error:
        return team_page(request, post.session, error=str(error), status=400)
    return RedirectResponse(f"/team?last={change.id}" if change else "/team", 303)


def _confirm(site: Site, post: Post) -> Response:
    """The page that says what will change; the same seed deals the same way afterwards."""
    form = Form(dict(post.form.values) | {"seed": str(secrets.randbits(31))})
    _weights(form)
    if not site.settings.accounts:
        _welcome(site, form)
    with site.store.read() as conn:
        plan = _plan(conn, form)
        judges = _lonely_judges(conn, plan)
    fields = {name: value for name, value in form.values.items() if name != "do"}
    return site.page("deal", post.session, plan=plan, fields=fields, judges=judges)


def _lonely_judges(conn: Connection, plan: DealPlan) -> list[str]:
    """The two who judge the same outputs where nobody else is there to decide their disputes."""
    names = [person.name for person in all_people(conn)]
    return names if plan.doubled and len(names) == 2 else []


def _welcome(site: Site, form: Form) -> None:
    """Make people of the new names, where names are all that people need."""
    with site.store.write() as conn:
        for name in _weights(form):
            if person_named(conn, name) is None:
                add_person(conn, name)


def _plan(conn: Connection, form: Form) -> DealPlan:
    double = _quantity(form.text("double"), "the part judged by two") / 100
    rng = np.random.default_rng(form.number("seed"))
    return plan_deal(conn, _weights(form), double=double, rng=rng)


def _weights(form: Form) -> dict[str, float]:
    """The weights by name; rows without a name are left out."""
    weights = {}
    for at in range(1, MOST):
        if f"name-{at}" not in form.values:
            break
        name = form.text(f"name-{at}").strip()
        if name:
            weights[name] = _quantity(form.text(f"weight-{at}"), f"the weight of {name}")
    if not any(weights.values()):
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
