"""Resolving: one case after the other, decided at a key press, and new rules made from outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from sqlalchemy import Connection

from assay.data import DataError
from assay.suites.model import Kind, Polarity
from assay.suites.store.decisions import Outdated, save_decision, undo
from assay.suites.store.drafts import preview, save_rule, suggest
from assay.suites.store.filters import choices
from assay.suites.store.history import history
from assay.suites.store.queue import case, next_case, progress
from assay.suites.store.records import (
    Case,
    Change,
    Choice,
    Draft,
    Preview,
    PreviewLine,
    Saved,
    Scope,
)
from assay.suites.web.requests import Asked, Form, Number, Post, Posted, Queue, Visitor, inside
from assay.suites.web.site import Session, Site, counted, deed, site_of, wants_json
from assay.suites.web.views import (
    Toast,
    decisions_notice,
    draft_pieces,
    line_pieces,
    met_notice,
    view,
)

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
    output, choice = form.number("output"), form.one_of("choice", get_args(Choice))
    try:
        with site.store.write() as conn:
            saved = save_decision(
                conn,
                output,
                post.person.id,
                choice,
                seen=form.number("seen"),
                adjudication=form.text("adjudication") == "1",
            )
    except Outdated:
        return _outdated(request, site, post, output)
    if form.text("adjudication") == "1":
        return RedirectResponse(f"/disputes?last={saved.change}", 303)
    if wants_json(request):
        return changed(site, post, _toast(saved, choice), notice=met_notice(saved, choice))
    met = f"&met={output}" if saved.met else ""
    return RedirectResponse(f"/resolve?{post.queue.query}&last={saved.change}{met}", 303)


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
        "view": view(shown, session.person.name) if shown else None,
        "queue": queue,
        "progress": progress(conn, session.person.id),
        "choices": choices(conn),
        "toast": None,
        "notice": "",
    }


def _toast(saved: Saved, choice: Choice) -> Toast:
    said = DONE[choice]
    if saved.settles:
        said += f": settles {counted(saved.settles, 'output')}"
    elif saved.output.disputed:
        said += ", but others disagree"
    polarity = {"pass": "positive", "fail": "negative"}.get(choice)
    rule = f"/rule/{saved.output.id}?polarity={polarity}" if polarity else ""
    return Toast(said, saved.change, rule)


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


@router.get("/rule/{output}")
def new_rule(request: Request, session: Visitor, output: Number) -> Response:
    """The form of a new rule, filled in with the words that were selected, or the best guess."""
    site, asked = site_of(request), Form(dict(request.query_params))
    with site.store.read() as conn:
        shown = case(conn, output, session.person.id)
        drafts = _drafts(shown, asked)
        values = _rule_values(conn, shown, drafts[0], session.person.name)
    values |= {"drafts": drafts, "queue": Queue.read(asked.text("back"))}
    if wants_json(request):
        return JSONResponse({"panel": site.fragment("panel", session, **values)})
    return site.page("rule", session, **values)


@router.post("/rule/{output}/preview")
def try_rule(request: Request, post: Posted, output: Number) -> Response:
    """What the rule would do, were it saved."""
    site, draft = site_of(request), _draft(output, post.form)
    with site.store.read() as conn:
        shown = case(conn, output, post.person.id)
        values = _rule_values(conn, shown, draft, post.person.name)
    if wants_json(request):
        return JSONResponse({"preview": site.fragment("preview", post.session, **values)})
    return site.page("rule", post.session, **values, drafts=(), queue=post.queue)


@router.post("/rule/{output}")
def keep_rule(request: Request, post: Posted, output: Number) -> Response:
    """Save the rule, and go on."""
    site, draft = site_of(request), _draft(output, post.form)
    try:
        with site.store.write() as conn:
            change = save_rule(conn, draft, post.person.id)
    except DataError as error:
        if not wants_json(request):
            raise
        shown = site.fragment("preview", post.session, error=str(error))
        return JSONResponse({"panelError": shown, "error": str(error)}, 400)
    if wants_json(request):
        return changed(site, post, Toast(change.note, change.id))
    return RedirectResponse(f"/resolve?{post.queue.query}&last={change.id}", 303)


def _drafts(shown: Case, asked: Form) -> tuple[Draft, ...]:
    """The rules to choose from: first what was selected, then what the output suggests."""
    polarity = _polarity(shown, asked)
    ideas = suggest(shown, polarity)
    chosen = asked.text("text").strip()
    first = (Draft(shown.output.id, polarity, "fixed", chosen),) if chosen else ()
    every = first + tuple(replace(idea, polarity=polarity) for idea in ideas)
    return every or (Draft(shown.output.id, polarity, "fixed", shown.output.text),)


def _polarity(shown: Case, asked: Form) -> Polarity:
    """As the address says, or else as people judged the output."""
    if asked.text("polarity"):
        return asked.one_of("polarity", get_args(Polarity))
    verdicts = [decision.verdict for decision in shown.output.decisions]
    decided = [verdict for verdict in verdicts if verdict != "skip"]
    return "negative" if decided[-1:] == ["fail"] else "positive"


def _draft(output: int, form: Form) -> Draft:
    return Draft(
        output=output,
        polarity=form.one_of("polarity", get_args(Polarity)),
        kind=form.one_of("kind", get_args(Kind)),
        text=form.text("text"),
        scope=form.one_of("scope", get_args(Scope)),
    )


def _rule_values(conn: Connection, shown: Case, draft: Draft, name: str) -> dict[str, Any]:
    found, error = None, ""
    try:
        found = preview(conn, draft)
    except DataError as problem:
        error = str(problem)
    own = draft_pieces(shown.output.text, draft)
    return {
        "view": view(shown, name),
        "draft": draft,
        "own": own,
        "matched": any(piece.look for piece in own),
        "settles_own": found is not None and any(_is_own(line, draft) for line in found.settles),
        "preview": found,
        "groups": _groups(found, draft) if found else None,
        "error": error,
    }


def _groups(found: Preview, draft: Draft) -> dict[str, Any]:
    return {
        "settles": _lines(found.settles, draft, own=False),
        "unsettles": _lines(found.unsettles, draft),
        "contradicts": _lines(found.contradicts, draft),
    }


def _lines(lines: Sequence[PreviewLine], draft: Draft, *, own: bool = True) -> list[Any]:
    """The lines with their marks; the output that the draft is made from stands above them."""
    shown = [line for line in lines if own or not _is_own(line, draft)]
    return [(line, line_pieces(line, draft)) for line in shown]


def _is_own(line: PreviewLine, draft: Draft) -> bool:
    return line.output == draft.output
