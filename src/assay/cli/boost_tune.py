"""The command `assay boost tune`: the weight and power that agree best with people."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assay.bmx.evidence import Evidence, Judged, gather
from assay.bmx.explainer import Explainer
from assay.bmx.explaining import sides_of
from assay.bmx.named import explainer_named, explainer_names
from assay.bmx.study import TuneResult, try_medians
from assay.bmx.tuning import tune
from assay.cli.boost import add_explaining
from assay.cli.commands import Command, whole_number
from assay.cli.inputs import Inputs, add_inputs, add_metrics, describe, read_inputs, read_metrics
from assay.cli.meta_golds import add_golds, folder_golds, read_golds
from assay.cli.output import add_output, check_output, show
from assay.cli.progress import track
from assay.data import DataError
from assay.meta.coefficients import Pearson
from assay.meta.differences import permutation_p
from assay.meta.humans import without_humans
from assay.metrics.base import Array, Metric
from assay.results import Record

__all__ = ["COMMAND"]

METRICS = ("chrf",)
EXPLAINERS = ("erasure", "lime", "shap")


def _configure(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    action = parser._option_string_actions["--data"]
    action.nargs, action.help = "+", f"{action.help}; several folders are several data sets"
    add_metrics(parser, METRICS)
    add_golds(parser)
    add = parser.add_argument_group("boosting").add_argument
    add(
        "-e",
        "--explainer",
        nargs="+",
        action="extend",
        metavar="EXPLAINER",
        help=f"what says how important words are. There are {', '.join(explainer_names())} "
        f"(default: {' '.join(EXPLAINERS)})",
    )
    add_explaining(parser)
    add(
        "--test-data",
        nargs="+",
        action="extend",
        default=[],
        metavar="FOLDER",
        help="data sets on which the medians of what was found are tried, as folders like --data",
    )
    add(
        "--trials",
        type=whole_number(1),
        default=1000,
        metavar="N",
        help="random swaps for the test against the metric as it is (default: 1000)",
    )
    add("--grid", action="store_true", help="json and tsv have every point of the grid")
    add_output(parser)


class _Work(NamedTuple):
    """One metric to be explained by one explainer on one data set."""

    judged: Judged
    metric: Metric
    explainer: Explainer


def _run(args: argparse.Namespace) -> int:
    explainers = [explainer_named(each) for each in args.explainer or EXPLAINERS]
    files: list[Record] = []
    work = [each for call in _calls(args) for each in _work(call, explainers, files)]
    unseen = [each for call in _test_calls(args) for each in _work(call, explainers, files)]
    check_output(args, files)
    test = partial(_differ, trials=args.trials, seed=args.seed)
    tuned = tuple(
        tune(
            _gather(args, each),
            regular=args.regular,
            test=test,
            rng=np.random.default_rng(args.seed),
        )
        for each in work
    )
    found = TuneResult(tuned, grid=args.grid)
    tested = tuple(try_medians(found, _gather(args, each), test=test) for each in unseen)
    show(TuneResult(tuned, tested, args.grid, args.trials), args, inputs=files)
    return 0


def _gather(args: argparse.Namespace, work: _Work) -> Evidence:
    label = f"Explaining {work.metric} by {work.explainer}"
    shown = partial(track, label=label, quiet=args.quiet)
    return gather(*work, sides=args.sides, seed=args.seed, track=shown)


def _calls(args: argparse.Namespace) -> list[argparse.Namespace]:
    """The options of each data set: a folder or several, or files."""
    if args.data and len(args.data) > 1 and any(Path(each).is_file() for each in args.human):
        raise DataError("--human FILE goes with one data set; with several it lies in the folders.")
    return [_with(args, data=folder) for folder in args.data or [None]]


def _test_calls(args: argparse.Namespace) -> list[argparse.Namespace]:
    """The same for the data sets of `--test-data`, which bring all their texts."""
    names = [each for each in args.human if not Path(each).is_file()]
    bare: dict[str, object] = {
        "references": [],
        "input": [],
        "source": None,
        "docs": None,
        "names": None,
    }
    bare |= {"human": names, "test_set": None}
    return [_with(args, data=folder, **bare) for folder in args.test_data]


def _with(args: argparse.Namespace, **changes: object) -> argparse.Namespace:
    return argparse.Namespace(**vars(args) | changes)


def _work(
    args: argparse.Namespace, explainers: Sequence[Explainer], files: list[Record]
) -> list[_Work]:
    """Every metric with every explainer on one data set; its files are added to the record."""
    read = read_inputs(args)
    dataset = without_humans(read.dataset)
    metrics = read_metrics(args, dataset)
    for metric, explainer in product(metrics, explainers):
        only = args.sides == "hypothesis"
        explainer.check_dataset(dataset, sides_of(metric, hypothesis_only=only))
    judged, source = _judged(args, Inputs(dataset, read.files))
    files += [*read.files, describe(source, len(dataset))]
    return [_Work(judged, metric, each) for metric in metrics for each in explainers]


def _judged(args: argparse.Namespace, inputs: Inputs) -> tuple[Judged, str]:
    """The segments that people scored, and the file that says so."""
    names = [each for each in args.human if args.data and not Path(each).is_file()]
    paths = [each for each in args.human if each not in names]
    if not paths and not args.data:
        raise DataError("no human scores to tune on: name a file with --human.")
    dataset, columns = inputs.dataset, args.human_column
    golds = (
        read_golds(paths, dataset, columns=columns)
        if paths
        else folder_golds(args.data, dataset, names=names, columns=columns)
    )
    fitting = [each for each in golds if each.scores.level == "segment"]
    if len(fitting) != 1:
        known = ", ".join(f"{each.scores.name} ({each.scores.level})" for each in golds)
        raise DataError(
            f"boosting is tuned on one kind of human scores of segments, but there are {known}. "
            "Choose with --human or --human-column."
        )
    return Judged.of(dataset, fitting[0].scores), fitting[0].source


def _differ(first: Array, second: Array, gold: Array, *, trials: int, seed: int) -> float:
    """The two-sided p of two metrics agreeing otherwise with people."""
    rng = np.random.default_rng(seed)
    return permutation_p(first, second, gold, Pearson(), trials=trials, rng=rng)


COMMAND = Command(
    name="boost tune",
    usage="REF ... -i SYS ... --human FILE [-m METRIC ...] [-e EXPLAINER ...]",
    description=(
        "Find the weight and power with which a boosted metric agrees best with people: the whole\n"
        "grid of Leiter et al. (2022) for every metric and explainer, the medians of what was\n"
        "best, and whether it lasts on segments that had no part in finding it."
    ),
    examples="""
        assay boost tune ref.txt -i a.txt b.txt --human da.seg.tsv -m chrf -e erasure lime
        assay boost tune ref.txt -i a.txt --human da.seg.tsv --regular shift -o boost.html
        assay boost tune --data wmt18/* -m chrf -e erasure --test-data folder
        assay boost tune ref.txt -i a.txt --human da.seg.tsv -e erasure --grid -o grid.tsv""",
    configure=_configure,
    run=_run,
)
