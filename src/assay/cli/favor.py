"""The command `assay favor`: which segments make a metric prefer one system."""

from __future__ import annotations

import argparse

from assay.cli.commands import Command, whole_number
from assay.cli.inputs import add_inputs, add_metrics, read_inputs, read_metrics
from assay.cli.output import add_output, check_output, show
from assay.compare.favoritism import favoritism

__all__ = ["COMMAND"]


def _configure(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, ["macrof", "bleu"])
    add_output(parser)
    parser.add_argument(
        "-n",
        "--count",
        type=whole_number(1),
        default=10,
        metavar="N",
        help="how many segments to show for each metric and pair of systems; json and tsv have all "
        "(default: 10)",
    )


def _run(args: argparse.Namespace) -> int:
    inputs = read_inputs(args)
    metrics = read_metrics(args, inputs.dataset)
    check_output(args, inputs.files)
    result = favoritism(inputs.dataset, metrics, count=args.count)
    show(result, args, inputs=inputs.files)
    return 0


COMMAND = Command(
    name="favor",
    usage="REF [REF ...] -i SYS [SYS ...] [-m METRIC ...] [options]",
    description=(
        "The segments that most make a metric prefer the first system to another, or the other\n"
        "way round. A segment's benefit is the score with it less the score without it; its\n"
        "favoritism is one system's benefit less the other's (Gowda et al., 2021, section 4.1)."
    ),
    examples="""
        assay favor ref.txt -i a.txt b.txt -s src.txt                 by MacroF1 and by BLEU
        assay favor ref.txt -i a.txt b.txt -m chrf -n 25 -o why.html  a page to read
        assay favor ref.txt -i a.txt b.txt --format json              all of them, for a program""",
    configure=_configure,
    run=_run,
)
