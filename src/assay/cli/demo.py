"""The command `assay demo`: everything once, on a small test set that comes with assay."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from assay.cli.commands import Command
from assay.compare.favoritism import favoritism
from assay.compare.types import type_performance
from assay.data import DataError
from assay.demo import read_demo
from assay.io import write_whole
from assay.metrics.typef import MacroF
from assay.registry import parse_all
from assay.report import render
from assay.results import Result, Table, Together
from assay.scoring import SEED, Questions, score_dataset

__all__ = ["COMMAND"]

METRICS = ("bleu", "chrf", "ter", "macrof", "microf")


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        nargs="?",
        default="assay-demo",
        help="where to put the report (default: assay-demo)",
    )


def _run(args: argparse.Namespace) -> int:
    page = Path(args.folder) / "report.html"
    _make_folder(page.parent)
    dataset = read_demo()
    asked = Questions(confidence=True, test="bootstrap", all_pairs=True)
    scores = score_dataset(dataset, parse_all(METRICS), questions=asked)
    favored = favoritism(dataset, parse_all(["macrof", "bleu"]), count=10)
    types = type_performance(dataset, MacroF(), count=20)
    header = {"command": args.command, "seed": SEED, "inputs": [], "title": "assay demo"}
    write_whole(page, render(Together(scores, favored, types), "html", header=header))
    print(_story(scores, types))
    print(f"The whole report, with charts and examples: {page}")
    return 0


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{path}: this folder cannot be made ({error.strerror}).") from None


def _story(scores: Result, types: Result) -> str:
    """What the demo shows, in a screen."""

    class Short(Together):
        def tables(self) -> list[Table]:
            overview, *_ = scores.tables()
            _, buckets, *_ = types.tables()
            return [overview, buckets]

    color = sys.stdout.isatty()
    return "\n".join(
        [
            "Three invented systems translate 120 German segments. BLEU likes birch: it is fluent.",
            "MacroF1, where every word counts alike, prefers atlas: birch loses names, numbers and",
            "rare words, as the second table shows. `assay favor` finds the sentences.",
            "",
            render(Short(scores, types), "text", color=color, width=100, header={}),
        ]
    )


COMMAND = Command(
    name="demo",
    usage="[FOLDER]",
    description="Run the main jobs on a built-in test set and write a report to look at.",
    examples="""
        assay demo                  writes assay-demo/report.html
        assay demo look             writes look/report.html""",
    configure=_configure,
    run=_run,
)
