"""The commands `assay score`, `favor` and `types`: systems by their scores, segments and words."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple, get_args

from assay.cli.commands import Command, several, whole_number
from assay.cli.options import (
    add_cluster,
    add_inputs,
    add_metrics,
    add_store,
    read_inputs,
    read_metric,
    read_metrics,
    store_options,
)
from assay.cli.output import add_output, check_output, output_format, show, warn, write
from assay.data import DataError
from assay.io import read_scores
from assay.metrics.base import Metric, parse
from assay.progress import track
from assay.results import FINER, Record
from assay.scoring import ScoreResult, score
from assay.statistics.significance import IntervalMethod

__all__ = [
    "FAVOR",
    "SCORE",
    "TYPES",
]


def _configure_score(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, ["bleu"])
    parser._action_groups[-1].add_argument(
        "--scores",
        **several(),
        metavar="FILE",
        help="segment scores from elsewhere (people, a neural metric), treated like a metric",
    )
    _add_options(parser)
    _add_shards(parser)
    add_store(parser)
    add_output(parser)
    add_cluster(parser)
    parser.add_argument(
        "-b",
        "--score-only",
        action="store_true",
        help="print the bare scores, a line for each system, or with -sl for each segment",
    )
    parser.add_argument(
        "--fail-under",
        **several(),
        metavar="METRIC=SCORE",
        help="end with status 1 if a system has less (for metrics where lower is better: more), as "
        "in --fail-under chrf=55 bleu=30; metrics are named as with -m. Finer limits: assay check",
    )


def _add_shards(parser: argparse.ArgumentParser) -> None:
    """`--shards` and what goes with it."""
    group = parser.add_argument_group("corpora of any size, in shards (see docs/scale.md)")
    add = group.add_argument
    add(
        "--shards",
        **several(),
        metavar="FILE",
        help="score a corpus in many files in constant memory, as if it were one: files or "
        "patterns as 'corpus/*.parquet', here or as s3://...; Parquet, Arrow, JSONL, TSV and CSV "
        "with a header, also .gz, .xz, .zst. Columns: mt, ref, src, or those of --columns",
    )
    add(
        "--out",
        metavar="FOLDER",
        help="write segment scores to FOLDER, a Parquet file per shard; the same command again "
        "goes on where it was interrupted",
    )
    add(
        "--where",
        metavar="CONDITION",
        help="write the rows that pass to --out instead, with all their columns, as in "
        "'chrf > 20 and bleu > 5': and, or, not, brackets, numbers, 'texts', names of metrics and "
        "columns (odd ones in double quotes)",
    )
    add(
        "--workers",
        type=whole_number(1),
        metavar="N",
        help="shards at once on this machine (default: one per core); no figure depends on it",
    )


def _check_without_shards(args: argparse.Namespace) -> None:
    """Raise a `DataError` where an option goes with --shards only."""
    for option in ("out", "where", "workers"):
        if getattr(args, option) is not None:
            raise DataError(f"--{option} goes with --shards.")


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
        help="bootstrap resamples (default: 1000, up to 10000 where many pairs need it)",
    )
    add(
        "--paired-ar-n",
        type=whole_number(1),
        metavar="N",
        dest="trials",
        help="randomisation trials (default: 10000, fewer with more than 3000 pairs)",
    )


def _run_score(args: argparse.Namespace) -> int:
    if args.all_pairs and not (args.paired_bs or args.paired_ar):
        raise DataError("--all-pairs goes with --paired-bs or --paired-ar.")
    if args.score_only and output_format(args).name != "text":
        raise DataError("-b prints bare scores as text: leave -b out, or name a file in .txt.")
    if args.shards:
        return _run_shards(args)
    _check_without_shards(args)
    inputs = read_inputs(args)
    dataset = inputs.dataset
    metrics = read_metrics(args, dataset)
    floors = [_floor(text, metrics) for text in args.fail_under]
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
        **store_options(args),
        seed=args.seed,
        cluster=args.cluster,
        track=partial(track, label="Scoring", quiet=args.quiet),
    )
    return _show_scores(result, args, inputs.files, floors)


def _run_shards(args: argparse.Namespace) -> int:
    check_output(args, [])
    asked = args.metric or args.default_metrics
    metrics = [parse(text) for text in asked if text.strip().lower() != "faults"]
    floors = [_floor(text, metrics) for text in args.fail_under]
    from assay.cli.shards import score_named_shards

    result = score_named_shards(args)
    return _show_scores(result, args, result.inputs(), floors)


def _show_scores(
    result: ScoreResult, args: argparse.Namespace, inputs: Sequence[Record], floors: list[_Floor]
) -> int:
    """Show the scores; status 1 where one is behind its floor."""
    if args.score_only:
        write(_bare(result, args.width), args)
    else:
        show(result, args, inputs=inputs)
    warn([note for note in result.notes if note not in args.notes], quiet=args.quiet)
    broken = [line for floor in floors for line in _below(floor, result)]
    for line in broken:
        print(f"assay: {line}", file=sys.stderr)
    return 1 if broken else 0


class _Floor(NamedTuple):
    """A score that no system may fall behind, and the metric by its place."""

    name: str
    place: int
    score: float


def _floor(text: str, metrics: Sequence[Metric]) -> _Floor:
    """What one word of --fail-under says, such as chrf:word_order=2=55."""
    name, equals, number = text.rpartition("=")
    try:
        score = float(number)
    except ValueError:
        score = math.nan
    if not equals or math.isnan(score):
        raise DataError(f"--fail-under {text}: write METRIC=SCORE, as in chrf=55.")
    names = [metric.requested for metric in metrics]
    if name in names:
        return _Floor(name, names.index(name), score)
    wanted = parse(name)
    for place, metric in enumerate(metrics):
        # Languages may have given the metric settings that nobody wrote.
        if metric == wanted or parse(metric.requested) == wanted:
            return _Floor(name, place, score)
    raise DataError(f"--fail-under {text}: {name} is not scored; add it with -m {name}.")


def _below(floor: _Floor, result: ScoreResult) -> Iterator[str]:
    """One line for each system that falls behind; an unknown score does."""
    entry = result.by_metric[floor.place]
    higher, digits = entry.metric.higher_is_better, 2 + FINER * entry.metric.is_small
    for system, value in zip(result.systems, entry.corpus, strict=True):
        holds = value >= floor.score if higher else value <= floor.score
        if not holds:
            side = "under" if higher else "above"
            yield f"{floor.name} of {system} is {value:.{digits}f}, {side} {floor.score:g}."


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
        assay score ref.txt -i a.txt b.txt --scores comet.seg.tsv    scores from elsewhere
        assay score ref.txt -i a.txt -m chrf --fail-under chrf=55    status 1 below that
        assay score ref.txt -i a.txt --store runs --run nightly-12   for assay history
        assay score --shards 'corpus/*.parquet' -m bleu chrf --out scores   any size, resumable
        assay score --shards 'corpus/*.tsv.gz' -m chrf --where 'chrf > 20' --out good""",
    configure=_configure_score,
    run=_run_score,
)


def _configure_favor(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, ["macrof", "bleu"])
    add_store(parser, runs=False)
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
    from assay.comparison.favoritism import favor

    inputs = read_inputs(args)
    metrics = read_metrics(args, inputs.dataset)
    check_output(args, inputs.files)
    result = favor(inputs.dataset, metrics, count=args.count, store=args.store)
    show(result, args, inputs=inputs.files)
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
    from assay.comparison.types import types

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
