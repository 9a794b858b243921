"""Serving pages: how long a client may take for a request, and how long it may be idle."""

from __future__ import annotations

import asyncio
import socket
from typing import Any, ClassVar

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["IDLE", "SLOWEST", "PromptProtocol", "serve"]

SLOWEST = 120
"""Seconds in which a client has to send a whole request, with its files."""

IDLE = 15
"""Seconds for which a connection stays open between two requests."""


def serve(app: FastAPI, listening: socket.socket, *, proxied: bool) -> None:
    """Answer until the process is told to stop."""
    uvicorn.Server(server_config(app, proxied=proxied)).run(sockets=[listening])


def server_config(app: FastAPI, *, proxied: bool) -> uvicorn.Config:
    """How pages are served."""
    return uvicorn.Config(
        app,
        http=PromptProtocol,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        proxy_headers=proxied,
        timeout_keep_alive=IDLE,
        timeout_graceful_shutdown=5,
    )


class PromptProtocol(H11Protocol):
    """HTTP/1.1, where a connection ends whose client does not get a request done in time.

    Uvicorn itself ends connections that are idle after an answer, but waits for ever for a first
    request, for the rest of its headers, and for its body.
    """

    slowest: ClassVar[float] = SLOWEST
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        super().connection_lost(exc)
        if self._late is not None:
            self._late.cancel()

    def on_response_complete(self) -> None:
        """Wait for the next request, or for what is left of one that was refused."""
        super().on_response_complete()
        self._wait()

    def _wait(self) -> None:
        if self._late is not None:
            self._late.cancel()
        self._late = self.loop.call_later(self.slowest, self._end_if_waiting)

    def _end_if_waiting(self) -> None:
        # Once the request is there, it is our turn, and the answer may take as long as it takes.
        state: Any = self.conn.their_state
        if state in (h11.IDLE, h11.SEND_BODY):
            self.transport.abort()
