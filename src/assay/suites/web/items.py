"""Items: listed, searched, added, edited with their outputs beside them, and retired."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from sqlalchemy import Connection

from assay.data import DataError
from assay.suites.files.columns import RULES
from assay.suites.model import Item, Rule
from assay.suites.store.blind import hidden_from
from assay.suites.store.filters import choices
from assay.suites.store.history import history
from assay.suites.store.items import (
    ItemPreview,
    find_items,
    item_numbered,
    retire_item,
    save_item,
    try_item,
)
from assay.suites.store.records import Change
from assay.suites.store.suites import load_suite
from assay.suites.web.requests import Form, Lead, LeadPosted, Number, Queue, Visitor
from assay.suites.web.site import Session, site_of, wants_json
from assay.suites.web.work import last_toast

__all__ = ["router"]

router = APIRouter()

STEP = 50
"""How many items a page lists."""

BLANK = 3
"""Empty rows for rules that a form has."""

MOST = 200
"""Rows of rules that are looked at."""


@router.get("/items")
def list_items(request: Request, session: Visitor) -> Response:
    """The items that fit the filters."""
    site, asked = site_of(request), Form(dict(request.query_params))
    offset = asked.number("offset") if asked.text("offset") else 0
    filters = {name: asked.text(name) for name in ("text", "category", "phenomenon", "lacking")}
    with site.store.read() as conn:
        found = find_items(conn, **filters, person=session.person.id)
        known = choices(conn)
        toast = last_toast(conn, session, asked)
    shown = found[offset : offset + STEP]
    return site.page(
        "items",
        session,
        filters=filters,
        found=shown,
        total=len(found),
        offset=offset,
        step=STEP,
        choices=known,
        toast=toast,
        queue=Queue(),
    )


@router.get("/items/new")
def new_item(request: Request, session: Lead) -> Response:
    """The form of a new item; the category and phenomenon of an address are filled in."""
    asked = Form(dict(request.query_params))
    with site_of(request).store.read() as conn:
        told = load_suite(conn).extra.get("languages", "")
    item = Item("", str(told), asked.text("category"), asked.text("phenomenon"), "")
    return _page(request, session, None, item)


@router.post("/items/new")
def add_item(request: Request, post: LeadPosted) -> Response:
    """Save a new item."""
    return _save(request, post.session, None, post.form)


@router.post("/items/new/preview")
def try_new_item(request: Request, post: LeadPosted) -> Response:
    """What is wrong with a new item, if anything."""
    return _page(request, post.session, None, _item(post.form), live=True)


@router.get("/items/{number}")
def edit_item(request: Request, session: Lead, number: Number) -> Response:
    """An item to edit, beside its outputs."""
    with site_of(request).store.read() as conn:
        item = item_numbered(conn, number)
    return _page(request, session, number, item)


@router.post("/items/{number}/preview")
def try_edited_item(request: Request, post: LeadPosted, number: Number) -> Response:
    """What the rules as they stand in the form say of the item's outputs."""
    return _page(request, post.session, number, _item(post.form), live=True)


@router.post("/items/{number}")
def change_item(request: Request, post: LeadPosted, number: Number) -> Response:
    """Save an item that was edited."""
    return _save(request, post.session, number, post.form)


@router.post("/items/{number}/retire")
def leave_out(request: Request, post: LeadPosted, number: Number) -> Response:
    """Leave an item out of queues and reports, or bring it back."""
    back = post.form.text("back") == "1"
    key = post.form.key() or None
    with site_of(request).store.write() as conn:
        change = retire_item(conn, number, post.person.id, retired=not back, key=key)
    return RedirectResponse(f"/items/{number}?last={change.id}", 303)


def _save(request: Request, session: Session, number: int | None, form: Form) -> Response:
    item, site = _item(form), site_of(request)
    try:
        with site.store.write() as conn:
            change = save_item(conn, number, item, session.person.id, key=form.key() or None)
    except DataError as error:
        return _page(request, session, number, item, error=str(error), status=400)
    values: dict[str, object] = {"last": change.id}
    where = "/items" if number is None else f"/items/{number}"
    if number is None and form.text("more"):
        where = "/items/new"
        values = {"category": item.category, "phenomenon": item.phenomenon, **values}
    return RedirectResponse(f"{where}?{urlencode(values)}", 303)


def _item(form: Form) -> Item:
    """The item of a form; rows of rules without a text are left out."""
    rules = []
    for at in range(MOST):
        if f"rule-{at}-role" not in form.values:
            break
        polarity, kind = RULES[form.one_of(f"rule-{at}-role", list(RULES))]
        text = form.text(f"rule-{at}-text")
        if text.strip():
            text = text.strip() if kind == "fixed" else text
            rules.append(Rule(form.text(f"rule-{at}-id"), polarity, kind, text))
    return Item(
        id=form.text("id").strip(),
        languages=form.text("languages").strip(),
        category=form.text("category").strip(),
        phenomenon=form.text("phenomenon").strip(),
        source=form.text("source").strip(),
        rules=tuple(rules),
    )


def _page(
    request: Request,
    session: Session,
    number: int | None,
    item: Item,
    *,
    live: bool = False,
    error: str = "",
    status: int = 200,
) -> Response:
    """The form of an item, with what its rules say of its outputs."""
    site = site_of(request)
    with site.store.read() as conn:
        before = None if number is None else item_numbered(conn, number)
        preview, problem = _tried(conn, number, item)
        values: dict[str, Any] = {
            "number": number,
            "item": item,
            "before": before,
            "preview": preview,
            "error": error or (problem if live else ""),
            "choices": choices(conn),
            "blank": BLANK,
            "roles": _ROLES,
            "changes": _last_changes(conn, before, session) if before else [],
            "toast": last_toast(conn, session, Form(dict(request.query_params))),
            "queue": Queue(),
        }
    if live and wants_json(request):
        return JSONResponse({"preview": site.fragment("item_preview", session, **values)})
    return site.page("item_form", session, status=status, **values)


def _last_changes(conn: Connection, item: Item, session: Session) -> list[Change]:
    """What was done to an item, as far as this person may see it."""
    person = session.person.id
    return history(conn, item=item.id, hidden=hidden_from(conn, person), viewer=person, limit=3)


def _tried(conn: Connection, number: int | None, item: Item) -> tuple[ItemPreview | None, str]:
    try:
        return try_item(conn, number, item), ""
    except DataError as error:
        return None, str(error)


_ROLES = {
    "positive_regex": "correct if it matches (regex)",
    "negative_regex": "wrong if it matches (regex)",
    "positive_fixed": "correct if it has (string)",
    "negative_fixed": "wrong if it has (string)",
}
