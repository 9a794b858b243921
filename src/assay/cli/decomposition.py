"""The commands `assay muler`, `muler examples` and `muler validate`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from assay.cli.commands import Command, whole_number
from assay.cli.options import (
    Inputs,
    add_cluster,
    add_inputs,
    add_metrics,
    add_tagging,
    describe,
    note_result,
    read_inputs,
    read_metric,
    read_metrics,
    tagging_options,
)
from assay.cli.output import add_output, check_output, show
from assay.data import DataError
from assay.decomposition.analysis import muler
from assay.decomposition.decompose import PRESETS
from assay.decomposition.examples import (
    ExamplesResult,
    muler_examples,
    read_judgements,
    read_key,
    tally,
    write_key,
)
from assay.decomposition.validate import ALPHAS, SEGMENTS, muler_validate
from assay.features.select import DEFAULT_FEATURES
from assay.progress import track
from assay.results import Record

__all__ = ["MULER", "MULER_EXAMPLES", "MULER_VALIDATE", "add_features"]


def add_features(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """The same for all commands of MuLER."""
    group = add_tagging(parser, " ".join(DEFAULT_FEATURES))
    add = group.add_argument
    add(
        "--preset",
        default="corpus",
        metavar="NAME",
        help="how sentences make a score: "
        + "; ".join(f"{preset.name}: {preset.meaning}" for preset in PRESETS.values())
        + " (default: corpus)",
    )
    add(
        "--per",
        choices=("token", "span"),
        default="token",
        help="one mask per token, or per span of several tokens (default: token)",
    )
    return group


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """The options of `add_features`, as the functions of MuLER take them."""
    return {
        **tagging_options(args),
        "preset": args.preset,
        "per": args.per,
    }


def _files(args: argparse.Namespace, inputs: Inputs) -> list[Record]:
    """All files that are read, those with tags last."""
    return [*inputs.files, *(describe(path, len(inputs.dataset)) for path in args.tags)]


def _configure_muler(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, ["bleu"])
    group = add_features(parser)
    group.add_argument(
        "--scorers",
        nargs="+",
        default=[],
        metavar="SCORER",
        help="compare the tone of the texts, too: sentiment, concreteness, or with a lexicon of "
        "your own valence=FILE, arousal=FILE, dominance=FILE, NAME=FILE",
    )
    group.add_argument(
        "--resamples",
        type=whole_number(0),
        default=1000,
        metavar="N",
        help="for the intervals of --scorers; MuLER's own, and its tests, need none. 0 leaves all "
        "intervals and tests out (default: 1000)",
    )
    add_output(parser)
    add_cluster(parser)


def _run_muler(args: argparse.Namespace) -> int:
    inputs = read_inputs(args)
    metrics, files = read_metrics(args, inputs.dataset), _files(args, inputs)
    check_output(args, files)
    result = muler(
        inputs.dataset,
        metrics,
        args.features or DEFAULT_FEATURES,
        **_options(args),
        scorers=args.scorers,
        resamples=args.resamples,
        seed=args.seed,
        cluster=args.cluster,
        track=partial(track, label="Masking", quiet=args.quiet),
    )
    note_result(args, inputs.dataset, result)
    show(result, args, inputs=files)
    return 0


MULER = Command(
    name="muler",
    usage="REF ... -i SYS ... [-m METRIC ...] [-F FEATURE ...] [options]",
    description=(
        "Take a metric apart by linguistic feature (Karidi et al., 2023). For each feature, the\n"
        "texts are scored as they are, with its words masked alike on both sides (as if all were\n"
        "right) and masked apart (as if all were wrong). MuLER says how much of that range is\n"
        "lost: 0 is perfect, 1 is as bad as can be."
    ),
    examples="""
        assay muler ref.txt -i a.txt b.txt -F upos ner               tags with spaCy (English)
        assay muler ref.txt -i a.txt b.txt -m chrf -F ner:PERSON,GPE morph:Gender dep
        assay muler ref.txt -i a.txt -F gender                       pronouns, no model needed
        assay muler ref.tok -i a.tok -F tags --tags ref.pos a.pos    your own tags
        assay muler ref.txt -i a.txt -F upos --preset paper          as in the paper
        assay muler ref.txt -i a.txt b.txt -F upos -o muler.html     a page with charts""",
    configure=_configure_muler,
    run=_run_muler,
)


def _configure_muler_examples(parser: argparse.ArgumentParser) -> None:
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
    add_output(parser)
    add_cluster(parser)


def _run_muler_examples(args: argparse.Namespace) -> int:
    _check(args)
    if args.tally:
        return _tally(args)
    inputs = read_inputs(args)
    metric, files = read_metric(args, inputs.dataset), _files(args, inputs)
    check_output(args, files)
    _check_key(args, files)
    result = muler_examples(
        inputs.dataset,
        metric,
        args.features or DEFAULT_FEATURES,
        **_options(args),
        count=args.count,
        blind=args.blind,
        seed=args.seed,
        cluster=args.cluster,
        track=partial(track, label="Masking", quiet=args.quiet),
    )
    if args.blind:
        _write_key(result, args)
    note_result(args, inputs.dataset, result)
    show(result, args, inputs=files)
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


def _check_key(args: argparse.Namespace, files: Sequence[Record]) -> None:
    """Raise a `DataError` where the key would go over a text, or over the output."""
    if not args.blind:
        return
    paths = [*(record["path"] for record in files), args.output]
    target = Path(args.key).resolve()
    if args.key == "-" or target in [Path(path).resolve() for path in paths]:
        raise DataError(f"--key {args.key} is needed for something else; name another file.")


def _write_key(result: ExamplesResult, args: argparse.Namespace) -> None:
    write_key(result.key, args.key)
    if not args.quiet:
        print(f"wrote {args.key}", file=sys.stderr)


MULER_EXAMPLES = Command(
    name="muler examples",
    usage="REF [REF ...] -i SYS SYS -F FEATURE [-m METRIC] [options]",
    description=(
        "The sentences that most set two systems apart in one feature, with its words marked. A\n"
        "sentence counts by what it adds to MuLER: the score with it less the score without it.\n"
        "With --blind a person can judge them without knowing the systems, and --tally counts the\n"
        "judgements as in Karidi et al. (2023), section 4.3."
    ),
    examples="""
        assay muler examples ref.txt -i a.txt b.txt -F PERSON -s src.txt   ten to look at
        assay muler examples ref.txt -i a.txt b.txt -F gender -n 25 -o why.html
        assay muler examples ref.txt -i a.txt b.txt -F gender --blind --key key.tsv -o sheet.tsv
        assay muler examples --tally sheet.tsv --key key.tsv               once it is filled in""",
    configure=_configure_muler_examples,
    run=_run_muler_examples,
)


DID_NOT_HOLD = 1


def _configure_muler_validate(parser: argparse.ArgumentParser) -> None:
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
    add_output(parser)
    add_cluster(parser)


def _run_muler_validate(args: argparse.Namespace) -> int:
    inputs = read_inputs(args)
    metric, files = read_metric(args, inputs.dataset), _files(args, inputs)
    check_output(args, files)
    result = muler_validate(
        inputs.dataset,
        metric,
        args.features or DEFAULT_FEATURES,
        **_options(args),
        alphas=args.alphas,
        draws=args.draws,
        segments=args.segments,
        lower_initial=args.lower_initial,
        seed=args.seed,
        cluster=args.cluster,
        track=partial(track, label="Drawing", quiet=args.quiet),
    )
    note_result(args, inputs.dataset, result)
    show(result, args, inputs=files)
    return 0 if result.holds else DID_NOT_HOLD


MULER_VALIDATE = Command(
    name="muler validate",
    usage="REF ... -i SYS ... [-m METRIC] [-F FEATURE ...] [options]",
    description=(
        "The checks of Karidi et al. (2023), section 5, on your texts. Range: with more of a\n"
        "feature's words right, scores move from the anti-oracle to the oracle. Specificity:\n"
        "random words as frequent as a feature all get about the same MuLER. Robustness: MuLER\n"
        "depends less than its numerator on how many of the words are masked. The exit code is 1\n"
        "where a check does not hold."
    ),
    examples="""
        assay muler validate ref.txt -i a.txt -F upos:NOUN,VERB       all three checks
        assay muler validate ref.txt -i a.txt -F gender --draws 0     without random features
        assay muler validate ref.txt -i a.txt -F upos:NOUN,VERB --alphas 0.3 0.5 -o checks.html""",
    configure=_configure_muler_validate,
    run=_run_muler_validate,
)
