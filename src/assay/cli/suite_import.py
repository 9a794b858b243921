"""The command `assay suite import`: a suite into its database."""

from __future__ import annotations

import argparse
import sys

from assay.cli.commands import Command
from assay.cli.suite_store import add_db, open_db
from assay.suite.files import read_suite

__all__ = ["COMMAND"]


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("items", metavar="ITEMS", help="the suite: a .json, .jsonl or .tsv file")
    add_db(parser, required=True)
    parser.add_argument("-q", "--quiet", action="store_true", help="do not say what was done")


def _run(args: argparse.Namespace) -> int:
    suite = read_suite(args.items)
    store = open_db(args, create=True)
    try:
        from assay.suite.store.suites import save_suite

        with store.write() as connection:
            saved = save_suite(connection, suite)
    finally:
        store.close()
    if not args.quiet:
        print(
            f"wrote {store.address}: {len(suite)} items ({saved.added} new, "
            f"{saved.changed} changed), {saved.rechecked} outputs judged anew",
            file=sys.stderr,
        )
    return 0


COMMAND = Command(
    name="suite import",
    usage="ITEMS --db DB",
    description=(
        "Put a test suite into a database, where runs are kept, warnings resolved in the browser\n"
        "(assay suite serve) and reports made. A file that does not exist yet is made. A large\n"
        "team may use PostgreSQL instead: --db postgresql://ann:secret@localhost/suite\n\n"
        "Importing once more adds what is new and updates what has changed: outputs are judged\n"
        "anew where their rules have changed. What people decided stays, and so do the rules\n"
        "that they added and items that the file no longer has."
    ),
    examples="""
        assay suite import items.json --db suite.db""",
    configure=_configure,
    run=_run,
)
