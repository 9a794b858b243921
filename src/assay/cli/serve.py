"""The command `assay suite serve`: the web page where people resolve warnings."""

from __future__ import annotations

import argparse
import ipaddress
import os
import socket
import webbrowser
from contextlib import closing
from typing import TYPE_CHECKING

from assay.cli.commands import Command, whole_number
from assay.cli.suite_inputs import add_db, open_db
from assay.data import DataError
from assay.extras import require

if TYPE_CHECKING:
    from assay.suites.store.opening import Store
    from assay.suites.web.site import ServerSettings

__all__ = ["SUITE_SERVE"]

BACKLOG = 128


def _configure(parser: argparse.ArgumentParser) -> None:
    add_db(parser, required=True)
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="HOST",
        help="the address to listen on; 0.0.0.0 is all of them, and then people need accounts "
        "(default: 127.0.0.1, this machine only)",
    )
    parser.add_argument(
        "--port",
        type=whole_number(0, 65535),
        default=8000,
        metavar="PORT",
        help="the port to listen on; 0 takes a free one (default: 8000)",
    )
    parser.add_argument(
        "--login",
        action="store_true",
        help="people need accounts on this machine, too (default: a name is enough)",
    )
    parser.add_argument(
        "--invite",
        nargs="+",
        default=[],
        metavar="NAME",
        help="print a one-time link for each of these people; it logs them in and lets them choose "
        "a password",
    )
    parser.add_argument(
        "--proxy",
        nargs="+",
        default=[],
        metavar="NAME",
        help="host names of a web server (with HTTPS) that forwards requests to this one; people "
        "need accounts",
    )
    parser.add_argument("--open", action="store_true", help="open the page in a browser")


def _run(args: argparse.Namespace) -> int:
    with closing(open_db(args)) as store, closing(_listening(args.host, args.port)) as listening:
        settings = _settings(args, listening)
        address = _address(args, listening)
        _check_accounts(args, store, settings)
        print(f"{address}  (stop with Ctrl-C)", flush=True)
        for name, secret in _invitations(args, store):
            print(f"{address}/invite/{secret}  logs {name} in, once", flush=True)
        if args.open:
            webbrowser.open(address)
        _serve(store, settings, listening, proxied=bool(args.proxy))
    return 0


def _listening(host: str, port: int) -> socket.socket:
    """A socket that takes connections from now on."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise DataError(f"--host {host}: no such address ({error.strerror}).") from None
    family, kind, protocol, _, address = found[0]
    listening = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere it would take a port away from its owner
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise DataError(
            f"cannot listen on {host}, port {port}: {error.strerror}. "
            f"Choose another, as in: --port {port + 1 if 1024 <= port < 65535 else 8001}"
        ) from None
    return listening


def _settings(args: argparse.Namespace, listening: socket.socket) -> ServerSettings:
    from assay.suites.web.site import LOOPBACK, ServerSettings

    host, port = listening.getsockname()[:2]
    loopback = ipaddress.ip_address(host.partition("%")[0]).is_loopback
    names = LOOPBACK | {host} | {name.lower() for name in args.proxy}
    return ServerSettings(
        accounts=args.login or bool(args.proxy) or not loopback,
        hosts=names if loopback or args.proxy else None,
        cookie=f"assay-{port}",
    )


def _address(args: argparse.Namespace, listening: socket.socket) -> str:
    """Where people find the page."""
    if args.proxy:
        return f"https://{args.proxy[0]}"
    host, port = listening.getsockname()[:2]
    anywhere = ipaddress.ip_address(host.partition("%")[0]).is_unspecified
    name = socket.gethostname() if anywhere else args.host
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def _check_accounts(args: argparse.Namespace, store: Store, settings: ServerSettings) -> None:
    from assay.suites.store.people import all_people

    with store.read() as connection:
        known = any(person.has_password for person in all_people(connection))
    if settings.accounts and not known and not args.invite:
        raise DataError(
            "nobody has an account yet, so nobody could log in. "
            "Invite people by name, as in: --invite Ada Ben"
        )


def _invitations(args: argparse.Namespace, store: Store) -> list[tuple[str, str]]:
    from assay.suites.store.people import invite

    with store.write() as connection:
        return [(name, invite(connection, name)) for name in args.invite]


def _serve(
    store: Store, settings: ServerSettings, listening: socket.socket, *, proxied: bool
) -> None:
    """Answer until somebody stops it."""
    uvicorn = require("web", "uvicorn", "fastapi", reason="suite serve needs more packages")
    from assay.suites.web.app import make_app

    config = uvicorn.Config(
        make_app(store, settings),
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        proxy_headers=proxied,
        timeout_graceful_shutdown=5,
    )
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        print("stopped", flush=True)


SUITE_SERVE = Command(
    name="suite serve",
    usage="--db DB [--port PORT] [--invite NAME ...] [options]",
    description=(
        "A web page where people resolve the warnings of a test suite: what is right, what is\n"
        "wrong, and which new rules follow. Several people can work at once; all decisions are\n"
        "kept, and each can be undone. On this machine a name is enough; over the network,\n"
        "people need accounts: invite them, and each gets a one-time link."
    ),
    examples="""
        assay suite serve --db suite.db                                  http://127.0.0.1:8000
        assay suite serve --db suite.db --open                           opens it in a browser
        assay suite serve --db suite.db --host 0.0.0.0 --invite Ada Ben  with accounts
        assay suite serve --db suite.db --proxy suite.example.org        behind a web server""",
    configure=_configure,
    run=_run,
)
