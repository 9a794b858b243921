"""The command `assay suite export`."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.commands import Command
from assay.cli.suite_exchange import add_db, open_db
from assay.data import DataError
from assay.rendering import save
from assay.suites.evaluation import suite_report
from assay.suites.files import write_suite

if TYPE_CHECKING:
    from assay.suites.store.opening import Store

__all__ = ["SUITE_EXPORT"]

WHAT = ("suite", "decisions", "doubles", "rules", "notes", "history", "report", "backup")


def _configure_suite_export(parser: argparse.ArgumentParser) -> None:
    add_db(parser, required=True)
    parser.add_argument(
        "--what",
        choices=WHAT,
        default="suite",
        help="what to write: the suite with its rules; decisions with person, time, text and "
        "notes; doubles, which several people judged; rules with those that are retired; notes "
        "and flags; history, all that was done; the report of the latest campaign; a backup of "
        "everything (default: suite)",
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="where to, written atomically: .json, .jsonl or .tsv for a suite; for the others "
        "also .csv and .xlsx, for a report .html; a new .db file for a backup",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no notes")


def _run_suite_export(args: argparse.Namespace) -> int:
    with closing(open_db(args)) as store:
        store.address.refuse(args.output)
        told = _write(store, args.what, args.output)
    if not args.quiet:
        print(f"wrote {args.output}: {told}", file=sys.stderr)
    return 0


def _write(store: Store, what: str, target: str) -> str:
    """Write it; what was written, in words."""
    from assay.suites.store.exports import export
    from assay.suites.store.runs import read_run
    from assay.suites.store.suites import load_suite

    if what == "backup":
        return _back_up(store, target)
    if what == "report":
        result = suite_report(read_run(store))
        save(result, target)
        return f"{len(result.verdicts.systems)} systems on {len(result.verdicts.items)} items"
    with store.read() as connection:
        if what == "suite":
            suite = load_suite(connection)
            write_suite(target, suite)
            return f"{len(suite)} items"
        found = export(connection, what)
    save(found, target)
    return f"{len(found.rows)} {found.title.lower()}"


def _back_up(store: Store, target: str) -> str:
    from assay.suites.store.backup import backup

    if Path(target).suffix.lower() not in (".db", ".sqlite", ".sqlite3"):
        raise DataError(f"-o {target}: a backup is a database; name it suite-backup.db or so.")
    backup(store, target)
    return "a backup with all accounts; keep it safe"


SUITE_EXPORT = Command(
    name="suite export",
    usage="--db DB [--what WHAT] -o FILE",
    description=(
        "Write the suite of a database to a file: all items, with the rules that people added in\n"
        "the browser, who added them and when. Rules that were taken back are left out.\n\n"
        "With --what, write what people did instead: the format is that of the file's ending. A\n"
        "backup holds everything, accounts too; --db opens it as it opens the database."
    ),
    examples="""
        assay suite export --db suite.db -o items.json
        assay suite export --db suite.db -o rules.tsv            one line per rule, to look at
        assay suite export --db suite.db --what decisions -o decisions.csv
        assay suite export --db suite.db --what backup -o backup.db""",
    configure=_configure_suite_export,
    run=_run_suite_export,
)
