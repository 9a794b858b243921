"""The command `assay suite report`: the accuracy of systems by linguistic phenomenon."""

from __future__ import annotations

import argparse
from typing import get_args

from assay.cli.commands import Command
from assay.cli.inputs import describe
from assay.cli.output import add_output, check_output, show
from assay.cli.suite_inputs import add_choice, add_examples, add_outputs, add_policy, read_judged
from assay.suite.showing.results import ReportResult
from assay.suite.showing.scores import SystemScores, read_system_scores
from assay.suite.statistics.accuracy import Correction, Test, accuracies

__all__ = ["COMMAND"]


def _configure(parser: argparse.ArgumentParser) -> None:
    add_outputs(parser)
    add_choice(parser, "the latest")
    group = parser.add_argument_group("accuracies")
    add_policy(
        group,
        get_args(Test),
        "who is worse than the best of a row: McNemar's test on the shared items, mid-p or exact, "
        "or the paper's one-tailed Z-test of two proportions, approximate (default: midp)",
        get_args(Correction),
        "correction for the number of comparisons: Holm's over all pairs of systems in a row "
        "(row), none, as in the paper, or Holm's or Benjamini and Hochberg's over those of all "
        "rows of a kind (default: row)",
    )
    group.add_argument(
        "--scores",
        metavar="FILE",
        help="scores to stand below the accuracies: the json or tsv of `assay score`, or a table "
        "with the column system and one per metric",
    )
    add_examples(group, "failing items per category to show")
    add_output(parser)


def _run(args: argparse.Namespace) -> int:
    judged = read_judged(args)
    files = judged.files
    scores: tuple[SystemScores, ...] = ()
    if args.scores:
        scores = read_system_scores(args.scores, judged.verdicts.systems)
        files = [*files, describe(args.scores, len(judged.verdicts.systems))]
    check_output(args, files)
    found = accuracies(
        judged.verdicts,
        policy=args.policy,
        test=args.test,
        correct=args.correct,
        level=args.level,
    )
    result = ReportResult(judged.verdicts, found, scores, args.examples, judged.about)
    show(result, args, inputs=files)
    return 0


COMMAND = Command(
    name="suite report",
    usage="--db DB | ITEMS -i SYS ... [--ids FILE] [options]",
    description=(
        "How many items of a linguistic test suite each system gets right, by phenomenon and by\n"
        "category, with averages and intervals (Avramidis et al., 2020). In each row the best\n"
        "system and those not significantly worse are in bold."
    ),
    examples="""
        assay suite report --db suite.db
        assay suite report --db suite.db --runs wmt21 -o report.html
        assay suite report --db suite.db --format latex
        assay suite report --db suite.db --policy each --test mcnemar --correct holm
        assay suite report --db suite.db --test z --correct none
        assay suite report items.json -i sysA.txt sysB.txt --ids item_ids.txt""",
    configure=_configure,
    run=_run,
)
