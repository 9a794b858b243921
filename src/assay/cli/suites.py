"""The commands `assay suite run`, `report`, `compare` and `lint`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, get_args

from assay.cli.commands import Command, several, whole_number
from assay.cli.options import add_names, add_store, describe, store_options
from assay.cli.output import add_output, check_output, show, warn
from assay.cli.suite_exchange import add_db, open_db
from assay.data import DataError
from assay.progress import track
from assay.results import Record
from assay.suites.accuracy import Correction, Policy, Test
from assay.suites.compare_report import name_hints
from assay.suites.evaluation import add_suite_run, run_suite, suite_compare, suite_report
from assay.suites.files import read_suite
from assay.suites.lint import CHECKS, lint_suite, refuse_unknown
from assay.suites.report import RunResult
from assay.suites.tables import SystemScores, read_system_scores
from assay.suites.versions import Average, Paired

if TYPE_CHECKING:
    from assay.suites.model import Run, Suite

__all__ = ["SUITE_COMPARE", "SUITE_LINT", "SUITE_REPORT", "SUITE_RUN"]


def _configure_suite_run(parser: argparse.ArgumentParser) -> None:
    _add_outputs(parser)
    group = parser.add_argument_group("storing (with --db)")
    add = group.add_argument
    add(
        "--campaign",
        metavar="NAME",
        default="",
        help="the campaign of the runs, as in wmt21",
    )
    add("--date", metavar="DATE", default="", help="the date of the runs, as in 2021-07-30")
    add(
        "--replace",
        action="store_true",
        help="replace the outputs that a system already has in the campaign",
    )
    _add_examples(parser.add_argument_group("shown"), "failing items per category to show")
    add_store(parser)
    add_output(parser, charts=False)


def _run_suite_run(args: argparse.Namespace) -> int:
    if args.db:
        run, files = _save(args)
    elif args.campaign or args.date or args.replace:
        raise DataError("--campaign, --date and --replace are for runs to be stored: with --db.")
    else:
        run, files = _run_on_files(args)
    kept = store_options(args)
    if kept["store"]:
        each = suite_report(run, policy="each")
        add_suite_run(kept["store"], "suite run", each, kept["run_name"])
    show(run, args, inputs=files)
    return 0


def _save(args: argparse.Namespace) -> tuple[RunResult, list[Record]]:
    from assay.suites.store.runs import save_runs
    from assay.suites.store.suites import load_suite

    if args.items:
        raise DataError(
            f"--db has the items already; leave {args.items} out, or bring it in first: "
            f"assay suite import {args.items} --db {args.db}"
        )
    with closing(open_db(args)) as store:
        with store.read() as connection:
            suite = load_suite(connection)
        runs, files = _read_outputs(args, suite, campaign=args.campaign, date=args.date)
        files = [_database(store.address, len(suite)), *files]
        check_output(args, files)
        watched = partial(track, label="Checking", quiet=args.quiet)
        run = save_runs(store, runs, replace=args.replace, track=watched)
    warn([f"{store.address}, {trouble}" for trouble in run.trouble], quiet=args.quiet)
    _tell(args, len(runs), str(store.address))
    return replace(run, examples=args.examples), files


def _tell(args: argparse.Namespace, runs: int, where: str) -> None:
    if not args.quiet:
        campaign = f" of {args.campaign}" if args.campaign else ""
        print(f"stored {runs} run{'s' if runs > 1 else ''}{campaign} in {where}", file=sys.stderr)


SUITE_RUN = Command(
    name="suite run",
    usage="ITEMS -i SYS ... [--ids FILE] | --db DB -i SYS ... [options]",
    description=(
        "Check the outputs of systems against the rules of a linguistic test suite. Where only\n"
        "positive rules match, an output passes; where only negative ones do, it fails; where\n"
        "both or neither do, it is a warning, for people to resolve (assay suite serve). With\n"
        "--db the outputs are stored, and people's decisions count."
    ),
    examples="""
        assay suite run items.json -i sysA.txt sysB.txt --ids item_ids.txt
        assay suite run items.json -i sysA.txt --ids item_ids.txt --examples 5 -o run.html
        assay suite run items.json -i sysA.txt sysB.txt --ids item_ids.txt --format json
        assay suite run --db suite.db -i sysA.txt --ids item_ids.txt --campaign wmt23""",
    configure=_configure_suite_run,
    run=_run_suite_run,
)


def _configure_suite_report(parser: argparse.ArgumentParser) -> None:
    _add_outputs(parser)
    _add_choice(parser, "the latest")
    group = parser.add_argument_group("accuracies")
    _add_policy(
        group,
        get_args(Test),
        "which systems are worse than the best of a row: McNemar's test on the shared items, mid-p "
        "or exact, or the paper's one-tailed Z-test, approximate (default: midp)",
        get_args(Correction),
        "correction for the number of comparisons: Holm's over all pairs of systems in a row "
        "(row), none, as in the paper, or Holm's or Benjamini and Hochberg's over those of all "
        "rows of a kind (default: row)",
    )
    group.add_argument(
        "--scores",
        metavar="FILE",
        help="scores to show below the accuracies: the json or tsv of `assay score`, or a table "
        "with the column system and one per metric",
    )
    _add_examples(group, "failing items per category to show")
    add_store(parser)
    add_output(parser)


def _run_suite_report(args: argparse.Namespace) -> int:
    run, files = _stored_run(args) if args.db else _reported_run(args)
    scores: tuple[SystemScores, ...] = ()
    if args.scores:
        scores = read_system_scores(args.scores, run.verdicts.systems)
        files = [*files, describe(args.scores, len(run.verdicts.systems))]
    check_output(args, files)
    result = suite_report(
        run,
        policy=args.policy,
        test=args.test,
        correct=args.correct,
        level=args.level,
        scores=scores,
        examples=args.examples,
        **store_options(args),
    )
    show(result, args, inputs=files)
    return 0


def _reported_run(args: argparse.Namespace) -> _RunOnFiles:
    _refuse_choice(args)
    return _run_on_files(args)


def _stored_run(args: argparse.Namespace) -> _RunOnFiles:
    _refuse_files(args)
    with closing(open_db(args)) as store:
        from assay.suites.store.runs import read_run

        run = read_run(store, args.runs, args.systems)
        return _RunOnFiles(run, [_database(store.address, len(run.verdicts.items))])


SUITE_REPORT = Command(
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
    configure=_configure_suite_report,
    run=_run_suite_report,
)


def _configure_suite_compare(parser: argparse.ArgumentParser) -> None:
    _add_outputs(parser)
    _add_choice(parser, "all, by date")
    group = parser.add_argument_group("comparison")
    _add_policy(
        group,
        get_args(Paired),
        "McNemar's test on the common items, mid-p or exact (default: midp)",
        ("none", "holm", "bh"),
        "correction of gains for the number of rows of a kind (default: none)",
    )
    group.add_argument(
        "--best-by",
        choices=get_args(Average),
        default="category macro",
        help="the average that makes a system the best of its campaign (default: category macro)",
    )
    _add_examples(group, "items that were lost, and that were gained, to show per step", 3)
    add_output(parser)


def _run_suite_compare(args: argparse.Namespace) -> int:
    runs, files = _stored_campaigns(args) if args.db else _versions(args)
    check_output(args, files)
    result = suite_compare(
        runs,
        policy=args.policy,
        test=args.test,
        correct=args.correct,
        level=args.level,
        best_by=args.best_by,
        examples=args.examples,
    )
    warn(name_hints(result.versions), quiet=args.quiet)
    show(result, args, inputs=files)
    return 0


def _versions(args: argparse.Namespace) -> _RunOnFiles:
    """Files are versions of one system, from the oldest to the newest."""
    _refuse_choice(args)
    if args.items and len(args.input) < 2:
        raise DataError("suite compare sets versions side by side: name two or more with -i.")
    return _run_on_files(args)


def _stored_campaigns(
    args: argparse.Namespace,
) -> tuple[Mapping[str, RunResult] | RunResult, list[Record]]:
    _refuse_files(args)
    with closing(open_db(args)) as store:
        from assay.suites.store.runs import read_campaigns

        runs = read_campaigns(store, args.runs, args.systems)
        every = [runs] if isinstance(runs, RunResult) else runs.values()
        return runs, [_database(store.address, max(len(run.verdicts.items) for run in every))]


SUITE_COMPARE = Command(
    name="suite compare",
    usage="--db DB [--runs CAMPAIGN ...] | ITEMS -i OLD NEW ... [options]",
    description=(
        "What became better and worse from one campaign to the next, or from one version of a\n"
        "system to the next, on the items that they have in common: the best system of each\n"
        "campaign, every system's gains and losses by category and phenomenon, and the items that\n"
        "flipped (Avramidis et al., 2020, Tables 4 and 6)."
    ),
    examples="""
        assay suite compare --db suite.db --runs wmt21 wmt22
        assay suite compare --db suite.db --runs wmt21 wmt22 --systems sysA --examples 10
        assay suite compare --db suite.db --runs wmt22 --systems sysA sysB
        assay suite compare items.json -i old.txt new.txt --ids item_ids.txt -o compare.html""",
    configure=_configure_suite_compare,
    run=_run_suite_compare,
)


def _configure_suite_lint(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("items", metavar="ITEMS", help="the suite: .json, .jsonl or .tsv")
    add = parser.add_argument_group("what to look for").add_argument
    add(
        "--only",
        **several(),
        metavar="CHECK",
        help=f"these checks only: {', '.join(CHECKS)}",
    )
    add("--all", action="store_true", help="show all problems, not only the first of each kind")
    add("--strict", action="store_true", help="end with status 1 if there are errors")
    add_output(parser, charts=False)


def _run_suite_lint(args: argparse.Namespace) -> int:
    refuse_unknown(args.only)
    suite = read_suite(args.items)
    inputs = [describe(args.items, len(suite))]
    check_output(args, inputs)
    watched = partial(track, label="Linting", quiet=args.quiet)
    result = lint_suite(suite, only=args.only, track=watched)
    show(result.all() if args.all else result, args, inputs=inputs)
    return int(args.strict and bool(result.errors))


SUITE_LINT = Command(
    name="suite lint",
    usage="ITEMS [--only CHECK ...] [--strict] [options]",
    description=(
        "Find what is wrong or odd in a test suite before it costs you annotations: patterns that\n"
        "cannot be read or search for ever, rules that contradict each other or do nothing, items\n"
        "without rules, phenomena with too few items, names that are misspelt. Errors make\n"
        "verdicts wrong or keep them away; warnings are probably slips; the rest is worth knowing."
    ),
    examples="""
        assay suite lint items.json                              a summary, then the gravest
        assay suite lint items.json --only contradiction --all   everything of one kind
        assay suite lint items.json --strict -o lint.tsv         for scripts: 1 if errors""",
    configure=_configure_suite_lint,
    run=_run_suite_lint,
)


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    """The suite and the systems: as files, or in a database."""
    group = parser.add_argument_group("suite and outputs")
    add = group.add_argument
    add("items", nargs="?", metavar="ITEMS", help="the suite: .json, .jsonl or .tsv (.gz, .xz)")
    add(
        "-i",
        "--input",
        **several(),
        metavar="SYS",
        help="outputs of the systems, one file each: one line per item, or a .tsv with the columns "
        "item and output",
    )
    add(
        "--ids",
        metavar="FILE",
        help="the ids of the items in the order of the lines of -i (default: the suite's order)",
    )
    add_names(group)
    add_db(group)


def _add_choice(parser: argparse.ArgumentParser, default: str) -> None:
    """Which of the stored runs; `default` says which they are where none is named."""
    group = parser.add_argument_group("stored runs (with --db)")
    add = group.add_argument
    add(
        "--runs",
        **several(),
        metavar="CAMPAIGN",
        help=f"campaigns to look at (default: {default})",
    )
    add(
        "--systems",
        **several(),
        metavar="NAME",
        help="systems to look at (default: all)",
    )


def _add_policy(
    group: argparse._ArgumentGroup,
    tests: Sequence[str],
    what: str,
    corrections: Sequence[Correction],
    correcting: str,
) -> None:
    """What counts, and how it is tested; of tests and corrections the first is the default."""
    group.add_argument(
        "--policy",
        choices=get_args(Policy),
        default="fair",
        help="which items count: those decided for every system (fair), for each system those "
        "decided for it (each), or all, a warning counting as a fail or a pass (default: fair)",
    )
    group.add_argument("--test", choices=tests, default=tests[0], help=what)
    group.add_argument(
        "--correct",
        choices=corrections,
        default=corrections[0],
        help=correcting,
    )
    group.add_argument(
        "--confidence-level",
        dest="level",
        type=float,
        default=0.95,
        metavar="SHARE",
        help="confidence of intervals and tests (default: 0.95)",
    )


def _add_examples(parser: argparse._ActionsContainer, what: str, default: int = 1) -> None:
    """How many examples to show."""
    parser.add_argument(
        "--examples",
        type=whole_number(0),
        default=default,
        metavar="N",
        help=f"{what} (default: {default})",
    )


class _RunOnFiles(NamedTuple):
    """What rules say of the outputs in files, and a record of each file."""

    run: RunResult
    files: list[Record]


def _read_outputs(
    args: argparse.Namespace, suite: Suite, **about: str
) -> tuple[list[Run], list[Record]]:
    """The runs that the options name, and a record of each file."""
    from assay.suites.files import read_runs

    if not args.input:
        raise DataError("no outputs to look at: name the systems' files with -i.")
    runs = read_runs(suite, args.input, ids=args.ids, names=args.names, **about)
    files = [describe(path, len(run.outputs)) for path, run in zip(args.input, runs, strict=True)]
    if args.ids:
        files.append(describe(args.ids, files[0]["segments"]))
    return runs, files


def _run_on_files(args: argparse.Namespace) -> _RunOnFiles:
    """The suite's rules at work on the outputs of `-i`."""
    if not args.items:
        raise DataError("no suite: name its file before -i, or a database with --db.")
    suite = read_suite(args.items)
    runs, files = _read_outputs(args, suite)
    files = [describe(args.items, len(suite)), *files]
    check_output(args, files)
    watched = partial(track, label="Checking", quiet=args.quiet)
    run = run_suite(suite, runs, examples=args.examples, track=watched)
    warn([f"{args.items}, {trouble}" for trouble in run.trouble], quiet=args.quiet)
    return _RunOnFiles(run, files)


def _refuse_choice(args: argparse.Namespace) -> None:
    """Raise a `DataError` where stored runs are chosen without a database."""
    if args.runs or args.systems:
        raise DataError("--runs and --systems choose among stored runs: they go with --db.")


def _refuse_files(args: argparse.Namespace) -> None:
    """Raise a `DataError` where files are named beside the database that has them stored."""
    if args.items or args.input or args.ids or args.names:
        raise DataError(
            "--db has items and runs stored: leave ITEMS, -i, --ids and --names out. "
            "More runs come in by: assay suite run --db DB -i SYS ..."
        )


def _database(address: object, items: int) -> Record:
    """A database that was read, for the record; it has no digest, for others write to it."""
    return {"path": str(address), "sha256": None, "segments": items}
