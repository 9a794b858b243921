"""Resolving: one case after the other, decided at a key press."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, get_args

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from sqlalchemy import Connection

from assay.suites.model import Polarity
from assay.suites.store.common_words import common_words
from assay.suites.store.counts import counts
from assay.suites.store.decisions import Outdated, save_decision, save_decisions, undo
from assay.suites.store.drafts import best_draft
from assay.suites.store.filters import choices
from assay.suites.store.finding import next_listed
from assay.suites.store.history import deed, history
from assay.suites.store.leases import claim, give_back, lease_end
from assay.suites.store.offers import offer, take
from assay.suites.store.overview import has_items
from assay.suites.store.queue import case, next_output, progress
from assay.suites.store.records import Change, Choice, FilterCounts, Saved
from assay.suites.web.requests import Asked, Form, Number, Post, Posted, Queue, Visitor, inside
from assay.suites.web.site import Session, Site, counted, new_key, site_of, wants_json
from assay.suites.web.views import (
    Toast,
    decisions_notice,
    item_view,
    met_notice,
    rule_address,
)

__all__ = ["changed", "last_toast", "router"]

router = APIRouter()

DONE: dict[Choice, str] = {"pass": "Passed", "fail": "Failed", "skip": "Skipped"}
RULES: dict[str, Polarity] = {"pass": "positive", "fail": "negative"}
OUTDATED = (
    "You decided on this output in another window in the meantime. Nothing was changed; "
    "this is how it stands now."
)
LOOKS = "is looking at this item, too. Leave it to them, or both of you judge the same."


@router.get("/resolve")
def resolve(request: Request, session: Visitor, queue: Asked) -> Response:
    """The next case of a person's queue."""
    asked, site, person = Form(dict(request.query_params)), site_of(request), session.person.id
    # One transaction: nobody else gets the case between finding and leasing it.
    with site.store.write() as conn:
        output = next_output(conn, person, queue.filters, skipped=queue.skipped)
        if output is not None:
            claim(conn, output, person)
    with site.store.read() as conn:
        if not has_items(conn):
            return RedirectResponse("/suite", 303)
        values = _values(conn, session, queue, output)
        values["toast"] = last_toast(conn, session, asked)
        values["notice"] = _met(conn, session, asked)
        values["counts"] = None if wants_json(request) else _open_counts(conn, session, queue)
    return _work(request, site, session, values)


@router.get("/resolve/counts")
def count_choices(request: Request, session: Visitor, queue: Asked) -> Response:
    """The choices of the queue, each with the number of warnings that it would leave.

    Counting takes a while on a large suite: the script asks for it after a case is shown.
    """
    site = site_of(request)
    with site.store.read() as conn:
        values = {"choices": choices(conn), "counts": _counts(conn, session, queue)}
    return JSONResponse({"filters": site.fragment("queue_filters", session, queue=queue, **values)})


@router.get("/case/{output}")
def one_case(request: Request, session: Visitor, output: Number, queue: Asked) -> Response:
    """One output, whether it is in the queue or not."""
    site, asked = site_of(request), Form(dict(request.query_params))
    with site.store.write() as conn:
        other = claim(conn, output, session.person.id)
    with site.store.read() as conn:
        values = _values(conn, session, queue, output)
        values["toast"] = last_toast(conn, session, asked)
        met = _met(conn, session, asked)
        values["counts"] = None if wants_json(request) else _open_counts(conn, session, queue)
    looking = f"{other} {LOOKS}" if other else ""
    values["notice"] = OUTDATED if asked.text("outdated") == "1" else met or looking
    return _work(request, site, session, values)


@router.post("/lease")
def keep_lease(request: Request, post: Posted) -> Response:
    """Renew the lease of the item that a page shows."""
    with site_of(request).store.write() as conn:
        output = post.form.number("output")
        other = claim(conn, output, post.person.id)
        until = lease_end(conn, output, post.person.id)
    return JSONResponse({"notice": f"{other} {LOOKS}" if other else "", "until": until})


@router.post("/release")
def end_lease(request: Request, post: Posted) -> Response:
    """Give an item back, since its page was left."""
    with site_of(request).store.write() as conn:
        output, until = post.form.number("output"), post.form.text("until")
        give_back(conn, output, post.person.id, until=until)
    return JSONResponse({})


@router.post("/take")
def take_over(request: Request, post: Posted) -> Response:
    """Take items over from the person who has most of them left."""
    with site_of(request).store.write() as conn:
        change = take(conn, post.person.id, post.form.number("items"))
    return RedirectResponse(f"/resolve?last={change.id}", 303)


@router.post("/decide")
def decide(request: Request, post: Posted) -> Response:
    """Keep a person's decision on an output, and go on to the next."""
    form, site = post.form, site_of(request)
    seen, choice = form.versions(), form.one_of("choice", get_args(Choice))
    try:
        with site.store.write() as conn:
            saved = _save(conn, post, seen, choice)
            last = saved[-1]
            upcoming = None if _is_final(form) else _go_on(conn, post, last.output.id)
    except Outdated:
        return _outdated(request, site, post, next(iter(seen)))
    if _is_final(form):
        return RedirectResponse(f"/disputes?last={last.change}", 303)
    if wants_json(request):
        notice = _met_notices(saved, choice)
        toast = _with_rule(site, post, _toast(saved, choice), last.output.id)
        return _answer(site, post, upcoming, toast=toast, notice=notice)
    met = f"&met={last.output.id}" if last.met else ""
    where = post.queue.address(upcoming if post.queue.listed else None)
    mark = "&" if "?" in where else "?"
    return RedirectResponse(f"{where}{mark}last={last.change}{met}", 303)


