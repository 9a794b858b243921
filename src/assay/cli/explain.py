"""The command `assay explain`: what every word does to the score of its segment."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from assay.bmx.explaining import Side, sides_of
from assay.bmx.named import explainer_named, explainer_names
from assay.bmx.showing import ExplainResult
from assay.bmx.systems import explain_systems, worst_segments
from assay.bmx.wordtags import WordTags, read_word_tags
from assay.cli.commands import Command, whole_number
from assay.cli.inputs import add_inputs, add_metrics, describe, read_inputs, read_metrics
from assay.cli.output import add_output, check_output, show
from assay.cli.progress import track
from assay.data import DataError, Dataset
from assay.metrics.base import Metric

__all__ = ["COMMAND"]

SHOWN = 10
"""Tables show so many segments, the worst, where none are asked for."""


def _configure(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, ["chrf"])
    add = parser.add_argument_group("explanations").add_argument
    add(
        "-e",
        "--explainer",
        default="lime",
        metavar="EXPLAINER",
        help=f"{', '.join(explainer_names())}, with settings as in lime:samples=50 (default: lime)",
    )
    add(
        "--sides",
        choices=("both", "hypothesis"),
        default="both",
        help="whose words are explained: reference (or source) and output, or the output alone "
        "(default: both)",
    )
    add(
        "--worst",
        type=whole_number(1),
        metavar="N",
        help="the N segments with the worst scores, on average over the systems",
    )
    add(
        "--only",
        nargs="+",
        action="extend",
        default=[],
        metavar="N",
        help="these segments: numbers, or ranges as in 10-20 (default: all; tables show the "
        f"{SHOWN} worst of them)",
    )
    group = parser.add_argument_group("people's tags of words: 1 or BAD for wrong, 0 or OK")
    add = group.add_argument
    add(
        "--tags",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="of the systems' words, a file per system: how well are the wrong words found?",
    )
    add(
        "--source-tags",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="of the source's words, a file per system, for metrics that read the source",
    )
    add(
        "--top",
        type=whole_number(1),
        metavar="K",
        help="recall among the K most suspect words (default: as many as are tagged)",
    )
    add_output(parser)


def _run(args: argparse.Namespace) -> int:
    explainer = explainer_named(args.explainer)
    inputs = read_inputs(args)
    metric = _metric(args, inputs.dataset)
    sides = sides_of(metric, hypothesis_only=args.sides == "hypothesis")
    explainer.check_dataset(inputs.dataset, sides)
    files = [*inputs.files, *(describe(path, len(inputs.dataset)) for path in _tag_files(args))]
    check_output(args, files)
    tags = _read_tags(args, inputs.dataset, sides)
    explanations = explain_systems(
        inputs.dataset,
        metric,
        explainer,
        segments=_segments(args, inputs.dataset, metric),
        sides=sides,
        seed=args.seed,
        track=partial(track, label="Explaining", quiet=args.quiet),
    )
    asked = args.worst or args.only
    shown = None if asked else tuple(worst_segments(inputs.dataset, metric, SHOWN))
    show(ExplainResult(explanations, shown, tags, args.top), args, inputs=files)
    return 0


def _metric(args: argparse.Namespace, dataset: Dataset) -> Metric:
    metrics = read_metrics(args, dataset)
    if len(metrics) != 1:
        raise DataError("explain looks at one metric: -m chrf, say.")
    return metrics[0]


def _segments(args: argparse.Namespace, dataset: Dataset, metric: Metric) -> list[int] | None:
    """Positions of the segments that the options choose, or None for all."""
    if args.worst and args.only:
        raise DataError("--worst chooses segments itself; leave --only out.")
    if args.worst:
        return worst_segments(dataset, metric, args.worst)
    places = [at for text in args.only for at in _places(text, len(dataset))]
    return list(dict.fromkeys(places)) or None


def _places(text: str, length: int) -> range:
    """The positions of segments that `7` or `10-20` stands for."""
    found = re.fullmatch(r"(\d+)(?:-(\d+))?", text, re.ASCII)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 0 < first <= last:
        raise DataError(f"--only {text}: give numbers from 1 up, or ranges as in 10-20.")
    if last > length:
        raise DataError(f"--only {text}: the texts have {length} segments.")
    return range(first - 1, last)


def _tag_files(args: argparse.Namespace) -> list[str]:
    return list(dict.fromkeys([*args.tags, *args.source_tags]))


def _read_tags(args: argparse.Namespace, dataset: Dataset, sides: tuple[Side, ...]) -> WordTags:
    if args.source_tags and "source" not in sides:
        raise DataError(
            "--source-tags belong to words of the source, which is not explained here: choose a "
            "metric that reads the source, as -m embed:against=source."
        )
    if args.top and not _tag_files(args):
        raise DataError("--top counts among words that people tagged: give --tags, too.")
    found: dict[tuple[str, Side], Sequence[NDArray[np.bool_]]] = {}
    for system, path in _by_system("--tags", args.tags, dataset):
        found[system, "hypothesis"] = read_word_tags(path, dataset.systems[system], text=system)
    for system, path in _by_system("--source-tags", args.source_tags, dataset):
        found[system, "source"] = read_word_tags(path, dataset.sources, text="the source")
    return found


def _by_system(option: str, paths: list[str], dataset: Dataset) -> Iterable[tuple[str, str]]:
    if paths and len(paths) != len(dataset.systems):
        raise DataError(
            f"{option} names {len(paths)} files, but there are {len(dataset.systems)} systems: "
            "give one for each, in the same order."
        )
    return zip(dataset.systems, paths, strict=False)


COMMAND = Command(
    name="explain",
    usage="REF [REF ...] -i SYS [SYS ...] [-m METRIC] [-e EXPLAINER] [options]",
    description=(
        "What every word does to the score of its segment, by any metric: words that help are\n"
        "green, words that hurt are red. The hypothesis and what it is compared with are each\n"
        "explained by themselves, the other held fixed. With people's tags of words it tells how\n"
        "well the wrong ones are found, as in Eval4NLP 2021."
    ),
    examples="""
        assay explain ref.txt -i a.txt -m chrf -e shap --format json     one record per word
        assay explain ref.txt -i a.txt b.txt -m bleu --worst 20 -o why.html
        assay explain ref.txt -i a.txt -e erasure --only 7 10-12
        assay explain ref.txt -i a.txt --tags a.tags                     are wrong words found?""",
    configure=_configure,
    run=_run,
)
