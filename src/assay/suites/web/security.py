"""The guard before all pages: who may ask, how much, and what a browser may do with the answer."""

from __future__ import annotations

import hmac
from urllib.parse import urlsplit

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay.suites.web.site import ServerSettings

__all__ = ["HEADERS", "POLICY", "Guard", "inside", "same"]

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
        if refusal:
            await refusal(scope, receive, sending)
        else:
            await self._app(scope, _at_most(self._settings.largest, receive), sending)

    def _refusal(self, method: str, headers: Headers) -> PlainTextResponse | None:
        if not self._knows(headers.get("host", "")):
            return _refuse(421, "This server does not answer under that name.")
        if not self._settings.accounts and any(name in headers for name in FORWARDED):
            return _refuse(403, "Behind another web server, start `assay suite serve` with --proxy")
        # Pages on other ports of this machine count as the same site, not as the same origin.
        if method not in READING and headers.get("sec-fetch-site", "none") not in SAME_ORIGIN:
            return _refuse(403, "This request comes from another website.")
        size = headers.get("content-length", "0")
        if not size.isdecimal() or int(size) > self._settings.largest:
            return _refuse(413, f"The request is larger than {self._settings.largest} bytes.")
        return None

    def _knows(self, host: str) -> bool:
        if self._settings.hosts is None:
            return True
        try:
            name = urlsplit(f"//{host}").hostname
        except ValueError:
            return False
        return name in self._settings.hosts


def same(given: str, expected: str) -> bool:
    """Whether two secrets are the same, in a time that does not tell how much of them is."""
    return bool(expected) and hmac.compare_digest(given.encode(), expected.encode())


def inside(path: str, default: str = "/resolve") -> str:
    """The path, if it leads to a page of ours; a way out is replaced by the default.

    >>> inside("/browse?text=a"), inside("//elsewhere.org/browse"), inside("https://elsewhere.org")
    ('/browse?text=a', '/resolve', '/resolve')
    """
    plain = path.isascii() and path.isprintable() and "\\" not in path
    return path if plain and path.startswith("/") and not path.startswith("//") else default


def _refuse(status: int, why: str) -> PlainTextResponse:
    return PlainTextResponse(why, status)


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sending


def _at_most(largest: int, receive: Receive) -> Receive:
    """The body of a request, which ends in a refusal once it is longer than it may be."""
    total = 0

    async def receiving() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > largest:
            raise HTTPException(413, f"The request is larger than {largest} bytes.")
        return message

    return receiving
