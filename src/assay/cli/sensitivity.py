"""The command `assay meta sensitivity`: whether metrics tell as much about good systems."""

from __future__ import annotations

import argparse
from functools import partial

from assay.agreement.sensitivity.analysis import sensitivity
from assay.cli.commands import Command, whole_number
from assay.cli.humans import add_given, add_human, add_humans, read_given, read_human
from assay.cli.inputs import add_inputs, add_metrics, describe, read_inputs, read_metrics
from assay.cli.output import add_output, check_output, show
from assay.progress import track

__all__ = ["SENSITIVITY"]

DEFAULT_METRICS = ("bleu", "chrf")


def _configure(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, DEFAULT_METRICS)
    add_given(parser.add_argument_group("metrics from elsewhere"))
    add_human(parser)
    _add_texts(parser)
    _add_questions(parser)
    add_output(parser)


def _add_texts(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("texts to compare within a system")
    group.add_argument(
        "--section",
        type=whole_number(1),
        metavar="N",
        help="sections of N segments instead of documents",
    )
    add_humans(group)


def _add_questions(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("questions").add_argument
    add(
        "--coefficient",
        default="pearson",
        metavar="NAME",
        help="of both stages: pearson, spearman, kendall or kendall-c (default: pearson)",
    )
    add(
        "--resamples",
        type=whole_number(1),
        default=1000,
        metavar="N",
        help="of texts and systems, for intervals (default: 1000)",
    )
    add("--best", action="store_true", help="agreement among only the best k systems, for every k")
    add(
        "--sizes",
        nargs="*",
        type=whole_number(1),
        metavar="WORDS",
        help="agreement of a metric that sees only so many words (without numbers: a range)",
    )
    add(
        "--reach",
        type=float,
        default=0.8,
        metavar="R",
        help="with --sizes: an agreement of R counts as agreeing (default: 0.8)",
    )
    add(
        "--slope",
        metavar="SYSTEM",
        help="difficulty slope of every system against this one",
    )


def _run(args: argparse.Namespace) -> int:
    inputs = read_inputs(args)
    dataset = inputs.dataset
    human = read_human(
        args, dataset, "compare with: name a file with scores of segments or documents"
    )
    files = [*inputs.files, *(describe(own.source, len(dataset)) for own in human)]
    check_output(args, files)
    result = sensitivity(
        dataset,
        partial(read_metrics, args),
        human=human,
        section=args.section,
        coefficient=args.coefficient,
        resamples=args.resamples,
        best=args.best,
        sizes=args.sizes,
        reach=args.reach,
        slope=args.slope,
        scores=read_given(args, dataset),
        lower=args.lower,
        humans=args.humans,
        seed=args.seed,
        track=partial(track, label="Resampling", quiet=args.quiet),
    )
    show(result, args, inputs=files)
    return 0


SENSITIVITY = Command(
    name="meta sensitivity",
    usage="REF ... -i SYS ... --docs FILE --human FILE [options]",
    description=(
        "Does a metric tell less where systems are better (Babych and Hartley, 2008)? First, for\n"
        "each system, how far its scores of texts follow people's: its sensitivity. Then, over\n"
        "systems, how far sensitivity follows quality: below 0 the metric goes blind on good\n"
        "systems, around 0 it does not. Both with intervals."
    ),
    examples="""
        assay meta sensitivity ref.txt -i systems/*.txt --docs docs.tsv --human da.seg.tsv
        assay meta sensitivity --data folder --section 10 -m bleu chrf macrof entities
        assay meta sensitivity --data folder --section 10 --best --sizes -o sensitivity.html
        assay meta sensitivity --data folder --section 10 --slope atlas""",
    configure=_configure,
    run=_run,
)
