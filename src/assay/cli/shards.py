"""The options of `assay score --shards`: a corpus of any size in many files."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from assay.cli.commands import whole_number
from assay.cli.options import read_columns
from assay.data import DataError
from assay.progress import track

if TYPE_CHECKING:
    from assay.scale.report import ShardsResult

__all__ = ["add_shards", "check_without_shards", "score_named_shards"]


def add_shards(parser: argparse.ArgumentParser) -> None:
    """`--shards` and what goes with it."""
    group = parser.add_argument_group("corpora of any size, in shards (see docs/scale.md)")
    add = group.add_argument
    add(
        "--shards",
        nargs="+",
        action="extend",
        default=[],
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


def check_without_shards(args: argparse.Namespace) -> None:
    """Raise a `DataError` where an option goes with --shards only."""
    for option in ("out", "where", "workers"):
        if getattr(args, option) is not None:
            raise DataError(f"--{option} goes with --shards.")


def score_named_shards(args: argparse.Namespace) -> ShardsResult:
    """Score the shards that the options name."""
    from assay.scale.shards import score_shards

    _check(args)
    return score_shards(
        args.shards,
        args.metric or args.default_metrics,
        columns=read_columns(args.columns),
        languages=args.languages,
        tokenize=args.tokenize,
        lowercase=args.lowercase,
        out=args.out,
        where=args.where,
        workers=args.workers,
        cluster=args.cluster,
        track=partial(track, label="Scoring shards", quiet=args.quiet, unit="MB"),
    )


def _check(args: argparse.Namespace) -> None:
    """Shards are one corpus: what needs several systems, documents or resamples is not for them."""
    others = {
        "REF": args.references,
        "-i": args.input,
        "-s": args.source,
        "--docs": args.docs,
        "--names": args.names,
        "--data": args.data,
        "-t": args.test_set,
        "--scores": args.scores,
        "-sl": args.segments,
        "--documents": args.documents,
        "--groups": args.groups,
        "--confidence": args.confidence,
        "--interval": args.interval,
        "--paired-bs": args.paired_bs,
        "--paired-ar": args.paired_ar,
    }
    given = [option for option, value in others.items() if value]
    if given == ["-sl"]:
        raise DataError("-sl does not go with --shards: segment scores are written with --out.")
    if given:
        raise DataError(
            f"{given[0]} does not go with --shards, which score one corpus; leave it out."
        )
    if args.where is not None and args.out is None:
        raise DataError("--where writes the rows that pass: name a folder with --out.")
