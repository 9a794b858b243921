"""The command `assay suite lint`: what is wrong or odd in a test suite."""

from __future__ import annotations

import argparse

from assay.cli.commands import Command
from assay.cli.inputs import describe
from assay.cli.output import add_output, check_output, show
from assay.cli.progress import track
from assay.suite.files import read_suite
from assay.suite.lint import CHECKS, lint
from assay.suite.lint.linting import refuse_unknown

__all__ = ["COMMAND"]


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("items", metavar="ITEMS", help="the suite: .json, .jsonl or .tsv")
    add = parser.add_argument_group("what to look for").add_argument
    add(
        "--only",
        nargs="+",
        action="extend",
        default=[],
        metavar="CHECK",
        help=f"these checks only: {', '.join(CHECKS)}",
    )
    add("--all", action="store_true", help="show all problems, not only the first of each kind")
    add("--strict", action="store_true", help="end with status 1 if there are errors")
    add_output(parser)


def _run(args: argparse.Namespace) -> int:
    refuse_unknown(args.only)
    suite = read_suite(args.items)
    inputs = [describe(args.items, len(suite))]
    check_output(args, inputs)
    steps = track(suite.items, total=len(suite), label="Linting", quiet=args.quiet)
    result = lint(suite, only=args.only, steps=steps)
    show(result.all() if args.all else result, args, inputs=inputs)
    return int(args.strict and bool(result.errors))


COMMAND = Command(
    name="suite lint",
    usage="ITEMS [--only CHECK ...] [--strict] [options]",
    description=(
        "Find what is wrong or odd in a test suite before it costs you annotations: patterns that\n"
        "cannot be read or search for ever, rules that contradict each other or do nothing, items\n"
        "without rules, phenomena with too few items, names that are misspelt. Errors make\n"
        "verdicts wrong or keep them away; warnings are probably slips; the rest is worth knowing."
    ),
    examples="""
        assay suite lint items.json                              a summary, then the gravest
        assay suite lint items.json --only contradiction --all   everything of one kind
        assay suite lint items.json --strict -o lint.tsv         for scripts: 1 if errors""",
    configure=_configure,
    run=_run,
)
