"""Clients that are slow or idle lose their connection; those that wait for an answer do not."""

import asyncio
import socket
import threading
from contextlib import closing

import pytest
import uvicorn
from fastapi import FastAPI

from assay.suites.web.serving import PromptProtocol, server_config
from tests.patience import PATIENCE

SOON = 0.05


class HastyProtocol(PromptProtocol):
    """One that waits for next to no time."""

    slowest = SOON


@pytest.fixture
def busy():
    """Lets the page /wait answer."""
    return threading.Event()


@pytest.fixture
def connect(busy):
    """A server that waits for no slow client; gives new connections to it."""
    app = FastAPI()
    app.get("/wait")(lambda: {"waited": busy.wait(PATIENCE)})
    config = server_config(app, proxied=False)
    config.http, config.timeout_keep_alive = HastyProtocol, SOON
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield lambda: closing(socket.create_connection(listening.getsockname(), PATIENCE))
    server.should_exit = True
    thread.join(PATIENCE)
    listening.close()


BODY = b"POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", b"GET /wait HT", b"GET /wait HTTP/1.1\r\nHost: x\r\n", BODY])
def test_a_request_that_does_not_come_ends_the_connection(connect, sent):
    with connect() as client:
        client.sendall(sent)
        _all(client)


def test_an_idle_connection_ends(connect):
    with connect() as client:
        client.sendall(b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
        assert _all(client).startswith(b"HTTP/1.1 404")


def test_whoever_waits_for_an_answer_gets_it(connect, busy):
    with connect() as client, connect() as idle:
        client.sendall(b"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
        # The other connection began later, and its time is over: so is that of this one.
        assert _all(idle) == b""
        busy.set()
        assert b'{"waited":true}' in _all(client)


def _all(client):
    """What the server sends until it ends the connection."""
    parts = []
    try:
        while part := client.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def test_a_page_that_is_closed_while_it_sends_is_no_error(app, ada):
    cookies = "; ".join(f"{name}={value}" for name, value in ada.client.cookies.items())
    headers = {
        "host": "127.0.0.1:8000",
        "content-type": "application/x-www-form-urlencoded",
        "content-length": "9",
        "cookie": cookies,
    }
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/decide",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8000),
    }
    answer = []

    async def receive():
        return {"type": "http.disconnect"}

    async def send(message):
        answer.append(message)

    asyncio.run(app(scope, receive, send))
    assert answer[0]["status"] == 400
