"""The rules page: what every rule does, and changes to rules with their effect on all runs."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from sqlalchemy import Connection, select

from assay.data import DataError
from assay.suites.model import Kind, Polarity
from assay.suites.store.filters import choices
from assay.suites.store.rule_edits import Act, RuleEdit, change_rule, effect, may_change
from assay.suites.store.rules import (
    Origin,
    RuleFilters,
    RuleOrder,
    State,
    StoredRule,
    find_rules,
    stored_rule,
)
from assay.suites.store.tables import rules
from assay.suites.web.requests import Form, Number, Posted, Visitor
from assay.suites.web.site import Session, site_of, wants_json
from assay.suites.web.work import last_toast

__all__ = ["router"]

router = APIRouter()

STEP = 50
"""How many rules a page lists."""

SHOWN = 100
"""How many outputs an effect lists."""


@router.get("/rules")
def list_rules(request: Request, session: Visitor) -> Response:
    """The rules that fit the filters, with what each does."""
    site, asked = site_of(request), Form(dict(request.query_params))
    filters = _filters(asked)
    order: RuleOrder = asked.one_of("order", get_args(RuleOrder)) if asked.text("order") else "item"
    offset = asked.number("offset") if asked.text("offset") else 0
    with site.store.read() as conn:
        page = find_rules(conn, filters, order=order, offset=offset, limit=STEP)
        names = sorted(filter(None, conn.execute(select(rules.c.author).distinct()).scalars()))
        phenomena = [name for group in choices(conn).phenomena.values() for name in group]
        mine = {rule.id for rule in page.rules if may_change(conn, rule.id, session.person)}
        toast = last_toast(conn, session, asked)
    query = urlencode(
        {name: value for name, value in asdict(filters).items() if value}
        | ({"order": order} if order != "item" else {})
    )
    return site.page(
        "rules",
        session,
        found=page.rules,
        total=page.total,
        filters=filters,
        order=order,
        offset=offset,
        step=STEP,
        query=query,
        authors=names,
        phenomena=list(dict.fromkeys(phenomena)),
        mine=mine,
        toast=toast,
    )


def _filters(asked: Form) -> RuleFilters:
    """What the address asks for; an empty field asks for all."""
    told = {each.name: asked.text(each.name).strip() for each in fields(RuleFilters)}
    known = {name: told[name] for name in told if name not in ("origin", "state")}
    return RuleFilters(
        **known,
        origin=asked.one_of("origin", get_args(Origin)) if told["origin"] else "",
        state=asked.one_of("state", get_args(State)) if told["state"] else "",
    )


@router.get("/rules/{number}")
def one_rule(request: Request, session: Visitor, number: Number) -> Response:
    """One rule to edit, and the effect of the change that the address asks for."""
    site, asked = site_of(request), Form(dict(request.query_params))
    with site.store.read() as conn:
        values = _values(conn, session, number, asked)
    return site.page("edit", session, **values)


@router.post("/rules/{number}/effect")
def try_change(request: Request, post: Posted, number: Number) -> Response:
    """What a change would do, for the page's script."""
    site = site_of(request)
    with site.store.read() as conn:
        values = _values(conn, post.session, number, post.form)
    return JSONResponse({"preview": site.fragment("effect", post.session, **values)})


@router.post("/rules/{number}")
def keep_change(request: Request, post: Posted, number: Number) -> Response:
    """Save a change to a rule, whose effect was shown."""
    site, form = site_of(request), post.form
    with site.store.write() as conn:
        before = stored_rule(conn, number)
        change = change_rule(conn, _edit(before, form), post.person)
    if wants_json(request):
        return JSONResponse({"change": change.id})
    query = urlencode({"item": before.item, "last": change.id})
    return RedirectResponse(f"/rules?{query}", 303)


def _values(conn: Connection, session: Session, number: int, asked: Form) -> dict[str, Any]:
    rule = stored_rule(conn, number)
    act = asked.text("act") or ("restore" if rule.retired else "")
    edit = _edit(rule, asked) if act else None
    found, error = None, ""
    if edit:
        try:
            found = effect(conn, edit, session.person.id)
        except DataError as problem:
            error = str(problem)
    return {
        "rule": rule,
        "edit": edit,
        "effect": found,
        "shown": SHOWN,
        "error": error,
        "allowed": may_change(conn, number, session.person),
        "versions": _versions(conn, rule),
    }


def _edit(rule: StoredRule, asked: Form) -> RuleEdit:
    act: Act = asked.one_of("act", get_args(Act)) if asked.text("act") else "restore"
    if act != "edit rule":
        return RuleEdit(rule.id, act, rule.rule.polarity, rule.rule.kind, rule.rule.text)
    return RuleEdit(
        rule.id,
        act,
        asked.one_of("polarity", get_args(Polarity)),
        asked.one_of("kind", get_args(Kind)),
        asked.text("text"),
    )


def _versions(conn: Connection, rule: StoredRule) -> list[StoredRule]:
    """The versions before this one, the newest first."""
    found: list[StoredRule] = []
    while (rule.replaces is not None) and len(found) < STEP:
        rule = stored_rule(conn, rule.replaces)
        found.append(rule)
    return found
