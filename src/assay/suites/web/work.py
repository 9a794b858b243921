"""Resolving: one case after the other, decided at a key press."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args
from uuid import uuid4

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from sqlalchemy import Connection

from assay.suites.store.decisions import Outdated, save_decision, save_decisions, undo
from assay.suites.store.filters import choices
from assay.suites.store.history import history
from assay.suites.store.overview import has_items
from assay.suites.store.queue import case, next_case, progress
from assay.suites.store.records import Case, Change, Choice, Saved
from assay.suites.web.requests import Asked, Form, Number, Post, Posted, Queue, Visitor, inside
from assay.suites.web.site import Session, Site, counted, deed, site_of, wants_json
from assay.suites.web.views import Toast, decisions_notice, item_view, met_notice

__all__ = ["changed", "last_toast", "router"]

router = APIRouter()

DONE: dict[Choice, str] = {"pass": "Passed", "fail": "Failed", "skip": "Skipped"}
OUTDATED = (
    "You decided on this output in another window in the meantime. Nothing was changed; "
    "this is how it stands now."
)


@router.get("/resolve")
def resolve(request: Request, session: Visitor, queue: Asked) -> Response:
    """The next case of a person's queue."""
    asked = Form(dict(request.query_params))
    site = site_of(request)
    with site.store.read() as conn:
        if not has_items(conn):
            return RedirectResponse("/suite", 303)
        shown = next_case(conn, session.person.id, queue.filters, skipped=queue.skipped)
        values = _values(conn, session, queue, shown)
        values["toast"] = last_toast(conn, session, asked)
        values["notice"] = _met(conn, session, asked)
    return _work(request, site, session, values)


@router.get("/case/{output}")
def one_case(request: Request, session: Visitor, output: Number, queue: Asked) -> Response:
    """One output, whether it is in the queue or not."""
    site, outdated = site_of(request), request.query_params.get("outdated") == "1"
    with site.store.read() as conn:
        values = _values(conn, session, queue, case(conn, output, session.person.id))
    values["notice"] = OUTDATED if outdated else ""
    return _work(request, site, session, values)


@router.post("/decide")
def decide(request: Request, post: Posted) -> Response:
    """Keep a person's decision on an output, and go on to the next."""
    form, site = post.form, site_of(request)
    seen, choice = form.versions(), form.one_of("choice", get_args(Choice))
    try:
        with site.store.write() as conn:
            saved = _save(conn, post, seen, choice)
    except Outdated:
        return _outdated(request, site, post, next(iter(seen)))
    last = saved[-1]
    if form.text("adjudication") == "1":
        return RedirectResponse(f"/disputes?last={last.change}", 303)
    if wants_json(request):
        return changed(site, post, _toast(saved, choice), notice=_met_notices(saved, choice))
    met = f"&met={last.output.id}" if last.met else ""
    return RedirectResponse(f"/resolve?{post.queue.query}&last={last.change}{met}", 303)


@router.post("/undo")
def take_back(request: Request, post: Posted) -> Response:
    """Undo a person's last change, or the one that is named, and show what it was about."""
    site = site_of(request)
    named = post.form.number("change") if post.form.text("change") else None
    with site.store.write() as conn:
        change = undo(conn, post.person.id, named)
    if not wants_json(request):
        after = f"/case/{change.output}" if change and change.output else "/resolve"
        return RedirectResponse(inside(post.form.text("after"), after), 303)
    if change is None:
        return JSONResponse({"notice": "There is nothing to undo."})
    toast = f"Undone: {change.person} {deed(change)}"
    return changed(site, post, None, note=toast, output=change.output)


def changed(
    site: Site,
    post: Post,
    toast: Toast | None,
    *,
    notice: str = "",
    note: str = "",
    output: int | None = None,
    status: int = 200,
) -> JSONResponse:
    """What the page shows after a change: the given output or else the next, and what was done."""
    session, queue = post.session, post.queue
    with site.store.read() as conn:
        if output is None:
            shown = next_case(conn, session.person.id, queue.filters, skipped=queue.skipped)
        else:
            shown = case(conn, output, session.person.id)
        values = _values(conn, session, queue, shown)
    main = site.fragment("work", session, page="resolve", **values)
    text = site.fragment("toast", session, toast=toast, note=note, queue=queue)
    return JSONResponse({"main": main, "toast": text, "notice": notice}, status)


def _work(request: Request, site: Site, session: Session, values: dict[str, Any]) -> Response:
    if wants_json(request):
        main = site.fragment("work", session, page="resolve", **values)
        return JSONResponse({"main": main, "notice": values["notice"]})
    return site.page("resolve", session, **values)


def _values(conn: Connection, session: Session, queue: Queue, shown: Case | None) -> dict[str, Any]:
    return {
        "view": item_view(shown, session.person.name, named=session.named) if shown else None,
        "queue": queue,
        "progress": progress(conn, session.person.id),
        "choices": choices(conn),
        "toast": None,
        "notice": "",
    }


def _save(conn: Connection, post: Post, seen: Mapping[int, int], choice: Choice) -> Sequence[Saved]:
    """Keep a decision on one output, or on several at once."""
    person, key = post.person.id, post.form.key()
    if len(seen) > 1:
        # Without a script, nothing is sent again.
        return save_decisions(conn, seen, person, choice, key=key or str(uuid4()))
    ((output, version),) = seen.items()
    final = post.form.text("adjudication") == "1"
    saved = save_decision(
        conn, output, person, choice, seen=version, adjudication=final, key=key or None
    )
    return [saved]


def _toast(saved: Sequence[Saved], choice: Choice) -> Toast:
    said = DONE[choice] if len(saved) == 1 else f"{DONE[choice]} {len(saved)} different outputs"
    settled = sum(one.settles for one in saved)
    if settled:
        said += f": settles {counted(settled, 'output')}"
    if any(one.output.disputed for one in saved):
        said += ", but others disagree"
    polarity = {"pass": "positive", "fail": "negative"}.get(choice)
    rule = f"/rule/{saved[-1].output.id}?polarity={polarity}" if polarity else ""
    return Toast(said, saved[-1].change, rule)


def _met_notices(saved: Sequence[Saved], choice: Choice) -> str:
    return " ".join(filter(None, (met_notice(one, choice) for one in saved)))


def last_toast(conn: Connection, session: Session, asked: Form) -> Toast | None:
    """What the person did before this page, where the browser was sent here from it."""
    if not asked.text("last"):
        return None
    before = asked.number("last") + 1
    found: list[Change] = history(conn, person=session.person.id, before=before, limit=1)
    return next(
        (Toast(f"You {deed(change)}", change.id) for change in found if not change.undone), None
    )


def _met(conn: Connection, session: Session, asked: Form) -> str:
    if not asked.text("met"):
        return ""
    output = case(conn, asked.number("met"), session.person.id).output
    return decisions_notice(output) if output.decisions else ""


def _outdated(request: Request, site: Site, post: Post, output: int) -> Response:
    if not wants_json(request):
        return RedirectResponse(f"/case/{output}?{post.queue.query}&outdated=1", 303)
    return changed(site, post, None, notice=OUTDATED, output=output, status=409)
