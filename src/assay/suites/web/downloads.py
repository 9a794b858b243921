"""Downloads: the suite, what people did, the report and a backup, as files."""

from __future__ import annotations

import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from assay.suites.files import write_suite
from assay.suites.store.backup import backup
from assay.suites.store.exports import EXPORTS, export
from assay.suites.store.opening import Store
from assay.suites.store.suites import load_suite
from assay.suites.web.report import asked_report
from assay.suites.web.requests import LeadPosted, Visitor
from assay.suites.web.site import Session, site_of

__all__ = ["router"]

router = APIRouter()

KINDS = {
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "html": "text/html; charset=utf-8",
}
"""The endings of files, and what a browser calls their formats."""

TABLES = ("csv", "xlsx", "tsv", "json", "jsonl")
OFFERED = {
    "suite": ("json", "jsonl", "tsv"),
    **dict.fromkeys(EXPORTS, TABLES),
    "report": ("html", *TABLES),
}
"""What can be downloaded, in which formats."""


@router.get("/downloads")
def downloads(request: Request, session: Visitor) -> Response:
    """All that can be downloaded."""
    return site_of(request).page("downloads", session, offered=OFFERED)


@router.get("/download/{what}.{ending}")
def download(request: Request, session: Visitor, what: str, ending: str) -> Response:
    """One file; what this person may not see yet is left out of it, unless they lead."""
    if ending not in OFFERED.get(what, ()):
        raise HTTPException(404, "There is no such file.")
    content = _content(request, session, what, ending)
    headers = {"Content-Disposition": f'attachment; filename="{what}.{ending}"'}
    return Response(content, media_type=KINDS[ending], headers=headers)


@router.post("/backup")
def download_backup(request: Request, post: LeadPosted) -> Response:
    """Everything in one file that opens as a database."""
    folder = tempfile.mkdtemp(prefix="assay-")
    name = f"suite-{datetime.now(UTC):%Y-%m-%d}.db"
    try:
        backup(site_of(request).store, Path(folder, name))
    except BaseException:
        shutil.rmtree(folder)
        raise
    return FileResponse(
        Path(folder, name),
        media_type="application/vnd.sqlite3",
        filename=name,
        background=BackgroundTask(shutil.rmtree, folder),
    )


def _content(request: Request, session: Session, what: str, ending: str) -> bytes:
    """The file, written as the command line writes it."""
    viewer = None if session.person.lead else session.person.id
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{what}.{ending}")
        if what == "report":
            asked_report(request, viewer).save(path)
        else:
            _write(site_of(request).store, viewer, what, path)
        return path.read_bytes()


def _write(store: Store, viewer: int | None, what: str, path: Path) -> None:
    with store.read() as conn:
        if what == "suite":
            write_suite(path, load_suite(conn))
        else:
            export(conn, what, person=viewer).save(path)
