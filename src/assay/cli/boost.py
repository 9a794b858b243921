"""The command `assay boost`: a metric made better by explanations of itself."""

from __future__ import annotations

import argparse
from functools import partial

from assay.bmx.boost_result import BoostResult
from assay.bmx.boosted import MOST_ITERATIONS, Boosted
from assay.bmx.boosting import PUBLISHED
from assay.bmx.named import explainer_names
from assay.cli.commands import Command, whole_number
from assay.cli.inputs import add_inputs, add_metrics, read_inputs, read_metrics
from assay.cli.output import add_output, check_output, show
from assay.cli.progress import track
from assay.data import DataError
from assay.metrics.base import Metric

__all__ = ["COMMAND", "add_explaining"]


def _configure(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, ["chrf"])
    add = parser.add_argument_group("boosting").add_argument
    names = ", ".join(explainer_names())
    add(
        "-e",
        "--explainer",
        default="lime",
        metavar="EXPLAINER",
        help=f"what says how important words are, with settings as in lime:samples=50. There are "
        f"{names} (default: lime)",
    )
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


def _run(args: argparse.Namespace) -> int:
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
    usual = PUBLISHED.get(args.explainer.partition(":")[0], PUBLISHED["lime"])
    return Boosted(
        metric=str(metrics[0]),
        explainer=args.explainer,
        w=usual.w if args.w is None else args.w,
        p=usual.p if args.p is None else args.p,
        regular=args.regular,
        iterations=args.iterations,
        sides=args.sides,
        random_seed=args.seed,
    )


COMMAND = Command(
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
    configure=_configure,
    run=_run,
)