@router.post("/undo")
def take_back(request: Request, post: Posted) -> Response:
    """Undo a person's last change, or the one that is named, and show what it was about."""
    site = site_of(request)
    named = post.form.number("change") if post.form.text("change") else None
    with site.store.write() as conn:
        change = undo(conn, post.person.id, named)
    if not wants_json(request):
        after = post.queue.address(change.output if change else None)
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
    queue, person, stays = post.queue, post.person.id, output is not None
    with site.store.write() as conn:
        if output is None:
            output = next_output(conn, person, queue.filters, skipped=queue.skipped)
        if output is not None:
            claim(conn, output, person)
    told = {"notice": notice, "note": note}
    return _answer(site, post, output, toast=toast, **told, stays=stays, status=status)


def _answer(
    site: Site,
    post: Post,
    output: int | None,
    *,
    toast: Toast | None,
    notice: str = "",
    note: str = "",
    stays: bool = False,
    status: int = 200,
) -> JSONResponse:
    """The case as the script shows it; one that `stays` is not left for the next open one."""
    session, queue = post.session, post.queue
    with site.store.read() as conn:
        values = _values(conn, session, queue, output)
    values["stays"] |= stays
    main = site.fragment("work", session, page="resolve", **values)
    text = site.fragment("toast", session, toast=toast, note=note, queue=queue)
    return JSONResponse({"main": main, "toast": text, "notice": notice}, status)


def _work(request: Request, site: Site, session: Session, values: dict[str, Any]) -> Response:
    if wants_json(request):
        main = site.fragment("work", session, page="resolve", **values)
        return JSONResponse({"main": main, "notice": values["notice"]})
    return site.page("resolve", session, **values)


def _values(conn: Connection, session: Session, queue: Queue, output: int | None) -> dict[str, Any]:
    person, name = session.person.id, session.person.name
    shown = None if output is None else case(conn, output, person)
    told = progress(conn, person)
    idle = output is None and not queue.query and told.settled < told.total
    return {
        "view": None if shown is None else item_view(shown, name, named=session.named),
        "queue": queue,
        "address": queue.address(output),
        "output": output,
        "until": "" if output is None else lease_end(conn, output, person),
        "stays": queue.listed or bool(queue.filters.sort),
        "progress": told,
        "choices": choices(conn),
        "offer": offer(conn, person) if idle else None,
        "toast": None,
        "notice": "",
        "counts": None,
    }


def _open_counts(conn: Connection, session: Session, queue: Queue) -> FilterCounts | None:
    """The counts, where the filters are open when the page is shown."""
    return _counts(conn, session, queue) if queue.query else None


def _counts(conn: Connection, session: Session, queue: Queue) -> FilterCounts:
    wanted = replace(queue.filters, verdict="warning")
    return counts(conn, wanted, person=session.person.id)


def _save(conn: Connection, post: Post, seen: Mapping[int, int], choice: Choice) -> Sequence[Saved]:
    """Keep a decision on one output, or on several at once."""
    person, key = post.person.id, post.form.key()
    if len(seen) > 1:
        return save_decisions(conn, seen, person, choice, key=key or new_key())
    ((output, version),) = seen.items()
    final = _is_final(post.form)
    saved = save_decision(
        conn, output, person, choice, seen=version, adjudication=final, key=key or None
    )
    return [saved]


def _is_final(form: Form) -> bool:
    return form.text("adjudication") == "1"


def _go_on(conn: Connection, post: Post, output: int) -> int | None:
    """The case after the one that was decided, leased to the person.

    Those of its item come first, unless the person chose another order.
    """
    queue, person = post.queue, post.person.id
    if queue.listed:
        upcoming = next_listed(conn, queue.filters, output, person=person)
    else:
        look = partial(next_output, conn, person, queue.filters, skipped=queue.skipped)
        # In an order of one's own choice, the next one may be of any item.
        upcoming = (None if queue.filters.sort else look(beside=output)) or look()
    give_back(conn, output, person)
    if upcoming is not None:
        claim(conn, upcoming, person)
    return upcoming


def _toast(saved: Sequence[Saved], choice: Choice) -> Toast:
    said = DONE[choice] if len(saved) == 1 else f"{DONE[choice]} {len(saved)} different outputs"
    settled = sum(one.settles for one in saved)
    if settled:
        said += f": settles {counted(settled, 'output')}"
    if any(one.output.disputed for one in saved):
        said += ", but others disagree"
    return Toast(said, saved[-1].change)


def _with_rule(site: Site, post: Post, toast: Toast, output: int) -> Toast:
    """The toast, with a rule that settles more than was just decided, where there is one."""
    polarity = RULES.get(post.form.text("choice"))
    if polarity is None:
        return toast
    with site.store.read() as conn:
        common = common_words(conn)
        best = best_draft(case(conn, output, post.person.id), polarity, common=common)
    return replace(toast, rule=rule_address(best.draft), settles=best.settles) if best else toast


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
