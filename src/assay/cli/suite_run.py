"""The command `assay suite run`: what the rules of a suite say of each system's outputs."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from assay.cli.commands import Command
from assay.cli.output import add_output, check_output, show, warn
from assay.cli.progress import track
from assay.cli.suite_inputs import (
    Judged,
    add_examples,
    add_outputs,
    database,
    judge_files,
    read_outputs,
)
from assay.cli.suite_store import open_db
from assay.data import DataError
from assay.suite.showing.results import RunResult

if TYPE_CHECKING:
    from assay.suite.store.opening import Store

__all__ = ["COMMAND"]


def _configure(parser: argparse.ArgumentParser) -> None:
    add_outputs(parser)
    group = parser.add_argument_group("storing (with --db)")
    add = group.add_argument
    add("--campaign", metavar="NAME", default="", help="the occasion of these runs, as in wmt21")
    add("--date", metavar="DATE", default="", help="when they were made, as in 2021-07-30")
    add(
        "--replace",
        action="store_true",
        help="put these outputs in the place of others that a system has in the campaign",
    )
    add_examples(parser.add_argument_group("shown"), "failing items per category to show")
    add_output(parser)


def _run(args: argparse.Namespace) -> int:
    if args.db:
        judged = _save(args)
    elif args.campaign or args.date or args.replace:
        raise DataError("--campaign, --date and --replace are for runs to be stored: with --db.")
    else:
        judged = judge_files(args)
    show(RunResult(judged.verdicts, args.examples), args, inputs=judged.files)
    return 0


def _save(args: argparse.Namespace) -> Judged:
    if args.items:
        raise DataError(
            f"--db has the items already; leave {args.items} out, or bring it in first: "
            f"assay suite import {args.items} --db {args.db}"
        )
    store = open_db(args)
    try:
        return _saved(args, store)
    finally:
        store.close()


def _saved(args: argparse.Namespace, store: Store) -> Judged:
    from assay.suite.check import Checker
    from assay.suite.store.runs import load_verdicts, save_run, stored_runs
    from assay.suite.store.suites import load_suite

    checker = Checker()
    with store.read() as connection:
        suite = load_suite(connection)
    runs, files = read_outputs(args, suite, campaign=args.campaign, date=args.date)
    files = [database(store.address, len(suite)), *files]
    check_output(args, files)
    with store.write() as connection:
        for run in track(runs, total=len(runs), label="Checking", quiet=args.quiet):
            save_run(connection, run, checker, replace=args.replace)
    with store.read() as connection:
        places = {(run.system, run.campaign): run.id for run in stored_runs(connection)}
        wanted = [places[run.system, run.campaign] for run in runs]
        verdicts = load_verdicts(connection, wanted)
    warn(checker.trouble, quiet=args.quiet)
    _tell(args, len(runs), str(store.address))
    return Judged(verdicts, "", files)


def _tell(args: argparse.Namespace, runs: int, where: str) -> None:
    if not args.quiet:
        campaign = f" of {args.campaign}" if args.campaign else ""
        print(f"stored {runs} run{'s' if runs > 1 else ''}{campaign} in {where}", file=sys.stderr)


COMMAND = Command(
    name="suite run",
    usage="ITEMS -i SYS ... [--ids FILE] | --db DB -i SYS ... [options]",
    description=(
        "Check the outputs of systems against the rules of a linguistic test suite. Where only\n"
        "positive rules match, an output passes; where only negative ones do, it fails; where\n"
        "both or neither do, it is a warning, for people to resolve (assay suite serve). With\n"
        "--db the outputs are stored, and what people have said counts."
    ),
    examples="""
        assay suite run items.json -i sysA.txt sysB.txt --ids item_ids.txt
        assay suite run items.json -i sysA.txt --ids item_ids.txt --examples 5 -o run.html
        assay suite run items.json -i sysA.txt sysB.txt --ids item_ids.txt --format json
        assay suite run --db suite.db -i sysA.txt --ids item_ids.txt --campaign wmt23""",
    configure=_configure,
    run=_run,
)
