"""The command `assay suite compare`: what became better and worse, and what flipped."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, get_args

from assay.cli.commands import Command
from assay.cli.output import add_output, check_output, show, warn
from assay.cli.suite_inputs import (
    add_choice,
    add_examples,
    add_outputs,
    add_policy,
    database,
    judge_files,
    refuse_files,
)
from assay.cli.suite_store import open_db
from assay.data import DataError
from assay.results import Record
from assay.suite.showing.comparing import CompareResult, name_hints
from assay.suite.showing.selecting import as_versions, campaigns, choose
from assay.suite.statistics.versions import Average, Paired, compare_versions
from assay.suite.verdicts import Verdicts

if TYPE_CHECKING:
    from assay.suite.store.opening import Store

__all__ = ["COMMAND"]


def _configure(parser: argparse.ArgumentParser) -> None:
    add_outputs(parser)
    add_choice(parser, "all, by date")
    group = parser.add_argument_group("comparison")
    add_policy(
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
    add_examples(group, "items that were lost, and that were gained, to show per step", 3)
    add_output(parser)


def _run(args: argparse.Namespace) -> int:
    campaigns, files = _stored(args) if args.db else _files(args)
    check_output(args, files)
    found = compare_versions(
        campaigns,
        policy=args.policy,
        test=args.test,
        correct=args.correct,
        level=args.level,
        best_by=args.best_by,
    )
    warn(name_hints(found), quiet=args.quiet)
    show(CompareResult(found, args.examples), args, inputs=files)
    return 0


def _files(args: argparse.Namespace) -> tuple[Mapping[str, Verdicts], list[Record]]:
    """Files are versions of one system, from the oldest to the newest."""
    if args.runs or args.systems:
        raise DataError("--runs and --systems choose among stored runs: they go with --db.")
    if args.items and len(args.input) < 2:
        raise DataError("suite compare sets versions side by side: name two or more with -i.")
    judged = judge_files(args)
    return as_versions(judged.verdicts), judged.files


def _stored(args: argparse.Namespace) -> tuple[Mapping[str, Verdicts], list[Record]]:
    refuse_files(args)
    store = open_db(args)
    try:
        found = _chosen(args, store)
        return found, [database(store.address, max(len(each.items) for each in found.values()))]
    finally:
        store.close()


def _chosen(args: argparse.Namespace, store: Store) -> Mapping[str, Verdicts]:
    """The campaigns; or, where there is but one, the systems that are named, as versions."""
    from assay.suite.store.runs import load_verdicts, stored_runs

    with store.read() as connection:
        stored = stored_runs(connection)
        names = args.runs or campaigns(stored)
        chosen = choose(stored, names, args.systems).runs
        ids = {name: [run.id for run in chosen if run.campaign == name] for name in names}
        found = {name: load_verdicts(connection, each) for name, each in ids.items() if each}
    if len(found) > 1:
        return found
    if len(args.systems) < 2:
        raise DataError(
            f"{' '.join(found) or 'the database'}: one campaign only. Name two with --runs, or two "
            "systems of it with --systems."
        )
    (only,) = found.values()
    return as_versions(only, args.systems)


COMMAND = Command(
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
    configure=_configure,
    run=_run,
)
