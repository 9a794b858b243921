"""Pages that list: outputs to look through, disputes, the history, and the team with its shares."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy import Connection

from assay.data import DataError
from assay.statistics.correlation import krippendorff_alpha, pairwise_agreement
from assay.suites.store.decisions import history
from assay.suites.store.people import (
    add_person,
    all_people,
    assign,
    clear,
    person_named,
    ratings,
    shares,
)
from assay.suites.store.queue import choices, disputed_cases, find, progress
from assay.suites.store.records import Progress, Ratings, Share
from assay.suites.web.requests import Asked, Form, Posted, Queue, Visitor
from assay.suites.web.site import Session, Site, site_of
from assay.suites.web.views import view
from assay.suites.web.work import last_toast

__all__ = ["router"]

router = APIRouter()

STEP = 50
"""How many entries a page lists."""

NOBODY = 0
"""No person has this number."""


@router.get("/")
def start() -> Response:
    """The way to the main page."""
    return RedirectResponse("/resolve", 303)


@router.get("/browse")
def browse(request: Request, session: Visitor, queue: Asked) -> Response:
    """The outputs that fit the filters."""
    site, offset = site_of(request), _number(request, "offset", 0)
    with site.store.read() as conn:
        found, total = find(conn, queue.filters, offset=offset, limit=STEP)
        known = choices(conn)
    return site.page(
        "browse",
        session,
        queue=queue,
        found=found,
        total=total,
        offset=offset,
        step=STEP,
        choices=known,
    )


@router.get("/disputes")
def disputes(request: Request, session: Visitor) -> Response:
    """Outputs on which people disagree, each person's decision beside the others'."""
    site, asked = site_of(request), Form(dict(request.query_params))
    with site.store.read() as conn:
        cases = disputed_cases(conn, limit=STEP)
        views = [view(case, session.person.name) for case in cases]
        toast = last_toast(conn, session, asked)
    notice = ""
    return site.page("disputes", session, views=views, toast=toast, queue=Queue(), notice=notice)


@router.get("/history")
def past(request: Request, session: Visitor) -> Response:
    """Everything that people did, the latest first."""
    site, query = site_of(request), request.query_params
    person, item = query.get("person", ""), query.get("item", "").strip()
    before = _number(request, "before", 0) or None
    with site.store.read() as conn:
        numbers = {somebody.name: somebody.id for somebody in all_people(conn)}
        who = numbers.get(person, NOBODY) if person else None
        found = history(conn, person=who, item=item or None, limit=STEP + 1, before=before)
    return site.page(
        "history",
        session,
        changes=found[:STEP],
        more=len(found) > STEP,
        names=list(numbers),
        person=person,
        item=item,
    )


def _number(request: Request, name: str, default: int) -> int:
    asked = Form(dict(request.query_params))
    return asked.number(name) if asked.text(name) else default


MOST = 1000
"""Rows of the form that are looked at."""


@dataclass(frozen=True)
class Member:
    """A person of the team, the share and the pace."""

    name: str
    share: Share | None
    progress: Progress


@dataclass(frozen=True)
class PairOfPeople:
    """Two people and how far they agree on what both judged."""

    first: str
    second: str
    outputs: int
    same: float
    kappa: str


@dataclass(frozen=True)
class TeamAgreement:
    """How far the team agrees; figures as they are shown, since some are unknown."""

    pairs: list[PairOfPeople]
    alpha: str


@router.get("/team")
def team(request: Request, session: Visitor) -> Response:
    """Who does what, how far it is, and how far people agree."""
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


def agreement(found: Ratings) -> TeamAgreement:
    """Cohen's kappa of every two people, and Krippendorff's alpha of all."""
    verdicts = [[_verdict(code) for code in row] for row in found.codes]
    pairs = [
        PairOfPeople(
            found.people[pair.first],
            found.people[pair.second],
            pair.shared,
            pair.agreed / pair.shared,
            _figure(pair.kappa),
        )
        for pair in pairwise_agreement(verdicts)
    ]
    return TeamAgreement(pairs, _figure(krippendorff_alpha(verdicts)) if pairs else "")


def _page(site: Site, session: Session, *, error: str = "", status: int = 200) -> Response:
    with site.store.read() as conn:
        dealt = {share.person: share for share in shares(conn)}
        members = [
            Member(person.name, dealt.get(person.name), progress(conn, person.id))
            for person in all_people(conn)
        ]
        mine = progress(conn, session.person.id)
        agreed = agreement(ratings(conn))
    return site.page(
        "team",
        session,
        status=status,
        members=members,
        progress=mine,
        agreement=agreed,
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


def _verdict(code: float) -> str | None:
    return None if math.isnan(code) else "pass" if code else "fail"


def _figure(value: float) -> str:
    return "unknown" if math.isnan(value) else f"{value:.2f}"
