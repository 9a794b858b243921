"""The command `assay muler examples`: the sentences behind a difference in one feature."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from assay.cli.commands import Command, whole_number
from assay.cli.features import add_features, read_annotated
from assay.cli.inputs import Inputs, add_inputs, add_metrics, describe, read_inputs, read_metrics
from assay.cli.output import add_output, check_output, show
from assay.data import DataError
from assay.muler.examples import ExamplesResult, examples
from assay.muler.judging import read_judgements, read_key, tally, write_key
from assay.muler.presets import preset_named

__all__ = ["COMMAND"]


def _configure(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, ["bleu"])
    add_features(parser)
    add = parser.add_argument_group("examples").add_argument
    add(
        "-n",
        "--count",
        type=whole_number(1),
        default=10,
        metavar="N",
        help="how many sentences to show (default: 10)",
    )
    add(
        "--blind",
        action="store_true",
        help="call the systems X and Y, shuffled, for a person to judge; needs --key",
    )
    add("--key", metavar="FILE", help="where it stands which system is X and which Y")
    add(
        "--tally",
        metavar="FILE",
        help="count judgements: lines of item, tab, and X, Y or =, or a filled-in tsv of --blind; "
        "needs --key, and no texts",
    )
    add_output(parser, letter=False)


def _run(args: argparse.Namespace) -> int:
    _check(args)
    if args.tally:
        return _tally(args)
    inputs = read_inputs(args)
    metrics = read_metrics(args, inputs.dataset)
    preset = preset_named(args.preset)
    check_output(args, inputs.files)
    _check_key(args, inputs)
    if len(metrics) != 1:
        raise DataError("muler examples looks at one metric: -m bleu, say.")
    if len(inputs.dataset.systems) != 2:
        raise DataError("muler examples sets two systems apart: name two with -i.")
    annotated, features = read_annotated(args, inputs)
    if len(features) != 1:
        named = ", ".join(map(str, features))
        raise DataError(f"muler examples looks at one feature, not {len(features)} ({named}).")
    first, second = inputs.dataset.systems
    result = examples(
        annotated,
        features[0],
        metrics[0],
        (first, second),
        sources=inputs.dataset.sources,
        preset=preset,
        per=args.per,
        count=args.count,
        blind=args.blind,
        rng=np.random.default_rng(args.seed),
    )
    if args.blind:
        _write_key(result, args)
    show(result, args, inputs=inputs.files)
    return 0


def _tally(args: argparse.Namespace) -> int:
    key = read_key(args.key)
    judgements = read_judgements(args.tally, key)
    inputs = [describe(path, len(key.items)) for path in (args.tally, args.key)]
    check_output(args, inputs)
    show(tally(judgements, key), args, inputs=inputs)
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.tally and (args.blind or args.references or args.input or args.data or args.test_set):
        raise DataError("--tally counts judgements of texts that were shown: leave the texts out.")
    if (args.tally or args.blind) and not args.key:
        option = "--tally" if args.tally else "--blind"
        raise DataError(f"{option} needs --key FILE, which says who is X and who is Y.")
    if args.key and not (args.tally or args.blind):
        raise DataError("--key goes with --blind, which writes it, or with --tally.")


def _check_key(args: argparse.Namespace, inputs: Inputs) -> None:
    """Raise a `DataError` where the key would go over a text, or over the output."""
    if not args.blind:
        return
    paths = [*(each["path"] for each in inputs.files), *args.tags, args.output]
    target = Path(args.key).resolve()
    if args.key == "-" or target in [Path(path).resolve() for path in paths]:
        raise DataError(f"--key {args.key} is needed for something else; name another file.")


def _write_key(result: ExamplesResult, args: argparse.Namespace) -> None:
    write_key(result.key, args.key)
    if not args.quiet:
        print(f"wrote {args.key}", file=sys.stderr)


COMMAND = Command(
    name="muler examples",
    usage="REF [REF ...] -i SYS SYS -f FEATURE [-m METRIC] [options]",
    description=(
        "The sentences that most set two systems apart in one feature, with its words marked. A\n"
        "sentence counts by what it adds to MuLER: the score with it less the score without it.\n"
        "With --blind a person can judge them without knowing the systems, and --tally counts the\n"
        "judgements as in Karidi et al. (2023), section 4.3."
    ),
    examples="""
        assay muler examples ref.txt -i a.txt b.txt -f PERSON -s src.txt   ten to look at
        assay muler examples ref.txt -i a.txt b.txt -f gender -n 25 -o why.html
        assay muler examples ref.txt -i a.txt b.txt -f gender --blind --key key.tsv -o sheet.tsv
        assay muler examples --tally sheet.tsv --key key.tsv               once it is filled in""",
    configure=_configure,
    run=_run,
)
