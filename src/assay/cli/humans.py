"""People's scores on the command line: files, or those that lie beside a test set."""

from __future__ import annotations

import argparse
from pathlib import Path

from assay.data import DataError, Dataset, Scores
from assay.io.scores import read_folder_human_scores, read_human_scores, read_scores

__all__ = ["add_given", "add_human", "add_humans", "read_given", "read_human"]


def add_human(parser: argparse.ArgumentParser) -> None:
    """`--human` and `--human-column`."""
    add = parser.add_argument_group("people").add_argument
    add(
        "--human",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="human scores: tables with a column system, a score and perhaps line or doc_id, or "
        "mt-metrics-eval's .score files; with --data by default those that lie in the folder, "
        "of which --human NAME chooses",
    )
    add(
        "--human-column",
        nargs="+",
        default=[],
        metavar="NAME",
        help="the column with the scores; several are several kinds of human score (default: the "
        "first of z, raw, mqm, score that is there)",
    )


def add_given(group: argparse._ActionsContainer) -> None:
    """`--scores` and `--lower`: metrics that were computed elsewhere."""
    group.add_argument(
        "--scores",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="scores from elsewhere (a neural metric), of segments or at the level asked for; "
        "alone unless -m names metrics, too",
    )
    group.add_argument(
        "--lower",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="given scores (of --scores, --table or --human) of which less is better; known by "
        "itself of ter, wer and cer",
    )


def add_humans(group: argparse._ActionsContainer) -> None:
    """`--humans`: whether human translations among the systems count."""
    group.add_argument(
        "--humans",
        choices=("out", "in"),
        default="out",
        help="human translations among the systems: leave them out or in (default: out)",
    )


def read_human(args: argparse.Namespace, dataset: Dataset, purpose: str) -> list[Scores]:
    """The human scores that the options name: files, or those in the folder of `--data`."""
    names = [word for word in args.human if args.data and not Path(word).is_file()]
    paths = [word for word in args.human if word not in names]
    if paths:
        return read_human_scores(paths, dataset, columns=args.human_column)
    if not args.data:
        raise DataError(f"no human scores to {purpose} with --human.")
    return read_folder_human_scores(args.data, dataset, names=names, columns=args.human_column)


def read_given(args: argparse.Namespace, dataset: Dataset) -> list[Scores]:
    """The scores of `--scores`, from metrics that were computed elsewhere."""
    systems, documents = list(dataset.systems), dataset.documents
    return [
        read_scores(path, systems, length=len(dataset), documents=documents) for path in args.scores
    ]
