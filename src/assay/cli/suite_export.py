"""The command `assay suite export`: a suite out of its database."""

from __future__ import annotations

import argparse
import sys

from assay.cli.commands import Command
from assay.cli.suite_store import add_db, open_db
from assay.suite.files import write_suite

__all__ = ["COMMAND"]


def _configure(parser: argparse.ArgumentParser) -> None:
    add_db(parser, required=True)
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="where to: a .json, .jsonl or .tsv file, written whole or not at all",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="do not say what was done")


def _run(args: argparse.Namespace) -> int:
    store = open_db(args)
    try:
        from assay.suite.store.suites import load_suite

        with store.read() as connection:
            suite = load_suite(connection)
        store.address.refuse(args.output)
    finally:
        store.close()
    write_suite(args.output, suite)
    if not args.quiet:
        print(f"wrote {args.output}: {len(suite)} items", file=sys.stderr)
    return 0


COMMAND = Command(
    name="suite export",
    usage="--db DB -o FILE",
    description=(
        "Write the suite of a database to a file: all items, with the rules that people added in\n"
        "the browser, who added them and when. Rules that were taken back are left out."
    ),
    examples="""
        assay suite export --db suite.db -o items.json
        assay suite export --db suite.db -o rules.tsv            one line per rule, to look at""",
    configure=_configure,
    run=_run,
)
