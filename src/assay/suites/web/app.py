"""The web application: all pages of one store behind one guard, which says who may ask what."""

from __future__ import annotations

import logging
from typing import cast

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay.data import DataError
from assay.suites.store.opening import Store, Unavailable
from assay.suites.web import (
    accounts,
    agreement,
    browse,
    dealing,
    downloads,
    drafts,
    history,
    items,
    notes,
    outputs,
    people,
    phenomena,
    report,
    rules,
    screen,
    sheets,
    suggestions,
    suites,
    team,
    work,
)
from assay.suites.web.requests import Visitor
from assay.suites.web.site import DEFAULT, HERE, ServerSettings, Session, Site, site_of, wants_json

__all__ = ["HEADERS", "POLICY", "Guard", "make_app"]

ROUTED = (
    accounts,
    work,
    screen,
    drafts,
    rules,
    suggestions,
    suites,
    sheets,
    outputs,
    items,
    browse,
    history,
    notes,
    phenomena,
    people,
    team,
    agreement,
    downloads,
    report,
    dealing,
)
"""The modules with pages and forms."""

LOG = logging.getLogger(__name__)

TITLES = {401: "Please log in", 403: "Not allowed", 404: "Page not found", 503: "Please try again"}


def make_app(store: Store, settings: ServerSettings = DEFAULT) -> FastAPI:
    """The application that serves a store."""
    door = [Depends(accounts.open_door)]
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, dependencies=door)
    app.state.site = Site(store, settings)
    for module in ROUTED:
        app.include_router(module.router)
    app.mount("/static", _Static(directory=HERE / "static"))
    app.add_api_route("/{path:path}", _nowhere)
    hosts = ["*"] if settings.hosts is None else sorted(settings.hosts)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)
    app.add_middleware(Guard, settings=settings)
    app.add_exception_handler(StarletteHTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _unknown)
    app.add_exception_handler(DataError, _wrong)
    app.add_exception_handler(ClientDisconnect, _left)
    app.add_exception_handler(Exception, _broken)
    return app


def _nowhere(_session: Visitor) -> Response:
    """Any other address: somebody who is logged in gets the way back to the pages."""
    raise StarletteHTTPException(404, "There is no such page.")


class _Static(StaticFiles):
    """Files that a browser keeps, and asks whether they changed."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response


def _refused(request: Request, error: Exception) -> Response:
    refused = cast(StarletteHTTPException, error)
    headers = dict(refused.headers or {})
    if refused.status_code == 303:
        return RedirectResponse(headers["location"], 303, headers)
    return _error(request, refused.status_code, refused.detail, headers)


def _unknown(request: Request, error: Exception) -> Response:
    return _error(request, 404, "There is no such page.")


def _wrong(request: Request, error: Exception) -> Response:
    if not isinstance(error, Unavailable):
        return _error(request, 400, str(error))
    LOG.warning("%s", error)
    known = _session(request) is not None
    # The message names the database's address, which is nothing for strangers.
    text = str(error) if known else "The database does not answer. Try again in a few seconds."
    return _error(request, 503, text, {"Retry-After": "5"})


def _left(_request: Request, _error: Exception) -> Response:
    """Somebody closed the page while it was sending: nobody waits for an answer."""
    return Response(status_code=400)


def _broken(request: Request, error: Exception) -> Response:
    """An error of ours, which leaves by the guard; its traceback goes to the log."""
    text = "The server failed, and it is not known whether this was saved. Look, then try again."
    response = _error(request, 500, text)
    response.headers.update({**HEADERS, "Cache-Control": "no-store"})
    return response


def _error(
    request: Request, status: int, text: str, headers: dict[str, str] | None = None
) -> Response:
    if wants_json(request):
        return JSONResponse({"error": text}, status, headers)
    title = TITLES.get(status, "This did not work")
    session = _session(request)
    response = site_of(request).page("error", session, status=status, title=title, text=text)
    response.headers.update(headers or {})
    return response


def _session(request: Request) -> Session | None:
    """Who asked, as far as it was found out before the error."""
    return getattr(request.state, "session", None)


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
READING = ("GET", "HEAD")
SAME_ORIGIN = ("same-origin", "none")


class Guard:
    """Refuses requests that no page of ours makes, and sends the headers that every answer has."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return
        sending = _with_headers(send)
        refusal = self._refusal(scope["method"], Headers(scope=scope))
        await (refusal or self._app)(scope, receive, sending)

    def _refusal(self, method: str, headers: Headers) -> PlainTextResponse | None:
        if not self._settings.accounts and any(name in headers for name in FORWARDED):
            why = "Behind another web server, start `assay suite serve` with --proxy"
            return PlainTextResponse(why, 403)
        if method not in READING and _forged(headers):
            return PlainTextResponse("This request comes from another website.", 403)
        return None


def _forged(headers: Headers) -> bool:
    """Whether a browser says that a page of somebody else makes it send this request.

    Browsers tell it by themselves, and no page can make them lie: so forms need no tokens. Over
    plain HTTP from another machine, they send `Origin` alone. What sends neither is no browser, and
    sends nobody's cookies. Pages on other ports of this machine are of the same site, but not of
    the same origin, and are refused as well.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in SAME_ORIGIN
    origin = headers.get("origin")
    return (
        origin is not None and origin.partition("://")[2].lower() != headers.get("host", "").lower()
    )


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sending
