"""`assay score --shards`: a corpus of any size in many files."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from assay.cli.options import read_columns, store_options
from assay.data import DataError
from assay.progress import track

if TYPE_CHECKING:
    from assay.scale.report import ShardsResult

__all__ = ["score_named_shards"]


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
        **store_options(args),
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
