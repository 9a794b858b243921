"""The commands `assay favor` and `assay types`."""

from __future__ import annotations

import argparse

from assay.cli.commands import Command, whole_number
from assay.cli.options import (
    add_inputs,
    add_metrics,
    add_output,
    check_output,
    read_inputs,
    read_metric,
    read_metrics,
    show,
)
from assay.comparison.favoritism import favor
from assay.comparison.types import types

__all__ = ["FAVOR", "TYPES"]


def _configure_favor(parser: argparse.ArgumentParser) -> None:
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


def _run_favor(args: argparse.Namespace) -> int:
    inputs = read_inputs(args)
    metrics = read_metrics(args, inputs.dataset)
    check_output(args, inputs.files)
    show(favor(inputs.dataset, metrics, count=args.count), args, inputs=inputs.files)
    return 0


FAVOR = Command(
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
    configure=_configure_favor,
    run=_run_favor,
)


def _configure_types(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, ["macrof"])
    add_output(parser)
    parser.add_argument(
        "-n",
        "--count",
        type=whole_number(1),
        default=20,
        metavar="N",
        help="how many types to show (default: 20); json and tsv always have all",
    )


def _run_types(args: argparse.Namespace) -> int:
    inputs = read_inputs(args)
    metric = read_metric(args, inputs.dataset)
    check_output(args, inputs.files)
    show(types(inputs.dataset, metric, count=args.count), args, inputs=inputs.files)
    return 0


TYPES = Command(
    name="types",
    usage="REF [REF ...] -i SYS [SYS ...] [-m METRIC ...] [options]",
    description=(
        "Every word type with how often it is in the reference (refs), in the output (preds) and\n"
        "right (match), its precision, recall and F; scores by frequency; and the types in which\n"
        "two systems differ most. json and tsv list all types."
    ),
    examples="""
        assay types ref.txt -i a.txt b.txt                            the table for people
        assay types ref.txt -i a.txt b.txt --format tsv -o types.tsv  all types
        assay types ref.txt -i a.txt -m macrof:max_order=2            pairs of words, too
        assay types ref.txt -i a.txt b.txt -o types.html              with the curve of Figure 1""",
    configure=_configure_types,
    run=_run_types,
)
