"""The command `assay meta correlate`: how far metrics agree with people."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from assay.agreement.coefficients import COEFFICIENTS
from assay.agreement.correlate import CorrelateResult
from assay.agreement.findings import CorrelateOptions, correlate_each, prepared
from assay.agreement.panel import Rounding
from assay.cli.commands import Command, list_names, whole_number
from assay.cli.humans import add_given, add_human, add_humans
from assay.cli.inputs import add_inputs, add_metrics
from assay.cli.output import add_output, check_output, show
from assay.cli.panels import panels_of_tables, panels_of_texts
from assay.data import DataError
from assay.progress import track

__all__ = ["CORRELATE"]

DEFAULT_METRICS = ("bleu", "chrf")
DEFAULT_COEFFICIENTS = ("pearson", "kendall")


def _configure(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    _let_be_several(parser, "--data", "several folders are several language pairs")
    _let_be_several(parser, "--languages", "several for a --data folder that holds several")
    add_metrics(parser, DEFAULT_METRICS)
    _add_scores(parser)
    add_human(parser)
    _add_tables(parser)
    _add_questions(parser)
    _add_exclusions(parser)
    add_output(parser)


def _let_be_several(parser: argparse.ArgumentParser, option: str, remark: str) -> None:
    action = parser._option_string_actions[option]
    action.nargs, action.help = "+", f"{action.help}; {remark}"


def _add_scores(parser: argparse.ArgumentParser) -> None:
    group = parser._action_groups[-1]
    add_given(group)
    group.add_argument(
        "--round",
        nargs="+",
        action="extend",
        default=[],
        metavar="DIGITS",
        help="correlate scores as printed, with so many decimals; METRIC=DIGITS for one metric, "
        "as in --round 1 chrf1=0",
    )


def _add_tables(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("tables of scores, instead of texts").add_argument
    add(
        "--table",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="TSV or CSV with a header and a row for each system; -m chooses columns",
    )
    add(
        "--pair-column",
        nargs="+",
        default=[],
        metavar="NAME",
        help="what tells language pairs apart (default: Langs, pair or lp, if there)",
    )
    add("--system-column", metavar="NAME", help="the systems' names (default: System, if there)")


def _add_questions(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("questions").add_argument
    add(
        "--granularity",
        nargs="+",
        choices=("system", "document", "segment"),
        default=["system"],
        help="what is compared: scores of whole systems, of documents, of segments (default: "
        "system)",
    )
    add(
        "--by",
        choices=("none", "item", "system"),
        default="none",
        help="compare scores of documents or segments within each of them, within each system, "
        "or all with all (default: none)",
    )
    coefficient = add(
        "--coefficient",
        nargs="+",
        default=list(DEFAULT_COEFFICIENTS),
        metavar="NAME",
        help="of {names}, with settings as in wmt:gap=25; kendall-c is kendall:variant=c "
        f"(default: {' '.join(DEFAULT_COEFFICIENTS)})",
    )
    list_names(coefficient, COEFFICIENTS)
    add("--compare", action="store_true", help="which metrics agree better than others?")
    add(
        "--trials",
        type=whole_number(1),
        default=1000,
        metavar="N",
        help="random orders or swaps for the p of documents and segments, --compare and spa "
        "(default: 1000)",
    )
    add("--alpha", type=float, default=0.05, metavar="P", help="significant below (default: 0.05)")


def _add_exclusions(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("who and what counts")
    add = group.add_argument
    add(
        "--outliers",
        choices=("keep", "drop"),
        default="keep",
        help="drop systems whose human score is far from all others (default: keep)",
    )
    add_humans(group)
    add(
        "--leave-out",
        choices=("none", "paper"),
        default="none",
        help="pairs that do not count for means and medians: none, or as in the MacroF1 paper "
        "those where any metric is not significant (default: none)",
    )


def _run(args: argparse.Namespace) -> int:
    questions = CorrelateOptions(
        coefficients=tuple(args.coefficient),
        by=args.by,
        compare=args.compare,
        trials=args.trials,
        alpha=args.alpha,
        leave_out=args.leave_out,
        outliers=args.outliers,
        humans=args.humans,
    )
    rounding = _rounding(args.round)
    if args.table:
        panels, files = panels_of_tables(args, rounding)
    else:
        panels, files = panels_of_texts(args, questions, rounding)
    check_output(args, files)
    ready = [prepared(panel, questions) for panel in panels]
    steps = correlate_each(ready, questions, seed=args.seed)
    total = len(ready) * len(questions.coefficients)
    found = track(steps, total=total, label="Correlating", quiet=args.quiet)
    show(CorrelateResult(tuple(found), questions, args.seed), args, inputs=files)
    return 0


def _rounding(words: Sequence[str]) -> Rounding:
    """From words such as `1` and `chrf1=0`."""
    decimals, by_metric = None, {}
    for word in words:
        name, equals, number = word.rpartition("=")
        try:
            value = int(number)
        except ValueError:
            raise DataError(
                f"--round {word}: give a number of decimals, or METRIC=DECIMALS as in chrf1=0."
            ) from None
        if equals:
            by_metric[name] = value
        else:
            decimals = value
    return Rounding(decimals, by_metric)


CORRELATE = Command(
    name="meta correlate",
    usage="REF ... -i SYS ... --human FILE ... [-m METRIC ...] [options]",
    description=(
        "How far metrics agree with people, and which agree better: correlations and pairwise\n"
        "accuracies of systems, documents or segments, for one language pair or many."
    ),
    examples="""
        assay meta correlate ref.txt -i systems/*.txt --human da.sys.tsv -m bleu chrf ter
        assay meta correlate ref.txt -i sys/*.txt --human da.seg.tsv --granularity segment
        assay meta correlate --data folder -m chrf --granularity segment --by item --compare
        assay meta correlate --data wmt18/* --coefficient kendall --round 1 -o tau.html
        assay meta correlate --table scores.tsv --coefficient kendall --leave-out paper""",
    configure=_configure,
    run=_run,
)
