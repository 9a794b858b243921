"""The command `assay muler validate`: whether MuLER does what it should."""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np

from assay.cli.commands import Command, whole_number
from assay.cli.features import add_features, read_annotated
from assay.cli.inputs import add_inputs, add_metrics, read_inputs, read_metrics
from assay.cli.output import add_output, check_output, show
from assay.cli.progress import track
from assay.data import DataError
from assay.muler.presets import preset_named
from assay.muler.validate import ALPHAS, SEGMENTS, validate

__all__ = ["COMMAND"]

DID_NOT_HOLD = 1


def _configure(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, ["bleu"])
    add_features(parser)
    add = parser.add_argument_group("checks").add_argument
    add(
        "--alphas",
        type=float,
        nargs="+",
        default=list(ALPHAS),
        metavar="SHARE",
        help="shares of a feature's words, between 0 and 1, that hybrids get right and that are "
        f"masked alone (default: {' '.join(map(str, ALPHAS))})",
    )
    add(
        "--lower-initial",
        action="store_true",
        help="hybrids of words in lower case only, as in the paper's Tables 11 to 13",
    )
    add(
        "--draws",
        type=whole_number(0),
        default=1000,
        metavar="N",
        help="random features to draw; 0 leaves specificity out (default: 1000)",
    )
    add(
        "--segments",
        type=whole_number(1),
        default=SEGMENTS,
        metavar="N",
        help=f"draw them on at most so many segments, taken at random (default: {SEGMENTS})",
    )
    add_output(parser, letter=False)


def _run(args: argparse.Namespace) -> int:
    inputs = read_inputs(args)
    metrics = read_metrics(args, inputs.dataset)
    preset = preset_named(args.preset)
    if len(metrics) != 1:
        raise DataError("muler validate looks at one metric: -m bleu, say.")
    check_output(args, inputs.files)
    annotated, features = read_annotated(args, inputs)
    result = validate(
        annotated,
        metrics[0],
        features,
        preset=preset,
        per=args.per,
        alphas=args.alphas,
        draws=args.draws,
        segments=args.segments,
        lower_initial=args.lower_initial,
        rng=np.random.default_rng(args.seed),
        track=partial(track, label="Drawing", quiet=args.quiet),
    )
    show(result, args, inputs=inputs.files)
    return 0 if result.holds else DID_NOT_HOLD


COMMAND = Command(
    name="muler validate",
    usage="REF ... -i SYS ... [-m METRIC] [-f FEATURE ...] [options]",
    description=(
        "The checks of Karidi et al. (2023), section 5, on your texts. Range: with more of a\n"
        "feature's words right, scores move from the anti-oracle to the oracle. Specificity:\n"
        "random words as frequent as a feature all get about the same MuLER. Robustness: MuLER\n"
        "depends less than its numerator on how many of the words are masked. The exit code is 1\n"
        "where a check does not hold."
    ),
    examples="""
        assay muler validate ref.txt -i a.txt -f upos:NOUN,VERB       all three checks
        assay muler validate ref.txt -i a.txt -f gender --draws 0     without random features
        assay muler validate ref.txt -i a.txt -f upos:NOUN,VERB --alphas 0.3 0.5 -o checks.html""",
    configure=_configure,
    run=_run,
)
