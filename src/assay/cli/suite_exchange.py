"""The commands `assay suite sample`, `collect`, `import` and `serve`."""

from __future__ import annotations

import argparse
import ipaddress
import os
import re
import secrets
import shlex
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from assay.cli.commands import Command, several, whole_number
from assay.cli.options import add_names
from assay.cli.output import warn
from assay.data import DataError
from assay.extras import require
from assay.io import read_lines
from assay.registry import SEED
from assay.suites.files import names_of, read_suite
from assay.suites.files.columns import (
    ROLES,
    ColumnRole,
    ItemTable,
    named_roles,
    read_item_table,
)
from assay.suites.files.mapping import suite_of_table
from assay.suites.sampling import (
    IDS,
    Per,
    SampledText,
    collect_suite,
    read_key,
    sample_suite,
    write_collected,
    write_sample,
)

if TYPE_CHECKING:
    from assay.suites.model import Suite
    from assay.suites.store.opening import Store
    from assay.suites.web.site import ServerSettings

__all__ = [
    "SUITE_COLLECT",
    "SUITE_IMPORT",
    "SUITE_SAMPLE",
    "SUITE_SERVE",
    "add_db",
    "open_db",
]


def add_db(parser: argparse._ActionsContainer, *, required: bool = False) -> None:
    """The option `--db`, the same for every command."""
    parser.add_argument(
        "--db",
        required=required,
        metavar="DB",
        help="the suite's database: a file (SQLite), or postgresql://USER:PASSWORD@HOST/NAME",
    )


def open_db(args: argparse.Namespace, *, create: bool = False) -> Store:
    """The database that `--db` names; a password is taken out of `args.command`.

    With `create`, a missing file or an empty database becomes a new one, without a suite.
    """
    _require_database()
    from assay.suites.store.opening import open_store

    store = open_store(args.db, create=create)
    args.command = store.address.without_password(args.command)
    return store


def _require_database() -> None:
    # Alembic is needed to make a database, and missed before there is half a one.
    require("web", "sqlalchemy", "alembic", reason="--db needs more packages")


