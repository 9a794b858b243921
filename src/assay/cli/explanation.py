"""The commands `assay explain`, `boost` and `boost tune`."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

from assay.cli.commands import Command, list_names, several, whole_number
from assay.cli.options import (
    add_cluster,
    add_human,
    add_inputs,
    add_metrics,
    asked_metrics,
    describe,
    read_human,
    read_inputs,
    read_metric,
    read_metrics,
)
from assay.cli.output import add_output, check_output, show
from assay.data import DataError, Dataset
from assay.explanation.boost import boost
from assay.explanation.boosted import MOST_ITERATIONS
from assay.explanation.explain import SHOWN, explain
from assay.explanation.explainers import EXPLAINERS
from assay.explanation.tune import EXPLAINED_BY, tune
from assay.progress import track
from assay.results import Record

__all__ = ["BOOST", "BOOST_TUNE", "EXPLAIN", "add_explaining"]


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
        **several(),
        metavar="N",
        help="these segments: numbers, or ranges as in 10-20 (default: all; tables show the "
        f"{SHOWN} worst of them)",
    )
    group = parser.add_argument_group("word-level human labels (tags): 1 or BAD for wrong, 0 or OK")
    add = group.add_argument
    add(
        "--tags",
        **several(),
        metavar="FILE",
        help="of the systems' words, a file per system: how well are the wrong words found?",
    )
    add(
        "--source-tags",
        **several(),
        metavar="FILE",
        help="of the source's words, a file per system, for metrics that read the source",
    )
    add(
        "--top",
        type=whole_number(1),
        metavar="K",
        help="recall among the K most suspect words (default: as many as are tagged)",
    )
    add_output(parser, charts=False)
    add_cluster(parser)


def _run_explain(args: argparse.Namespace) -> int:
    inputs = read_inputs(args)
    metric = read_metric(args, inputs.dataset)
    tagged = dict.fromkeys([*args.tags, *args.source_tags])
    files = [*inputs.files, *(describe(path, len(inputs.dataset)) for path in tagged)]
    check_output(args, files)
    result = explain(
        inputs.dataset,
        metric,
        args.explainer,
        worst=args.worst,
        only=[number for text in args.only for number in _numbers(text, len(inputs.dataset))],
        sides=args.sides,
        tags=args.tags,
        source_tags=args.source_tags,
        top=args.top,
        seed=args.seed,
        cluster=args.cluster,
        track=partial(track, label="Explaining", quiet=args.quiet),
    )
    show(result, args, inputs=files)
    return 0


def _numbers(text: str, length: int) -> range:
    """The numbers of segments that `7` or `10-20` stands for."""
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text, re.ASCII)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 0 < first <= last:
        raise DataError(f"--only {text}: give numbers from 1 up, or ranges as in 10-20.")
    if last > length:
        raise DataError(f"--only {text}: the texts have {length} segments.")
    return range(first, last + 1)


EXPLAIN = Command(
    name="explain",
    usage="REF [REF ...] -i SYS [SYS ...] [-m METRIC] [-e EXPLAINER] [options]",
    description=(
        "What every word does to the score of its segment, by any metric: words that help are\n"
        "green, words that hurt are red. The hypothesis and what it is compared with are each\n"
        "explained by themselves, the other held fixed. With word-level human labels it tells how\n"
        "well the wrong words are found, as in Eval4NLP 2021."
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
    add_cluster(parser)


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
    metric = read_metric(args, inputs.dataset)
    check_output(args, inputs.files)
    result = boost(
        inputs.dataset,
        metric,
        args.explainer,
        w=args.w,
        p=args.p,
        regular=args.regular,
        iterations=args.iterations,
        sides=args.sides,
        by_segment=args.segments,
        seed=args.seed,
        cluster=args.cluster,
        track=partial(track, label="Explaining", quiet=args.quiet),
    )
    show(result, args, inputs=inputs.files)
    return 0


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


def _configure_boost_tune(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    action = parser._option_string_actions["--data"]
    action.nargs, action.help = "+", f"{action.help}; several folders are several datasets"
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
        f"(default: {' '.join(EXPLAINED_BY)})",
    )
    list_names(explainer, EXPLAINERS)
    add_explaining(parser)
    add(
        "--test-data",
        **several(),
        metavar="FOLDER",
        help="datasets on which the medians of what was best are tried, as folders like --data",
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
    add_cluster(parser)


def _run_boost_tune(args: argparse.Namespace) -> int:
    files: list[Record] = []
    data = [_read_rated(call, files) for call in _calls(args)]
    test_data = [_read_rated(call, files) for call in _test_calls(args)]
    check_output(args, files)
    result = tune(
        data,
        asked_metrics(args),
        args.explainer or EXPLAINED_BY,
        test_data=test_data,
        regular=args.regular,
        sides=args.sides,
        trials=args.trials,
        grid=args.grid,
        seed=args.seed,
        cluster=args.cluster,
        track=partial(track, label="Explaining", quiet=args.quiet),
    )
    show(result, args, inputs=files)
    return 0


def _calls(args: argparse.Namespace) -> list[argparse.Namespace]:
    """The options of each dataset: a folder or several, or files."""
    if args.data and len(args.data) > 1 and any(Path(each).is_file() for each in args.human):
        raise DataError("--human FILE goes with one dataset; with several it lies in the folders.")
    return [_with(args, data=folder) for folder in args.data or [None]]


def _test_calls(args: argparse.Namespace) -> list[argparse.Namespace]:
    """The same for the datasets of `--test-data`, which bring all their texts."""
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


def _read_rated(args: argparse.Namespace, files: list[Record]) -> Dataset:
    """A dataset with its human scores; its files are added to the record."""
    inputs = read_inputs(args)
    read_metrics(args, inputs.dataset)  # takes note of the languages that metrics depend on
    human = read_human(args, inputs.dataset, "tune on: name a file")
    rated = [scores for scores in human if scores.granularity == "segment"]
    files += [*inputs.files, *(describe(own.source, len(inputs.dataset)) for own in rated)]
    by_name = {f"{scores.name} ({scores.granularity})": scores for scores in human}
    return replace(inputs.dataset, human=by_name)


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
