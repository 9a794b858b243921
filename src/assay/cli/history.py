"""The command `assay history`: metrics, slices and phenomena over the runs in a store."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from assay.cli.commands import Command, several, whole_number
from assay.cli.output import add_output, check_output, show
from assay.data import DataError
from assay.results import Column, Record, Result, Table
from assay.store.history import history
from assay.store.results import ResultStore

__all__ = ["HISTORY"]


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("store", metavar="FOLDER", help="the store: the folder given with --store")
    add = parser.add_argument_group("what to show").add_argument
    add(
        "-m",
        "--metric",
        **several(),
        metavar="METRIC",
        help="metrics as they were asked for, as in -m bleu chrf (default: all)",
    )
    add(
        "--slice",
        **several(),
        metavar="NAME",
        help="slices of compare, report and check, as in --slice 'with a number' 'document "
        "council'; a fault as in --slice fault:numbers",
    )
    add(
        "--phenomenon",
        **several(),
        metavar="NAME",
        help="categories and phenomena of a test suite, as in --phenomenon Negation micro-average",
    )
    add(
        "--system",
        **several(),
        metavar="NAME",
        help="only these systems (default: all)",
    )
    add("--since", metavar="DATE", help="only runs from this day on (UTC), as in 2026-11-01")
    add("--last", type=whole_number(1), metavar="N", help="only so many of the newest runs")
    add(
        "--prune",
        type=whole_number(0),
        metavar="DAYS",
        help="show nothing, but remove rows and texts that no command used for so many days; runs "
        "stay, and what is missing is scored again when it is needed",
    )
    add_output(parser)


@dataclass(frozen=True)
class _Removed(Result):
    """What pruning removed."""

    store: str
    files: int
    bytes: int

    def tables(self) -> list[Table]:
        rows = [(self.store, self.files, self.bytes / 1_000_000)]
        return [Table("Removed", ("store", Column("files"), Column("MB")), rows)]

    def records(self) -> list[Record]:
        return [{"store": self.store, "files": self.files, "bytes": self.bytes}]


def _run(args: argparse.Namespace) -> int:
    check_output(args, [])
    if args.prune is not None:
        if args.metric or args.slice or args.phenomenon or args.system or args.since or args.last:
            raise DataError("--prune shows nothing: leave what to show out.")
        removed = ResultStore(args.store, create=False).prune(args.prune)
        show(_Removed(args.store, *removed), args, inputs=[])
        return 0
    result = history(
        args.store,
        args.metric,
        slices=args.slice,
        phenomena=args.phenomenon,
        systems=args.system,
        since=args.since,
        last=args.last,
    )
    show(result, args, inputs=[])
    return 0


HISTORY = Command(
    name="history",
    usage="FOLDER [-m METRIC ...] [--slice NAME ...] [options]",
    description=(
        "Is it getting better? Commands with --store FOLDER write down what they found; this\n"
        "shows a metric, a slice of the test set, a fault or a phenomenon of a test suite from\n"
        "run to run, with intervals and the change to the run before, as a table and a chart.\n"
        "Only runs on the same test set with the same signature are set side by side."
    ),
    examples="""
        assay history runs                                        every metric, all runs
        assay history runs -m chrf --last 10 -o history.html      a page with a chart
        assay history runs --slice 'with a number' fault:numbers  a slice and a fault
        assay history runs --phenomenon Negation --since 2026-01-01
        assay history runs -m bleu --system atlas --format json
        assay history runs --prune 90                             remove what is not used""",
    configure=_configure,
    run=_run,
)