def _configure_suite_sample(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("items", metavar="ITEMS", help="the suite: .json, .jsonl or .tsv")
    add = parser.add_argument_group("what to draw").add_argument
    add(
        "-n",
        "--count",
        type=whole_number(1),
        metavar="N",
        help="how many items of each phenomenon (see --per); without it, all",
    )
    add(
        "--per",
        choices=get_args(Per),
        default="phenomenon",
        help="draw N of each of these (default: phenomenon)",
    )
    add(
        "--only",
        **several(),
        metavar="NAME",
        help="draw only from these categories or phenomena",
    )
    _add_distractors(parser)
    _add_files(parser)


def _add_distractors(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("what to mix in").add_argument
    add(
        "--distractors",
        metavar="FILE",
        help="other sentences of the source language, one a line; the items are shuffled among "
        "them, so that nobody can tell what is tested",
    )
    add(
        "--ratio",
        type=whole_number(2, 10),
        metavar="N",
        help="distractors per item, 2 to 10 (default: 2)",
    )
    add(
        "--any-length",
        action="store_true",
        help="draw distractors of any length (default: each item gets some that are about as long "
        "as itself, so that items do not stick out)",
    )


def _add_files(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("output").add_argument
    add("-o", "--output", metavar="FILE", default="-", help="the text to translate, one line each")
    add(
        "--key",
        metavar="FILE",
        help="a table (.tsv) that says which line is which item; keep it for assay suite collect",
    )
    add(
        "--seed",
        type=whole_number(0),
        default=SEED,
        metavar="N",
        help=f"random seed (default: {SEED})",
    )
    add("-q", "--quiet", action="store_true", help="no notes")


def _run_suite_sample(args: argparse.Namespace) -> int:
    _check(args)
    text = sample_suite(
        read_suite(args.items),
        count=args.count,
        per=args.per,
        only=args.only,
        distractors=read_lines(args.distractors) if args.distractors else (),
        ratio=args.ratio or 2,
        like_length=not args.any_length,
        seed=args.seed,
    )
    write_sample(text, args.output, args.key)
    if not args.quiet:
        for path in (args.key, *([] if args.output == "-" else [args.output])):
            print(f"wrote {path}", file=sys.stderr)
    warn(_notes_suite_sample(args, text), quiet=args.quiet)
    return 0


def _check(args: argparse.Namespace) -> None:
    if not args.key:
        raise DataError("--key FILE is needed: without it nobody can tell the translations apart.")
    if (args.ratio or args.any_length) and not args.distractors:
        raise DataError("--ratio and --any-length choose among --distractors FILE; name that file.")
    inputs = [args.items, *([args.distractors] if args.distractors else [])]
    taken = {Path(path).resolve() for path in inputs}
    for option, path in (("-o", args.output), ("--key", args.key)):
        if path != "-" and Path(path).resolve() in taken:
            raise DataError(f"{option} {path} is needed for something else; name another file.")
        taken.add(Path(path).resolve())
    if args.key == "-":
        raise DataError("--key - would mix the key into the text; name a file.")


def _notes_suite_sample(args: argparse.Namespace, text: SampledText) -> list[str]:
    kinds = {"category": "categories", "phenomenon": "phenomena"}[args.per]
    distracting = len(text.key) - text.items
    others = f" among {distracting} other sentences" if distracting else ""
    notes = [f"{text.items} items of {len(text.groups)} {kinds}{others}: {len(text.key)} lines."]
    few = [group for group in text.groups if args.count and group.drawn < args.count]
    if few:
        told = ", ".join(f"{group.name} ({group.items})" for group in few[:5])
        more = f" and {len(few) - 5} more" if len(few) > 5 else ""
        notes.append(f"fewer than {args.count} items, so all were taken: {told}{more}.")
    return notes


SUITE_SAMPLE = Command(
    name="suite sample",
    usage="ITEMS [-n N] [--distractors FILE] --key KEY -o FILE [options]",
    description=(
        "Write a text for systems to translate: items of a test suite, hidden among ordinary\n"
        "sentences so that no system can be tuned to them. The text has one sentence a line. The\n"
        "key says which line is which item: keep it to yourself, assay suite collect needs it."
    ),
    examples="""
        assay suite sample items.json --key all.tsv -o all.txt              every item, in order
        assay suite sample items.json -n 9 --per category --key nine.tsv -o nine.txt
        assay suite sample items.json -n 1 --distractors src.txt --key mixed.tsv -o mixed.txt""",
    configure=_configure_suite_sample,
    run=_run_suite_sample,
)


def _configure_suite_collect(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("translations")
    add = group.add_argument
    add("--key", metavar="FILE", help="the key that assay suite sample wrote with the text")
    add(
        "-i",
        "--input",
        **several(),
        metavar="FILE",
        help="a file per system: plain, with a translation for every line of the text in order; "
        "or .tsv in any order, with a column translation and a column line or source that says "
        "what each row translates",
    )
    add_names(group)
    add = parser.add_argument_group("output").add_argument
    add(
        "--to",
        metavar="FOLDER",
        help=f"where {IDS} and a file per system go; nothing there is overwritten",
    )
    add("-q", "--quiet", action="store_true", help="no notes")


def _run_suite_collect(args: argparse.Namespace) -> int:
    for option, value in (("--key FILE", args.key), ("-i FILE", args.input), ("--to", args.to)):
        if not value:
            raise DataError(f"{option} is missing. See: assay suite collect --help")
    if [args.key, *args.input].count("-") > 1:
        raise DataError("standard input ('-') can be read only once: name files for the others.")
    key = read_key(args.key)
    names = names_of(args.input, args.names)
    outputs = collect_suite(key, dict(zip(names, args.input, strict=True)))
    written = write_collected(args.to, outputs)
    if not args.quiet:
        _tell(args.to, written)
    warn(_notes_suite_collect(outputs), quiet=args.quiet)
    return 0


def _tell(folder: str, written: Sequence[Path]) -> None:
    for path in written:
        print(f"wrote {path}", file=sys.stderr)
    ids = Path(folder) / IDS
    systems = shlex.join(str(path) for path in written if path != ids)
    line = f"assay suite run ITEMS -i {systems} --ids {shlex.quote(str(ids))}"
    print(f"now check them: {line}", file=sys.stderr)


def _notes_suite_collect(outputs: Mapping[str, Mapping[str, str]]) -> list[str]:
    notes = []
    for system, texts in outputs.items():
        if empty := sum(not text.strip() for text in texts.values()):
            untested = f"{empty} of {len(texts)} items have no translation and are not tested."
            notes.append(f"{system}: {untested}")
    return notes


SUITE_COLLECT = Command(
    name="suite collect",
    usage="--key KEY -i FILE [FILE ...] --to FOLDER [options]",
    description=(
        "Take back the translations of a text that assay suite sample wrote. The key finds the\n"
        "items again, in whatever order they come; the other sentences are left out. The folder\n"
        "then holds the ids of the items and a file per system, line by line beside each other,\n"
        "as assay suite run --ids takes them. All files are written, or none."
    ),
    examples="""
        assay suite collect --key key.tsv -i a.txt b.txt --to outputs
        assay suite collect --key key.tsv -i a.txt b.txt --names Atlas Birch --to named
        assay suite collect --key key.tsv -i c.txt --to outputs     another system, later""",
    configure=_configure_suite_collect,
    run=_run_suite_collect,
)


def _configure_suite_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "items", metavar="ITEMS", help="the suite: a .json, .jsonl, .tsv, .csv, .xlsx or .txt file"
    )
    add_db(parser, required=True)
    add = parser.add_argument_group("tables with other column names").add_argument
    add(
        "--columns",
        **several(),
        metavar="WHAT=COLUMN",
        help=f"what the columns hold, as in source=German phenomenon=Topic: {', '.join(ROLES)}; "
        "several columns may hold rules of one kind, and others are kept with the items",
    )
    add(
        "--separator",
        default="",
        metavar="TEXT",
        help="what stands between the rules in one cell, beside line breaks",
    )
    add("--name", default="", metavar="NAME", help="the suite's name")
    add("--languages", default="", metavar="PAIR", help="of items that name none, as in de-en")
    parser.add_argument("-q", "--quiet", action="store_true", help="no notes")


def _run_suite_import(args: argparse.Namespace) -> int:
    suite_from = _reader(args)
    _require_database()
    from assay.suites.store.opening import filled_store
    from assay.suites.store.overview import import_suite
    from assay.suites.store.suites import load_suite

    with filled_store(args.db) as store, store.write() as connection:
        suite = suite_from(load_suite(connection))
        saved = import_suite(connection, suite, file=Path(args.items).name)
    if not args.quiet:
        print(
            f"wrote {store.address}: {len(suite)} items ({saved.added} new, "
            f"{saved.changed} changed), {saved.rechecked} outputs judged anew",
            file=sys.stderr,
        )
    return 0


def _reader(args: argparse.Namespace) -> Callable[[Suite], Suite]:
    """What makes the suite to import, given the one that is stored; the file is read already."""
    if args.columns:
        table = read_item_table(args.items)
        return partial(_mapped, args, table, named_roles(table, args.columns))
    if args.separator or args.name or args.languages:
        raise DataError("--separator, --name and --languages go with --columns WHAT=COLUMN ...")
    suite = read_suite(args.items)
    return lambda stored: suite


def _mapped(
    args: argparse.Namespace, table: ItemTable, roles: Sequence[ColumnRole], stored: Suite
) -> Suite:
    suite = suite_of_table(
        table,
        roles,
        separator=args.separator,
        name=args.name or stored.name,
        languages=args.languages,
        known=stored.items,
    )
    return replace(suite, extra=stored.extra)


SUITE_IMPORT = Command(
    name="suite import",
    usage="ITEMS --db DB [--columns WHAT=COLUMN ...]",
    description=(
        "Put a test suite into a database, where runs are kept, warnings resolved in the browser\n"
        "(assay suite serve) and reports made. A file that does not exist yet is made. A large\n"
        "team may use PostgreSQL instead: --db postgresql://ann:secret@localhost/suite\n\n"
        "Importing once more adds what is new and updates what has changed: outputs are judged\n"
        "anew where their rules have changed. What people decided stays, and so do the rules\n"
        "that they added and items that the file no longer has.\n\n"
        "A table may have any column names: --columns says what they hold. The files of\n"
        "TQ-AutoTest are known by their headers."
    ),
    examples="""
        assay suite import items.json --db suite.db
        assay suite import sheet.csv --db suite.db --columns source=German phenomenon=Topic""",
    configure=_configure_suite_import,
    run=_run_suite_import,
)


BACKLOG = 128


def _configure_suite_serve(parser: argparse.ArgumentParser) -> None:
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
    parser.add_argument(
        "--lead",
        nargs="+",
        default=[],
        metavar="NAME",
        help="make these people leads, who deal out the work, decide disputes and look after "
        "people (default: whoever comes first)",
    )
    parser.add_argument("--open", action="store_true", help="open the page in a browser")


def _run_suite_serve(args: argparse.Namespace) -> int:
    with (
        closing(open_db(args, create=True)) as store,
        closing(_listening(args.host, args.port)) as listening,
    ):
        settings = _settings(args, listening)
        address = _address(args, listening)
        link = address if settings.accounts else f"{address}/?token={settings.token}"
        _check_accounts(args, store, settings)
        _name_leads(args, store)
        print(f"{link}  (stop with Ctrl-C)", flush=True)
        for name, secret in _invitations(args, store):
            print(f"{address}/invite/{secret}  logs {name} in, once", flush=True)
        with _opened(link) if args.open else nullcontext():
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
    names = LOOPBACK | {f"[{host}]" if ":" in host else host} | {*map(_host_name, args.proxy)}
    return ServerSettings(
        accounts=args.login or bool(args.proxy) or not loopback,
        hosts=names if loopback or args.proxy else None,
        cookie=f"assay-{port}",
        token=_token(),
    )


def _token() -> str:
    """What opens the page where a name is enough: ASSAY_TOKEN, or else a new secret."""
    token = os.environ.get("ASSAY_TOKEN", "")
    if token and not re.fullmatch(r"[\w-]{16,}", token, re.ASCII):
        raise DataError(
            "ASSAY_TOKEN has to be 16 or more letters, digits, _ and -. Leave it out for a new "
            "token at each start."
        )
    return token or secrets.token_urlsafe(32)


@contextmanager
def _opened(link: str) -> Iterator[None]:
    """Open a link in a browser.

    Other users can see the command lines of programs: so the browser gets the name of a file that
    only its owner can read, and that leads to the link.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8") as file:
        file.write(f'<meta http-equiv="refresh" content="0; url={escape(link)}">')
        file.flush()
        webbrowser.open(Path(file.name).as_uri())
        yield


def _host_name(text: str) -> str:
    if not re.fullmatch(r"[\w.-]+|\[[0-9a-f:]+\]", text, re.IGNORECASE):
        raise DataError(f"--proxy {text}: give a host name alone, such as suite.example.org.")
    return text.lower()


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


def _name_leads(args: argparse.Namespace, store: Store) -> None:
    from assay.suites.store.people import add_person, appoint, person_named

    with store.write() as connection:
        for name in args.lead:
            person = person_named(connection, name) or add_person(connection, name)
            appoint(connection, person.id)


def _invitations(args: argparse.Namespace, store: Store) -> list[tuple[str, str]]:
    from assay.suites.store.people import invite

    with store.write() as connection:
        return [(name, invite(connection, name)) for name in args.invite]


def _serve(
    store: Store, settings: ServerSettings, listening: socket.socket, *, proxied: bool
) -> None:
    """Answer until somebody stops it."""
    require("web", "uvicorn", "fastapi", reason="suite serve needs more packages")
    from assay.suites.web.app import make_app
    from assay.suites.web.serving import serve

    try:
        serve(make_app(store, settings), listening, proxied=proxied)
    except KeyboardInterrupt:
        print("stopped", flush=True)


SUITE_SERVE = Command(
    name="suite serve",
    usage="--db DB [--port PORT] [--invite NAME ...] [options]",
    description=(
        "A web page where people resolve the warnings of a test suite: what is right, what is\n"
        "wrong, and which new rules follow. Several people can work at once; all decisions are\n"
        "kept, and each can be undone. On this machine the printed link and a name are enough;\n"
        "over the network, people need accounts: invite them, and each gets a one-time link.\n\n"
        "A file that does not exist yet is made, and the page begins with making a suite."
    ),
    examples="""
        assay suite serve --db suite.db                                  prints a link to open
        assay suite serve --db suite.db --open                           opens it in a browser
        assay suite serve --db suite.db --host 0.0.0.0 --invite Ada Ben  with accounts
        assay suite serve --db suite.db --proxy suite.example.org        behind a web server""",
    configure=_configure_suite_serve,
    run=_run_suite_serve,
)
