"""Options for the suite, its database and the outputs of systems, and reading them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, get_args

from assay.cli.commands import whole_number
from assay.cli.inputs import describe
from assay.cli.output import check_output, warn
from assay.data import DataError
from assay.extras import require
from assay.progress import track
from assay.results import Record
from assay.suites.accuracy import Correction, Policy

if TYPE_CHECKING:
    from assay.suites.model import Run, Suite
    from assay.suites.report import RunResult
    from assay.suites.store.opening import Store


__all__ = [
    "RunOnFiles",
    "add_choice",
    "add_db",
    "add_examples",
    "add_outputs",
    "add_policy",
    "database",
    "open_db",
    "read_outputs",
    "refuse_choice",
    "refuse_files",
    "run_on_files",
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
    """The database that `--db` names; a password is taken out of `args.command`."""
    # Alembic is needed to make a database, and missed before there is half a one.
    require("web", "sqlalchemy", "alembic", reason="--db needs more packages")
    from assay.suites.store.opening import open_store

    store = open_store(args.db, create=create)
    args.command = store.address.without_password(args.command)
    return store


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """The suite and the systems: as files, or in a database."""
    group = parser.add_argument_group("suite and outputs")
    add = group.add_argument
    add("items", nargs="?", metavar="ITEMS", help="the suite: .json, .jsonl or .tsv (.gz, .xz)")
    add(
        "-i",
        "--input",
        nargs="+",
        action="extend",
        metavar="SYS",
        default=[],
        help="outputs of the systems, one file each: one line per item, or a .tsv with the columns "
        "item and output",
    )
    add(
        "--ids",
        metavar="FILE",
        help="the ids of the items in the order of the lines of -i (default: the suite's order)",
    )
    add(
        "--names",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="names of the systems, in the order of -i (default: the names of the files)",
    )
    add_db(group)


def add_choice(parser: argparse.ArgumentParser, default: str) -> None:
    """Which of the stored runs; `default` says which they are where none is named."""
    group = parser.add_argument_group("stored runs (with --db)")
    add = group.add_argument
    add(
        "--runs",
        nargs="+",
        action="extend",
        metavar="CAMPAIGN",
        default=[],
        help=f"campaigns to look at (default: {default})",
    )
    add(
        "--systems",
        nargs="+",
        action="extend",
        metavar="NAME",
        default=[],
        help="systems to look at (default: all)",
    )


def add_policy(
    group: argparse._ArgumentGroup,
    tests: Sequence[str],
    what: str,
    corrections: Sequence[Correction],
    correcting: str,
) -> None:
    """What counts, and how it is tested; of tests and corrections the first is the default."""
    group.add_argument(
        "--policy",
        choices=get_args(Policy),
        default="fair",
        help="which items count: those decided for every system (fair), for each system those "
        "decided for it (each), or all, a warning counting as a fail or a pass (default: fair)",
    )
    group.add_argument("--test", choices=tests, default=tests[0], help=what)
    group.add_argument(
        "--correct",
        choices=corrections,
        default=corrections[0],
        help=correcting,
    )
    group.add_argument(
        "--confidence-level",
        dest="level",
        type=float,
        default=0.95,
        metavar="SHARE",
        help="confidence of intervals and tests (default: 0.95)",
    )


def add_examples(parser: argparse._ActionsContainer, what: str, default: int = 1) -> None:
    """How many examples to show."""
    parser.add_argument(
        "--examples",
        type=whole_number(0),
        default=default,
        metavar="N",
        help=f"{what} (default: {default})",
    )


class RunOnFiles(NamedTuple):
    """What rules say of the outputs in files, and a record of each file."""

    run: RunResult
    files: list[Record]


def read_outputs(
    args: argparse.Namespace, suite: Suite, **about: str
) -> tuple[list[Run], list[Record]]:
    """The runs that the options name, and a record of each file."""
    from assay.suites.files import read_runs

    if not args.input:
        raise DataError("no outputs to look at: name the systems' files with -i.")
    runs = read_runs(suite, args.input, ids=args.ids, names=args.names, **about)
    files = [describe(path, len(run.outputs)) for path, run in zip(args.input, runs, strict=True)]
    if args.ids:
        files.append(describe(args.ids, files[0]["segments"]))
    return runs, files


def run_on_files(args: argparse.Namespace) -> RunOnFiles:
    """The suite's rules at work on the outputs of `-i`."""
    from assay.suites.evaluation import run_suite
    from assay.suites.files import read_suite

    if not args.items:
        raise DataError("no suite: name its file before -i, or a database with --db.")
    suite = read_suite(args.items)
    runs, files = read_outputs(args, suite)
    files = [describe(args.items, len(suite)), *files]
    check_output(args, files)
    watched = partial(track, label="Checking", quiet=args.quiet)
    run = run_suite(suite, runs, examples=args.examples, track=watched)
    warn(run.trouble, quiet=args.quiet)
    return RunOnFiles(run, files)


def refuse_choice(args: argparse.Namespace) -> None:
    """Raise a `DataError` where stored runs are chosen without a database."""
    if args.runs or args.systems:
        raise DataError("--runs and --systems choose among stored runs: they go with --db.")


def refuse_files(args: argparse.Namespace) -> None:
    """Raise a `DataError` where files are named beside the database that has them stored."""
    if args.items or args.input or args.ids or args.names:
        raise DataError(
            "--db has items and runs stored: leave ITEMS, -i, --ids and --names out. "
            "More runs come in by: assay suite run --db DB -i SYS ..."
        )


def database(address: object, items: int) -> Record:
    """A database that was read, for the record; it has no digest, for others write to it."""
    return {"path": str(address), "sha256": None, "segments": items}
