"""Items from a file: what its columns hold, what comes of it, and the import."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from assay.data import DataError
from assay.suites.files import is_suite_file, read_suite
from assay.suites.files.columns import (
    ROLES,
    RULES,
    ColumnRole,
    ItemTable,
    guess_roles,
    read_item_table,
)
from assay.suites.files.mapping import MappedItems, map_items
from assay.suites.model import Kind, Suite
from assay.suites.store.overview import import_suite
from assay.suites.store.suites import load_suite
from assay.suites.web.requests import Form, Lead, LeadPosted, Post, lead_uploaded
from assay.suites.web.site import Session, counted, site_of, wants_json
from assay.suites.web.suites import overview_page
from assay.suites.web.uploads import (
    LARGEST_FILE,
    LARGEST_UPLOAD,
    ColumnChoice,
    SheetChoices,
    told,
)

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


@router.post("/suite/file")
def send_items(request: Request, post: Sent) -> Response:
    """Take a file of items, and show what its columns seem to hold."""
    try:
        name = site_of(request).uploads.keep(post.person.id, post.form.files.get("file", ()))
    except DataError as error:
        return overview_page(request, post.session, error=str(error))
    return RedirectResponse(f"/suite/file/{name}", 303)


@router.get("/suite/file/{upload}")
def map_file(request: Request, session: Lead, upload: str) -> Response:
    """The columns of a file, what they seem to hold, and the items that come of it."""
    return _page(request, session, upload, None)


@router.post("/suite/file/{upload}/preview")
def try_mapping(request: Request, post: LeadPosted, upload: str) -> Response:
    """The items that come of what the columns hold."""
    return _page(request, post.session, upload, post.form)


@router.post("/suite/file/{upload}")
def import_file(request: Request, post: LeadPosted, upload: str) -> Response:
    """Save the items of a file, all or none."""
    site = site_of(request)
    (path,) = site.uploads.paths(post.person.id, upload)[:1]
    with site.store.write() as conn:
        stored = load_suite(conn)
        sheet = _sheet(path, post.form, stored, None)
        if sheet.refusal or sheet.mapped is None:
            return _page(request, post.session, upload, post.form, refused=True)
        chosen = sheet.choices
        suite = Suite(sheet.mapped.items, chosen.name or stored.name, stored.extra)
        if chosen.languages:
            suite = replace(suite, extra={**suite.extra, "languages": chosen.languages})
        saved = import_suite(conn, suite, file=path.name, person=post.person.id)
    site.uploads.drop(upload)
    done = urlencode({"added": saved.added, "changed": saved.changed})
    return RedirectResponse(f"/suite?{done}", 303)


@dataclass(frozen=True)
class _Sheet:
    """What a file and the choices in the page come to; `error` where that is nothing.

    `table` is None for a file of the suite's own formats, which needs no choices. The choices are
    `recalled` where the person made some of them for an earlier file.
    """

    table: ItemTable | None
    choices: SheetChoices = field(default_factory=SheetChoices)
    mapped: MappedItems | None = None
    error: str = ""
    recalled: bool = False

    @property
    def refusal(self) -> str:
        """Why nothing of it can be imported; empty where it can."""
        if self.mapped is None:
            return self.error
        if problems := len(self.mapped.problems):
            return f"{counted(problems, 'row')} {'has' if problems == 1 else 'have'} to be mended."
        return "" if self.mapped.items else "The file has no items."


def _sheet(path: Path, form: Form | None, stored: Suite, before: SheetChoices | None) -> _Sheet:
    try:
        if is_suite_file(path):
            suite = read_suite(path)
            name = suite.name if form is None else form.text("name").strip()
            return _Sheet(None, SheetChoices(name=name), MappedItems(suite.items))
        table = read_item_table(path)
    except DataError as error:
        return _Sheet(None, error=told(error, [path]))
    if form is not None:
        sheet = _Sheet(table, _chosen(table, form))
    else:
        sheet = _guessed(table, path, stored, before)
    try:
        return replace(sheet, mapped=_mapped(table, sheet.choices, stored))
    except DataError as error:
        return replace(sheet, error=told(error, [path]))


def _mapped(table: ItemTable, choices: SheetChoices, stored: Suite) -> MappedItems:
    return map_items(
        table,
        [column.role for column in choices.columns],
        separator=choices.separator,
        languages=choices.languages,
        known=stored.items,
        mixed={at: column.mixed for at, column in enumerate(choices.columns) if column.mixed},
    )


def _chosen(table: ItemTable, form: Form) -> SheetChoices:
    """What the form says."""
    columns = [
        ColumnChoice(name, form.one_of(f"column-{at}", ROLES), _mixed(form, at))
        for at, name in enumerate(table.columns)
    ]
    fields = (form.text(name).strip() for name in ("separator", "name", "languages"))
    return SheetChoices(tuple(columns), *fields)


def _mixed(form: Form, at: int) -> Kind | None:
    name = f"mixed-{at}"
    return form.one_of(name, get_args(Kind)) if form.text(name) else None


def _guessed(table: ItemTable, path: Path, stored: Suite, before: SheetChoices | None) -> _Sheet:
    """What the file seems to hold; columns that had their name before hold what they held."""
    guesses = zip(table.columns, guess_roles(table), strict=True)
    columns = [ColumnChoice(name, role) for name, role in guesses]
    known = list(before.columns) if before else []
    kept: dict[int, ColumnChoice] = {}
    for at, column in enumerate(columns):
        if same := next((choice for choice in known if choice.name == column.name), None):
            known.remove(same)
            kept[at] = same
    if not kept or before is None:
        name = table.name or stored.name or path.stem
        return _Sheet(table, SheetChoices(tuple(columns), "", name, _languages(stored)))
    taken = {column.role for column in kept.values()} - {*RULES, "keep", "ignore"}
    for at, column in enumerate(columns):
        free = column._replace(role="keep") if column.role in taken else column
        columns[at] = kept.get(at, free)
    return _Sheet(table, replace(before, columns=tuple(columns)), recalled=True)


def _languages(suite: Suite) -> str:
    known = suite.extra.get("languages", "")
    return known if isinstance(known, str) else ""


def _page(
    request: Request, session: Session, upload: str, form: Form | None, *, refused: bool = False
) -> Response:
    """The columns, and what comes of them; where it was `refused`, why nothing was imported."""
    site, person = site_of(request), session.person.id
    (path,) = site.uploads.paths(person, upload)[:1]
    with site.store.read() as conn:
        stored = load_suite(conn)
    sheet = _sheet(path, form, stored, site.uploads.chosen.get(person))
    if form is not None and sheet.table is not None:
        site.uploads.chosen[person] = sheet.choices
    values: dict[str, Any] = {
        "upload": upload,
        "file": path.name,
        "sheet": sheet,
        "labels": LABELS,
        "shown": SHOWN,
        "problems": PROBLEMS,
        "changed": _changed(sheet.mapped, stored),
        "refusal": sheet.refusal if refused else "",
        "megabytes": LARGEST_FILE // 2**20,
    }
    if wants_json(request):
        return JSONResponse({"preview": site.fragment("mapping_preview", session, **values)})
    return site.page("mapping", session, status=400 if refused else 200, **values)


def _changed(mapped: MappedItems | None, stored: Suite) -> int:
    """How many of the items are in the suite already."""
    return sum(item.id in stored.by_id for item in mapped.items) if mapped else 0
