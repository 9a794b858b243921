"""The suite as a whole: its overview, a new one from nothing or from a file, and outputs to add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from assay.data import DataError
from assay.suites.check import Checker
from assay.suites.files import is_suite_file, read_suite
from assay.suites.files.columns import ROLES, ColumnRole, ItemTable, guess_roles, read_item_table
from assay.suites.files.mapping import MappedItems, map_items
from assay.suites.files.outputs import RunPreview, preview_run, read_outputs
from assay.suites.model import Run, Suite
from assay.suites.store.overview import import_suite, name_suite, overview
from assay.suites.store.runs import add_runs
from assay.suites.store.suites import load_suite
from assay.suites.web.requests import Form, Lead, LeadPosted, Post, Visitor, lead_uploaded
from assay.suites.web.site import Session, Site, counted, listed, site_of, wants_json
from assay.suites.web.uploads import LARGEST_FILE, LARGEST_UPLOAD, told

__all__ = ["router"]

router = APIRouter()

Sent = Annotated[Post, Depends(lead_uploaded(LARGEST_UPLOAD))]

SHOWN = 8
"""Rows and items that a preview shows."""

PROBLEMS = 50
"""Problems that a preview lists."""

LABELS: dict[ColumnRole, str] = {
    "source": "sentence (source)",
    "id": "number (id)",
    "category": "category",
    "phenomenon": "phenomenon",
    "languages": "languages",
    "positive_regex": "correct (regex)",
    "negative_regex": "wrong (regex)",
    "positive_fixed": "correct (string)",
    "negative_fixed": "wrong (string)",
    "keep": "other: keep it",
    "ignore": "other: leave it out",
}


@router.get("/suite")
def suite_page(request: Request, session: Visitor) -> Response:
    """What the suite has and what is missing; how to make one where there is none."""
    return _overview(request, session)


@router.post("/suite")
def name_it(request: Request, post: LeadPosted) -> Response:
    """Give the suite a name and its languages; a new one goes on with its first item."""
    form, site = post.form, site_of(request)
    if not form.text("name").strip():
        return _overview(request, post.session, error="Give the suite a name.")
    with site.store.write() as conn:
        name_suite(conn, form.text("name"), form.text("languages"), person=post.person.id)
    return RedirectResponse("/items/new" if form.text("first") else "/suite", 303)


@router.post("/suite/file")
def send_items(request: Request, post: Sent) -> Response:
    """Take a file of items, and show what its columns seem to hold."""
    try:
        name = site_of(request).uploads.keep(post.person.id, post.form.files.get("file", ()))
    except DataError as error:
        return _overview(request, post.session, error=str(error))
    return RedirectResponse(f"/suite/file/{name}", 303)


@router.get("/suite/file/{upload}")
def map_file(request: Request, session: Lead, upload: str) -> Response:
    """The columns of a file, what they seem to hold, and the items that come of it."""
    return _mapping_page(request, session, upload, None)


@router.post("/suite/file/{upload}/preview")
def try_mapping(request: Request, post: LeadPosted, upload: str) -> Response:
    """The items that come of what the columns hold."""
    return _mapping_page(request, post.session, upload, post.form)


@router.post("/suite/file/{upload}")
def import_file(request: Request, post: LeadPosted, upload: str) -> Response:
    """Save the items of a file, all or none."""
    site = site_of(request)
    (path,) = site.uploads.paths(post.person.id, upload)[:1]
    with site.store.write() as conn:
        stored = load_suite(conn)
        wanted = _wanted(path, post.form, stored)
        if wanted.mapped is None or wanted.mapped.problems or not wanted.mapped.items:
            return _mapping_page(request, post.session, upload, post.form, status=400)
        suite = Suite(wanted.mapped.items, wanted.name or stored.name, stored.extra)
        if wanted.languages:
            suite = replace(suite, extra={**suite.extra, "languages": wanted.languages})
        saved = import_suite(conn, suite, file=path.name, person=post.person.id)
    site.uploads.drop(upload)
    done = f"{counted(saved.added, 'item')} added, {counted(saved.changed, 'item')} changed."
    return _overview(request, post.session, done=done)


@dataclass(frozen=True)
class _Wanted:
    """What a file and the choices in the page come to; `error` where that is nothing.

    `table` is None for a file of the suite's own formats, which needs no choices.
    """

    table: ItemTable | None
    roles: tuple[ColumnRole, ...] = ()
    mapped: MappedItems | None = None
    separator: str = ""
    name: str = ""
    languages: str = ""
    error: str = ""


def _wanted(path: Path, form: Form | None, stored: Suite) -> _Wanted:
    try:
        if is_suite_file(path):
            suite = read_suite(path)
            name = suite.name if form is None else form.text("name").strip()
            return _Wanted(None, mapped=MappedItems(suite.items), name=name)
        table = read_item_table(path)
    except DataError as error:
        return _Wanted(None, error=told(error, [path]))
    roles = guess_roles(table) if form is None else _roles(table, form)
    separator, name, languages = "", table.name or stored.name or path.stem, _languages(stored)
    if form is not None:
        separator, name = form.text("separator").strip(), form.text("name").strip()
        languages = form.text("languages").strip()
    wanted = _Wanted(table, roles, None, separator, name, languages)
    try:
        known = stored.items
        mapped = map_items(table, roles, separator=separator, languages=languages, known=known)
    except DataError as error:
        return replace(wanted, error=told(error, [path]))
    return replace(wanted, mapped=mapped)


def _roles(table: ItemTable, form: Form) -> tuple[ColumnRole, ...]:
    return tuple(form.one_of(f"column-{at}", ROLES) for at in range(len(table.columns)))


def _languages(suite: Suite) -> str:
    known = suite.extra.get("languages", "")
    return known if isinstance(known, str) else ""


def _mapping_page(
    request: Request, session: Session, upload: str, form: Form | None, *, status: int = 200
) -> Response:
    site = site_of(request)
    (path,) = site.uploads.paths(session.person.id, upload)[:1]
    with site.store.read() as conn:
        stored = load_suite(conn)
    wanted = _wanted(path, form, stored)
    values: dict[str, Any] = {
        "upload": upload,
        "file": path.name,
        "wanted": wanted,
        "labels": LABELS,
        "shown": SHOWN,
        "problems": PROBLEMS,
        "changed": _changed(wanted.mapped, stored),
    }
    if wants_json(request):
        return JSONResponse({"preview": site.fragment("mapping_preview", session, **values)})
    return site.page("mapping", session, status=status, **values)


def _changed(mapped: MappedItems | None, stored: Suite) -> int:
    """How many of the items are in the suite already."""
    return sum(item.id in stored.by_id for item in mapped.items) if mapped else 0


@router.get("/suite/outputs")
def outputs_page(request: Request, session: Lead) -> Response:
    """The form for outputs of systems."""
    return _outputs_form(request, session)


@router.post("/suite/outputs")
def send_outputs(request: Request, post: Sent) -> Response:
    """Take files with outputs, and show what is in them."""
    site, form = site_of(request), post.form
    ids = [file for file in form.files.get("ids", ()) if file.name]
    try:
        files = [file for file in form.files.get("files", ()) if file.name]
        if not files:
            raise DataError("No file with outputs was chosen.")
        name = site.uploads.keep(post.person.id, [*files, *ids])
    except DataError as error:
        return _outputs_form(request, post.session, error=str(error), status=400)
    options = {"campaign": form.text("campaign").strip(), "date": form.text("date").strip()}
    choices = Form({**options, "ids": "1" if ids else ""})
    return _outputs_page(request, post.session, name, choices)


@router.post("/suite/outputs/{upload}")
def save_outputs(request: Request, post: LeadPosted, upload: str) -> Response:
    """Save the outputs of the files as runs, all or none."""
    site, form = site_of(request), post.form
    paths = site.uploads.paths(post.person.id, upload)
    checker = Checker()
    try:
        with site.store.write() as conn:
            runs = _runs(load_suite(conn), paths, form)
            replacing = form.text("replace") == "1"
            add_runs(conn, runs, checker, person=post.person.id, replace=replacing)
    except DataError as error:
        return _outputs_page(request, post.session, upload, form, error=_mended(error, paths))
    site.uploads.drop(upload)
    done = f"Outputs of {listed([run.system for run in runs])} were added."
    return _overview(request, post.session, done=done)


def _mended(error: DataError, paths: Sequence[Path]) -> str:
    """What was wrong, in the words of the page instead of those of Python."""
    python = (
        "Store the new run in a campaign of its own, with campaign=NAME, or replace the old one, "
    )
    page = "Choose another campaign, or tick the box to replace what is there."
    return told(error, paths).replace(f"{python}with replace=True.", page)


def _runs(suite: Suite, paths: Sequence[Path], form: Form) -> list[Run]:
    """The runs of all files, called as the form says."""
    *files, ids = [*paths, None] if not form.text("ids") else paths
    campaign, date = form.text("campaign").strip(), form.text("date").strip()
    runs = [
        run
        for path in files
        if path is not None
        for run in read_outputs(suite, path, ids=ids, campaign=campaign, date=date)
    ]
    named = [form.text(f"system-{at}").strip() or run.system for at, run in enumerate(runs)]
    if twice := next((name for name in named if named.count(name) > 1), None):
        raise DataError(f"two systems are called {twice!r}. Give each a name of its own.")
    return [replace(run, system=name) for run, name in zip(runs, named, strict=True)]


def _outputs_form(
    request: Request, session: Session, *, error: str = "", status: int = 200
) -> Response:
    site = site_of(request)
    with site.store.read() as conn:
        about = overview(conn)
    megabytes = LARGEST_FILE // 2**20
    campaigns = list(dict.fromkeys(run.run.campaign for run in about.runs if run.run.campaign))
    return site.page(
        "add_outputs",
        session,
        status=status,
        about=about,
        error=error,
        megabytes=megabytes,
        campaigns=campaigns,
    )


def _outputs_page(
    request: Request, session: Session, upload: str, form: Form, *, error: str = ""
) -> Response:
    """What is in the files, before it is saved."""
    site = site_of(request)
    paths = site.uploads.paths(session.person.id, upload)
    with site.store.read() as conn:
        suite = load_suite(conn)
    previews: list[RunPreview] = []
    try:
        previews = [preview_run(suite, run) for run in _runs(suite, paths, form)]
    except DataError as problem:
        if error or not _names_clash(problem):
            error = error or told(problem, paths)
            return _outputs_form(request, session, error=error, status=400)
        error = str(problem)
    return site.page(
        "outputs_preview",
        session,
        status=400 if error else 200,
        upload=upload,
        previews=previews,
        items=len(suite),
        form=form,
        error=error,
    )


def _names_clash(error: DataError) -> bool:
    return str(error).startswith("two systems are called")


def _overview(request: Request, session: Session, *, error: str = "", done: str = "") -> Response:
    site: Site = site_of(request)
    with site.store.read() as conn:
        about = overview(conn, person=session.person.id)
    return site.page(
        "suite",
        session,
        status=400 if error else 200,
        about=about,
        error=error,
        done=done,
        megabytes=LARGEST_FILE // 2**20,
    )
