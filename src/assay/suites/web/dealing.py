"""Dealing: what would change is shown first, and then done; it can be taken back."""

from __future__ import annotations

import math

import numpy as np
from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from assay.data import DataError
from assay.suites.store.dealing import apply_deal, clear, plan_deal
from assay.suites.store.people import all_people
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
        plan = site.plans.take(form.text("plan")) if todo == "apply" else None
        if todo == "plan" or (todo == "apply" and plan is None):
            return _confirm(site, post)
        if todo == "clear":
            return site.page("deal", post.session, plan=None, fields={}, again=False, judges=[])
        with site.store.write() as conn:
            person = post.person.id
            change = apply_deal(conn, plan, person) if plan else clear(conn, person)
    except DataError as error:
        return team_page(request, post.session, error=str(error), status=400)
    return RedirectResponse(f"/team?last={change.id}" if change else "/team", 303)


def _confirm(site: Site, post: Post) -> Response:
    """The page that says what will change; what it shows is what is done afterwards.

    New names become people then, where names are all that people need.
    """
    form = post.form
    weights = _weights(form)
    double = _quantity(form.text("double"), "the part judged by two") / 100
    new, rng = not site.settings.accounts, np.random.default_rng()
    with site.store.read() as conn:
        plan = plan_deal(conn, weights, double=double, newcomers=new, rng=rng)
        people = {person.name for person in all_people(conn)} | set(weights)
    asked = {name: form.text(name) for name in form.values if name not in ("do", "plan")}
    fields = asked | {"plan": site.plans.keep(plan)}
    again = form.text("do") == "apply"
    # Two people who judge the same, where nobody else is there to decide their disputes.
    judges = sorted(people) if plan.doubled and len(people) == 2 else []
    return site.page("deal", post.session, plan=plan, fields=fields, again=again, judges=judges)


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
