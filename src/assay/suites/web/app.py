"""The web application: all pages of one store behind one guard."""

from __future__ import annotations

from typing import cast

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from assay.data import DataError
from assay.suites.store.opening import Store, Unavailable
from assay.suites.web import accounts, lists, rules, team, work
from assay.suites.web.security import HEADERS, Guard
from assay.suites.web.site import DEFAULT, HERE, ServerSettings, Site, site_of, wants_json

__all__ = ["make_app"]

ROUTED = (accounts, work, rules, lists, team)
"""The modules with pages and forms."""

TITLES = {401: "Please log in", 403: "Not allowed", 404: "Page not found", 503: "Please try again"}


def make_app(store: Store, settings: ServerSettings = DEFAULT) -> FastAPI:
    """The application that serves a store."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.state.site = Site(store, settings)
    for module in ROUTED:
        app.include_router(module.router)
    app.mount("/static", _Static(directory=HERE / "static"))
    app.add_middleware(Guard, settings=settings)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _unknown)
    app.add_exception_handler(DataError, _wrong)
    app.add_exception_handler(Exception, _broken)
    return app


class _Static(StaticFiles):
    """Files that a browser keeps, and asks whether they changed."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response


def _refused(request: Request, error: Exception) -> Response:
    refused = cast(HTTPException, error)
    headers = dict(refused.headers or {})
    if refused.status_code == 303:
        return RedirectResponse(headers["Location"], 303)
    return _error(request, refused.status_code, refused.detail, headers)


def _unknown(request: Request, error: Exception) -> Response:
    return _error(request, 404, "There is no such page.")


def _wrong(request: Request, error: Exception) -> Response:
    return _error(request, 503 if isinstance(error, Unavailable) else 400, str(error))


def _broken(request: Request, error: Exception) -> Response:
    """An error of ours, which leaves by the guard; its traceback goes to the log."""
    text = "The server failed, and nothing was saved. Its log has the details."
    response = _error(request, 500, text)
    response.headers.update({**HEADERS, "Cache-Control": "no-store"})
    return response


def _error(
    request: Request, status: int, text: str, headers: dict[str, str] | None = None
) -> Response:
    if wants_json(request):
        return JSONResponse({"error": text}, status, headers)
    title = TITLES.get(status, "This did not work")
    response = site_of(request).page("error", None, status=status, title=title, text=text)
    response.headers.update(headers or {})
    return response
