"""The commands `assay explain`, `boost` and `boost tune`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.cli.commands import Command, list_names, whole_number
from assay.cli.humans import add_human, read_human
from assay.cli.inputs import Inputs, add_inputs, add_metrics, describe, read_inputs, read_metrics
from assay.cli.output import add_output, check_output, show
from assay.data import DataError, Dataset, without_humans
from assay.explanation.boosted import MOST_ITERATIONS, PUBLISHED, Boosted, BoostResult
from assay.explanation.explain import Side, explain_systems, sides_of, worst_segments
from assay.explanation.explainers import EXPLAINERS, Explainer
from assay.explanation.quality import WordTags, read_word_tags
from assay.explanation.report import ExplainResult
from assay.explanation.study import TuneResult, try_medians
from assay.explanation.tuning import Evidence, Judged, gather, tune
from assay.metrics.base import Metric
from assay.progress import track
from assay.results import Record
from assay.statistics.arrays import Array
from assay.statistics.correlation import pearson_swap_test

__all__ = ["BOOST", "BOOST_TUNE", "EXPLAIN", "add_explaining"]

SHOWN = 10
"""Tables show so many segments, the worst, where none are asked for."""


def _configure_explain(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, ["chrf"])
    add = parser.add_argument_group("explanations").add_argument
    explainer = add(
        "-e",
        "--explainer",
        default="lime",
        metavar="EXPLAINER",
        help="{names}, with settings as in lime:samples=50 (default: lime)",
    )
    list_names(explainer, EXPLAINERS)
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


def _run_explain(args: argparse.Namespace) -> int:
    explainer = EXPLAINERS.parse(args.explainer)
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


EXPLAIN = Command(
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
    configure=_configure_explain,
    run=_run_explain,
)


def _configure_boost(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, ["chrf"])
    add = parser.add_argument_group("boosting").add_argument
    explainer = add(
        "-e",
        "--explainer",
        default="lime",
        metavar="EXPLAINER",
        help="what says how important words are, with settings as in lime:samples=50. There are "
        "{names} (default: lime)",
    )
    list_names(explainer, EXPLAINERS)
    add("--w", type=float, metavar="SHARE", help="weight of the metric as it is (default: paper's)")
    add(
        "--p", metavar="POWER", help="of the mean: a number, inf, or as --p=-inf (default: paper's)"
    )
    add_explaining(parser)
    parser._action_groups[-1].add_argument(
        "--iterations",
        type=whole_number(1, MOST_ITERATIONS),
        default=1,
        metavar="N",
        help="boost the boosted metric again, so often in all (default: 1)",
    )
    add("-sl", "--segments", action="store_true", help="show every segment, too")
    add_output(parser)


def add_explaining(parser: argparse.ArgumentParser) -> None:
    """`--regular` and `--sides`, in the group that was added last."""
    add = parser._action_groups[-1].add_argument
    add(
        "--regular",
        choices=("paper", "shift"),
        default="paper",
        help="how importances are made positive, on the metric's own scale: paper adds the size of "
        "the segment's least importance and 1e-9 of the metric's range, and negative powers often "
        "collapse; shift adds the segment's mean absolute importance besides, and none does "
        "(default: paper)",
    )
    add(
        "--sides",
        choices=("both", "hypothesis"),
        default="both",
        help="whose words are explained: reference (or source) and output, or the output alone "
        "(default: both)",
    )


def _run_boost(args: argparse.Namespace) -> int:
    inputs = read_inputs(args)
    metric = _boosted(args, read_metrics(args, inputs.dataset)).for_dataset(inputs.dataset)
    check_output(args, inputs.files)
    systems = {
        name: metric.boosting(
            inputs.dataset.segments(name),
            track=partial(track, label=f"Explaining {name}", quiet=args.quiet),
        )
        for name in inputs.dataset.systems
    }
    show(BoostResult(metric, systems, args.segments), args, inputs=inputs.files)
    return 0


def _boosted(args: argparse.Namespace, metrics: list[Metric]) -> Boosted:
    if len(metrics) > 1:
        raise DataError("one metric is boosted at a time: name one with -m.")
    explainer = EXPLAINERS.parse(args.explainer)
    usual = PUBLISHED.get(explainer.name, PUBLISHED["lime"])
    return Boosted(
        metric=metrics[0],
        explainer=explainer,
        w=usual.w if args.w is None else args.w,
        p=usual.p if args.p is None else args.p,
        regular=args.regular,
        iterations=args.iterations,
        sides=args.sides,
        random_seed=args.seed,
    )


BOOST = Command(
    name="boost",
    usage="REF ... -i SYS ... [-m METRIC] [-e EXPLAINER] [options]",
    description=(
        "Make a metric better by explanations of itself (Leiter et al., 2022): a share of its own\n"
        "score, and for the rest a power mean of how important each word is to that score. The\n"
        "boosted metric works everywhere, as -m boost:metric=chrf,explainer=lime,w=0.4,p=-1.4."
    ),
    examples="""
        assay boost ref.txt -i a.txt -m chrf -e lime --w 0.4 --p -1.4 --format json
        assay boost ref.txt -i a.txt b.txt -m chrf -e erasure --regular shift
        assay boost ref.txt -i a.txt -m bleu:effective_order=yes -e shap --segments
        assay score ref.txt -i a.txt b.txt -m chrf boost:metric=chrf,explainer=erasure
        assay score ref.txt -i a.txt -m 'boost:metric=bleu(effective_order=yes),w=0.6'""",
    configure=_configure_boost,
    run=_run_boost,
)


DEFAULT_EXPLAINERS = ("erasure", "lime", "shap")


def _configure_boost_tune(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    action = parser._option_string_actions["--data"]
    action.nargs, action.help = "+", f"{action.help}; several folders are several data sets"
    add_metrics(parser, ["chrf"])
    add_human(parser)
    add = parser.add_argument_group("boosting").add_argument
    explainer = add(
        "-e",
        "--explainer",
        nargs="+",
        action="extend",
        metavar="EXPLAINER",
        help="what says how important words are. There are {names} "
        f"(default: {' '.join(DEFAULT_EXPLAINERS)})",
    )
    list_names(explainer, EXPLAINERS)
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


def _run_boost_tune(args: argparse.Namespace) -> int:
    explainers = [EXPLAINERS.parse(text) for text in args.explainer or DEFAULT_EXPLAINERS]
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
    dataset = inputs.dataset
    human = read_human(args, dataset, "tune on: name a file")
    fitting = [own for own in human if own.granularity == "segment"]
    if len(fitting) != 1:
        known = ", ".join(f"{own.name} ({own.granularity})" for own in human)
        raise DataError(
            f"boosting is tuned on one kind of human scores of segments, but there are {known}. "
            "Choose with --human or --human-column."
        )
    return Judged.of(dataset, fitting[0]), fitting[0].source


def _differ(first: Array, second: Array, gold: Array, *, trials: int, seed: int) -> float:
    """The two-sided p of two metrics agreeing differently with people."""
    return pearson_swap_test(first, second, gold, trials=trials, rng=np.random.default_rng(seed))


BOOST_TUNE = Command(
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
    configure=_configure_boost_tune,
    run=_run_boost_tune,
)
