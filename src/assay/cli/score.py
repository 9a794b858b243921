"""The command `assay score`: how good each system is."""

from __future__ import annotations

import argparse
from functools import partial
from typing import get_args

from assay.cli.commands import Command, whole_number
from assay.cli.options import (
    add_inputs,
    add_metrics,
    add_output,
    check_output,
    output_format,
    read_inputs,
    read_metrics,
    show,
    warn,
    write,
)
from assay.data import DataError
from assay.io import read_scores
from assay.progress import track
from assay.results import FINER
from assay.scoring import ScoreResult, score
from assay.statistics.significance import IntervalMethod

__all__ = ["SCORE"]


def _configure(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, ["bleu"])
    parser._action_groups[-1].add_argument(
        "--scores",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="segment scores from elsewhere (people, a neural metric), treated like a metric",
    )
    _add_options(parser)
    add_output(parser)
    parser.add_argument(
        "-b",
        "--score-only",
        action="store_true",
        help="print the bare scores, a line for each system, or with -sl for each segment",
    )


def _add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("intervals, tests and parts of the test set")
    add = group.add_argument
    add(
        "-sl",
        "--segments",
        "--sentence-level",
        action="store_true",
        help="score every segment; BLEU with effective order, as in sacreBLEU, unless it says no",
    )
    add("--documents", action="store_true", help="score every document (needs --docs or --data)")
    add(
        "--groups",
        metavar="FILE",
        help="score every sub-corpus: a file with the group of each segment (its domain, say), "
        "a line each; intervals and tests, where asked for, are given for each group, too",
    )
    add("--confidence", action="store_true", help="bootstrap interval of every score")
    add(
        "--interval",
        choices=get_args(IntervalMethod),
        help="kind of interval, asks for --confidence by itself (default: bca; jackknife for "
        "macrof and microf, where the others are only approximate)",
    )
    add(
        "--confidence-level",
        type=float,
        default=0.95,
        metavar="SHARE",
        help="of intervals (default: 0.95)",
    )
    test = group.add_mutually_exclusive_group()
    test.add_argument(
        "--paired-bs",
        action="store_true",
        help="is each system different from the first? by paired bootstrap (macrof and microf: "
        "by a jackknife, since the bootstrap would find too much)",
    )
    test.add_argument(
        "--paired-ar", action="store_true", help="the same by approximate randomisation"
    )
    add(
        "--all-pairs",
        action="store_true",
        help="with one of these: test every pair, and rank the systems in clusters",
    )
    add(
        "--bs-statistic",
        choices=("two-sided", "sacrebleu"),
        default="two-sided",
        help="what --paired-bs counts (default: two-sided); sacrebleu gives sacreBLEU's p",
    )
    add(
        "--paired-bs-n",
        "--confidence-n",
        type=whole_number(1),
        metavar="N",
        dest="resamples",
        help="bootstrap resamples (default: 1000, and more where many pairs need it)",
    )
    add(
        "--paired-ar-n",
        type=whole_number(1),
        metavar="N",
        dest="trials",
        help="randomisation trials (default: 10000, and more where many pairs need it)",
    )


def _run(args: argparse.Namespace) -> int:
    if args.all_pairs and not (args.paired_bs or args.paired_ar):
        raise DataError("--all-pairs goes with --paired-bs or --paired-ar.")
    if args.score_only and output_format(args).name != "text":
        raise DataError("-b prints bare scores as text: leave -b out, or name a file in .txt.")
    inputs = read_inputs(args)
    dataset = inputs.dataset
    metrics = read_metrics(args, dataset)
    check_output(args, inputs.files)
    systems, documents = list(dataset.systems), dataset.documents
    imported = [
        read_scores(path, systems, length=len(dataset), documents=documents) for path in args.scores
    ]
    result = score(
        dataset,
        metrics,
        by_segment=args.segments,
        by_document=args.documents,
        by_group=args.groups is not None,
        confidence=args.confidence,
        interval=args.interval,
        level=args.confidence_level,
        test="bootstrap" if args.paired_bs else "randomisation" if args.paired_ar else None,
        statistic=args.bs_statistic,
        all_pairs=args.all_pairs,
        resamples=args.resamples,
        trials=args.trials,
        scores=imported,
        seed=args.seed,
        track=partial(track, label="Scoring", quiet=args.quiet),
    )
    if args.score_only:
        write(_bare(result, args.width), args)
    else:
        show(result, args, inputs=inputs.files)
    warn([note for note in result.notes if note not in args.notes], quiet=args.quiet)
    return 0


def _bare(result: ScoreResult, digits: int) -> str:
    """One line per system, the metrics' scores apart by blanks; with -sl a line per segment."""
    lines = []
    decimals = [digits + FINER * entry.metric.is_small for entry in result.by_metric]
    for at in range(len(result.systems)):
        if result.options.segments:
            columns = [
                entry.segments[at] for entry in result.by_metric if entry.segments is not None
            ]
        else:
            columns = [entry.corpus[at : at + 1] for entry in result.by_metric]
        for values in zip(*columns, strict=True):
            shown = (f"{value:z.{d}f}" for value, d in zip(values, decimals, strict=True))
            lines.append(" ".join(shown))
    return "\n".join(lines) + "\n"


SCORE = Command(
    name="score",
    usage="REF [REF ...] -i SYS [SYS ...] [-m METRIC ...] [options]",
    description="Score every system by every metric, and say how sure the scores are.",
    examples="""
        assay score ref.txt -i a.txt b.txt -m bleu chrf macrof       a table of scores
        cat a.txt | assay score ref.txt                              BLEU of standard input
        assay score ref.A.txt ref.B.txt -i a.txt -m bleu ter         two references
        assay score ref.txt -i a.txt b.txt --paired-bs --confidence  is b better than a?
        assay score ref.txt -i systems/*.txt -m chrf --paired-ar --all-pairs
        assay score ref.txt -i a.txt b.txt -m macrof -o report.html  a page with charts
        assay score -t wmt19 -l de-en -i a.txt                       a test set of sacreBLEU
        assay score --data mt-metrics-eval/wmt21 -l de-en -m chrf --documents
        assay score ref.txt -i a.txt b.txt --scores comet.seg.tsv    scores from elsewhere""",
    configure=_configure,
    run=_run,
)
