"""Texts, metrics and human scores on the command line, brought together for comparison."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from assay.agreement.findings import CorrelateOptions
from assay.agreement.panel import Panel, Rounding, panels
from assay.agreement.tables import read_score_table
from assay.cli.humans import read_human
from assay.cli.inputs import Inputs, describe, read_inputs, read_metrics
from assay.data import DataError, Dataset
from assay.io import read_scores
from assay.progress import track
from assay.results import Record

__all__ = ["ReadPanels", "panels_of_tables", "panels_of_texts"]


class ReadPanels(NamedTuple):
    """The panels, and the files that they came from."""

    panels: list[Panel]
    files: list[Record]


def panels_of_tables(args: argparse.Namespace, rounding: Rounding) -> ReadPanels:
    """The panels in tables of scores."""
    if args.references or args.input or args.data or args.test_set or args.human or args.scores:
        raise DataError("--table brings all scores: leave REF, -i, --data, --human, --scores out.")
    if args.granularity != ["system"]:
        raise DataError("--table has scores of systems: leave --granularity out.")
    read_panels = [
        replace(panel, candidates=rounding.apply(panel.candidates))
        for path in args.table
        for panel in read_score_table(path).panels(
            humans=args.human_column,
            pairs=args.pair_column,
            system=args.system_column,
            metrics=args.metric or (),
            lower=args.lower,
        )
    ]
    _check_distinct([(panel.pair, panel.human_name) for panel in read_panels])
    files = [describe(path, 0) for path in args.table]
    return ReadPanels(read_panels, files)


def panels_of_texts(
    args: argparse.Namespace, questions: CorrelateOptions, rounding: Rounding
) -> ReadPanels:
    """The panels of every test set that the options name, computed from text."""
    if args.pair_column or args.system_column:
        raise DataError("--pair-column and --system-column go with --table.")
    calls = _calls(args)
    read = [read_inputs(each) for each in calls]
    names = _pair_names([inputs.dataset for inputs in read])
    read_panels: list[Panel] = []
    files: list[Record] = []
    for call, inputs, name in zip(calls, read, names, strict=True):
        own, sources = _panels(call, inputs, name, questions, rounding)
        read_panels += own
        files += [*inputs.files, *(describe(path, len(inputs.dataset)) for path in sources)]
    return ReadPanels(read_panels, files)


def _calls(args: argparse.Namespace) -> list[argparse.Namespace]:
    """The options of each test set: a folder or several, each with its language pair."""
    languages = args.languages or [None]
    if not args.data and len(languages) > 1:
        raise DataError("several language pairs (-l) go with --data FOLDER.")
    pairs = [(folder, pair) for folder in args.data or [None] for pair in languages]
    if len(pairs) > 1 and (args.scores or any(Path(each).is_file() for each in args.human)):
        raise DataError(
            "--scores and --human FILE go with one language pair; with several, human scores lie "
            "in the folders, and --human NAME chooses among them."
        )
    return [
        argparse.Namespace(**vars(args) | {"data": folder, "languages": pair})
        for folder, pair in pairs
    ]


def _pair_names(datasets: Sequence[Dataset]) -> list[str]:
    """The language pairs, with the test sets' names where they alone do not tell."""
    names = ["-".join(each.languages or ()) for each in datasets]
    if len(set(names)) < len(names):
        names = [f"{each.name}/{name}" for each, name in zip(datasets, names, strict=True)]
    _check_distinct(names)
    return names


def _check_distinct(names: Sequence[object]) -> None:
    if twice := next((each for each in names if names.count(each) > 1), None):
        told = " ".join(twice) if isinstance(twice, tuple) else twice
        raise DataError(f"{told} is given twice; leave one out.")


def _panels(
    args: argparse.Namespace,
    inputs: Inputs,
    pair: str,
    questions: CorrelateOptions,
    rounding: Rounding,
) -> tuple[list[Panel], list[str]]:
    """The panels of one test set, one per granularity and kind of human score; and the files."""
    dataset = inputs.dataset
    metrics = read_metrics(args, dataset)
    human = read_human(args, dataset, "agree with: name a file")
    scores = [
        read_scores(path, list(dataset.systems), length=len(dataset), documents=dataset.documents)
        for path in args.scores
    ]
    label = f"Scoring {pair}".rstrip()
    found = panels(
        dataset,
        metrics,
        human=human,
        granularities=args.granularity,
        scores=scores,
        lower=args.lower,
        rounding=rounding,
        humans=questions.humans,
        pair=pair,
        track=partial(track, label=label, quiet=args.quiet),
    )
    return list(found), list(dict.fromkeys(own.source for own in human))
