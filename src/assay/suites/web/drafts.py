"""New rules made from outputs: suggested, tried on all outputs, and saved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from sqlalchemy import Connection

from assay.data import DataError
from assay.suites.model import Kind, Polarity
from assay.suites.store.common_words import common_words
from assay.suites.store.drafts import suggest
from assay.suites.store.history import deed
from assay.suites.store.opening import Unavailable
from assay.suites.store.queue import case
from assay.suites.store.records import Case, Draft, Preview, PreviewLine, Scope
from assay.suites.store.trials import check_length, preview, save_rule
from assay.suites.web.requests import Form, Number, Posted, Queue, Visitor, inside
from assay.suites.web.site import site_of, wants_json
from assay.suites.web.views import Toast, draft_pieces, line_pieces
from assay.suites.web.work import changed

__all__ = ["router"]

router = APIRouter()


@router.get("/rule/{output}")
def new_rule(request: Request, session: Visitor, output: Number) -> Response:
    """The form of a new rule, filled in with the words that were selected, or the best guess."""
    site, asked = site_of(request), Form(dict(request.query_params))
    with site.store.read() as conn:
        shown = case(conn, output, session.person.id)
        drafts = _drafts(shown, asked, common_words(conn))
        values = _rule_values(conn, shown, drafts[0], session.person.id)
    values |= {
        "drafts": drafts,
        "queue": Queue.read(asked.text("back")),
        "after": inside(asked.text("after"), ""),
    }
    if wants_json(request):
        return JSONResponse({"panel": site.fragment("panel", session, **values)})
    return site.page("rule", session, **values)


@router.post("/rule/{output}/preview")
def try_rule(request: Request, post: Posted, output: Number) -> Response:
    """What the rule would do, were it saved."""
    site, draft = site_of(request), _draft(output, post.form)
    with site.store.read() as conn:
        shown = case(conn, output, post.person.id)
        values = _rule_values(conn, shown, draft, post.person.id)
    if wants_json(request):
        return JSONResponse({"preview": site.fragment("preview", post.session, **values)})
    after = inside(post.form.text("after"), "")
    return site.page("rule", post.session, **values, drafts=(), queue=post.queue, after=after)


@router.post("/rule/{output}")
def keep_rule(request: Request, post: Posted, output: Number) -> Response:
    """Save the rule, and go on."""
    site, draft = site_of(request), _draft(output, post.form)
    try:
        with site.store.write() as conn:
            change = save_rule(conn, draft, post.person.id, key=post.form.key() or None)
    except Unavailable:
        raise
    except DataError as error:
        if not wants_json(request):
            raise
        shown = site.fragment("preview", post.session, error=str(error))
        return JSONResponse({"panelError": shown, "error": str(error)}, 400)
    after = inside(post.form.text("after"), "")
    if after:
        address = f"{after}?last={change.id}"
        return (
            JSONResponse({"go": address}) if wants_json(request) else RedirectResponse(address, 303)
        )
    if wants_json(request):
        return changed(site, post, Toast(f"You {deed(change)}", change.id))
    return RedirectResponse(f"/resolve?{post.queue.query}&last={change.id}", 303)


def _drafts(shown: Case, asked: Form, common: frozenset[str]) -> tuple[Draft, ...]:
    """The rules to choose from: first what was selected, then what the output suggests."""
    polarity = _polarity(shown, asked)
    ideas = suggest(shown, polarity, common=common)
    chosen = asked.text("text").strip()
    kind: Kind = asked.one_of("kind", get_args(Kind)) if asked.text("kind") else "fixed"
    scope: Scope = asked.one_of("scope", get_args(Scope)) if asked.text("scope") else "item"
    first = (Draft(shown.output.id, polarity, kind, chosen, scope),) if chosen else ()
    same = {(draft.kind, draft.text) for draft in first}
    every = first + tuple(idea for idea in ideas if (idea.kind, idea.text) not in same)
    return every or (Draft(shown.output.id, polarity, "fixed", shown.output.text),)


def _polarity(shown: Case, asked: Form) -> Polarity:
    """As the address says, or else as people judged the output."""
    if asked.text("polarity"):
        return asked.one_of("polarity", get_args(Polarity))
    verdicts = [decision.verdict for decision in shown.output.decisions]
    decided = [verdict for verdict in verdicts if verdict != "skip"]
    return "negative" if decided[-1:] == ["fail"] else "positive"


def _draft(output: int, form: Form) -> Draft:
    check_length(form.text("text"))
    return Draft(
        output=output,
        polarity=form.one_of("polarity", get_args(Polarity)),
        kind=form.one_of("kind", get_args(Kind)),
        text=form.text("text"),
        scope=form.one_of("scope", get_args(Scope)),
    )


def _rule_values(conn: Connection, shown: Case, draft: Draft, person: int) -> dict[str, Any]:
    found, error = None, ""
    try:
        found = preview(conn, draft, person=person)
    except DataError as problem:
        error = str(problem)
    own = draft_pieces(shown.output.text, draft)
    return {
        "item": shown.item,
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
