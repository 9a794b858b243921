"""Outputs of systems from files: what is in them, beside the sources, and the import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy import Connection

from assay.data import DataError
from assay.suites.check import Checker
from assay.suites.files.outputs import beside_sources, preview_run, read_outputs
from assay.suites.model import Run, Suite
from assay.suites.store.overview import overview
from assay.suites.store.runs import add_runs, stored_runs
from assay.suites.store.suites import load_suite
from assay.suites.web.requests import Form, Lead, LeadPosted, Post, lead_uploaded
from assay.suites.web.site import Session, site_of
from assay.suites.web.uploads import LARGEST_FILE, LARGEST_UPLOAD, told

__all__ = ["router"]

router = APIRouter()

Sent = Annotated[Post, Depends(lead_uploaded(LARGEST_UPLOAD))]


@router.get("/suite/outputs")
def outputs_page(request: Request, session: Lead) -> Response:
    """The form for outputs of systems."""
    return _form_page(request, session, Form({}))


@router.post("/suite/outputs")
def send_outputs(request: Request, post: Sent) -> Response:
    """Take files with outputs, and go on to what is in them."""
    site, form = site_of(request), post.form
    ids = [file for file in form.files.get("ids", ()) if file.name]
    try:
        files = [file for file in form.files.get("files", ()) if file.name]
        if not files:
            raise DataError("No file with outputs was chosen.")
        name = site.uploads.keep(post.person.id, [*files, *ids])
    except DataError as error:
        return _form_page(request, post.session, form, error=str(error))
    about = {key: form.text(key).strip() for key in ("campaign", "date")}
    query = urlencode({**about, "ids": "1" if ids else ""})
    return RedirectResponse(f"/suite/outputs/{name}?{query}", 303)


@router.get("/suite/outputs/{upload}")
def look_at_outputs(request: Request, session: Lead, upload: str) -> Response:
    """What is in the files, before it is saved."""
    return _preview_page(request, session, upload, Form(dict(request.query_params)))


@router.post("/suite/outputs/{upload}")
def save_outputs(request: Request, post: LeadPosted, upload: str) -> Response:
    """Save the outputs of the files as runs, all or none."""
    site, form = site_of(request), post.form
    paths = site.uploads.paths(post.person.id, upload)
    checker = Checker()
    try:
        with site.store.write() as conn:
            runs = _runs(load_suite(conn), paths, form)
            if clash := _clash(runs):
                raise DataError(clash)
            replacing = form.text("replace") == "1"
            add_runs(conn, runs, checker, person=post.person.id, replace=replacing)
            numbers = _numbers(conn, runs)
    except DataError as error:
        return _preview_page(request, post.session, upload, form, error=told(error, paths))
    site.uploads.drop(upload)
    return RedirectResponse(f"/suite?{urlencode({'runs': ' '.join(map(str, numbers))})}", 303)


def _numbers(conn: Connection, runs: Sequence[Run]) -> list[int]:
    """The numbers under which runs are stored."""
    names = {(run.system, run.campaign) for run in runs}
    return [run.id for run in stored_runs(conn) if (run.system, run.campaign) in names]


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
    return [replace(run, system=name) for run, name in zip(runs, named, strict=True)]


def _clash(runs: Sequence[Run]) -> str:
    """What is wrong with the names of systems; empty where nothing is."""
    names = [run.system for run in runs]
    twice = next((name for name in names if names.count(name) > 1), None)
    return f"two systems are called {twice!r}. Give each a name of its own." if twice else ""


def _form_page(request: Request, session: Session, form: Form, *, error: str = "") -> Response:
    site = site_of(request)
    with site.store.read() as conn:
        about = overview(conn)
    campaigns = list(dict.fromkeys(run.run.campaign for run in about.runs if run.run.campaign))
    return site.page(
        "add_outputs",
        session,
        status=400 if error else 200,
        about=about,
        form=form,
        error=error,
        megabytes=LARGEST_FILE // 2**20,
        campaigns=campaigns,
    )


def _preview_page(
    request: Request, session: Session, upload: str, form: Form, *, error: str = ""
) -> Response:
    """What is in the files, before it is saved."""
    site = site_of(request)
    paths = site.uploads.paths(session.person.id, upload)
    with site.store.read() as conn:
        suite = load_suite(conn)
    try:
        runs = _runs(suite, paths, form)
    except DataError as problem:
        return _form_page(request, session, form, error=told(problem, paths))
    error = error or _clash(runs)
    return site.page(
        "outputs_preview",
        session,
        status=400 if error else 200,
        upload=upload,
        previews=[preview_run(suite, run) for run in runs],
        samples=beside_sources(suite, runs),
        items=len(suite),
        form=form,
        error=error,
    )
