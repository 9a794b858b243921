"""Texts, metrics and human scores on the command line, brought together for comparison."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from assay.agreement.findings import CorrelateOptions
from assay.agreement.panel import (
    Candidate,
    Chosen,
    Gold,
    Panel,
    choose,
    computed,
    given,
    human_outputs,
    without_humans,
)
from assay.agreement.summary import Rounding
from assay.agreement.tables import read_score_table
from assay.cli.humans import folder_golds, read_golds
from assay.cli.inputs import Inputs, describe, read_inputs, read_metrics
from assay.data import DataError, Dataset, Level
from assay.io import read_scores
from assay.metrics.base import Metric, Statistics
from assay.progress import track
from assay.results import Record
from assay.scoring import system_statistics

__all__ = ["ReadPanels", "panels_of_tables", "panels_of_texts"]


class ReadPanels(NamedTuple):
    """The panels, and the files that they came from."""

    panels: list[Panel]
    files: list[Record]


def panels_of_tables(args: argparse.Namespace, rounding: Rounding) -> ReadPanels:
    """The panels in tables of scores."""
    if args.references or args.input or args.data or args.test_set or args.human or args.scores:
        raise DataError("--table brings all scores: leave REF, -i, --data, --human, --scores out.")
    if args.level != ["system"]:
        raise DataError("--table has scores of systems: leave --level out.")
    panels = [
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
    _check_distinct([(panel.pair, panel.gold_name) for panel in panels])
    files = [describe(path, 0) for path in args.table]
    return ReadPanels(panels, files)


def panels_of_texts(
    args: argparse.Namespace, questions: CorrelateOptions, rounding: Rounding
) -> ReadPanels:
    """The panels of every test set that the options name, computed from text."""
    if args.pair_column or args.system_column:
        raise DataError("--pair-column and --system-column go with --table.")
    calls = _calls(args)
    read = [read_inputs(each) for each in calls]
    names = _pair_names([inputs.dataset for inputs in read])
    panels, files = [], []
    for call, inputs, name in zip(calls, read, names, strict=True):
        own, golds = _panels(call, inputs, name, questions, rounding)
        panels += own
        files += [*inputs.files, *(describe(each, len(inputs.dataset)) for each in golds)]
    return ReadPanels(panels, files)


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
    """The panels of one test set, one per level and kind of human score; and the files."""
    metrics = read_metrics(args, inputs.dataset)
    people = human_outputs(inputs.dataset)
    dataset = without_humans(inputs.dataset) if questions.humans == "out" else inputs.dataset
    golds = _golds(args, dataset)
    steps = (system_statistics(dataset, metric) for metric in metrics)
    label = f"Scoring {pair}".rstrip()
    statistics = list(track(steps, total=len(metrics), label=label, quiet=args.quiet))
    panels = []
    for level in args.level:
        candidates = _candidates(args, dataset, metrics, statistics, level)
        rounded = rounding.apply(candidates)
        panels += [
            _panel(args, pair, dataset, each, rounded, people)
            for each in choose(golds, level, dataset.documents)
        ]
    return panels, list(dict.fromkeys(each.source for each in golds))


def _golds(args: argparse.Namespace, dataset: Dataset) -> list[Gold]:
    names = [each for each in args.human if args.data and not Path(each).is_file()]
    paths = [each for each in args.human if each not in names]
    if paths or not args.data:
        if not paths:
            raise DataError("no human scores to agree with: name a file with --human.")
        return read_golds(paths, dataset, columns=args.human_column)
    return folder_golds(args.data, dataset, names=names, columns=args.human_column)


def _candidates(
    args: argparse.Namespace,
    dataset: Dataset,
    metrics: Sequence[Metric],
    statistics: Sequence[Sequence[Statistics]],
    level: Level,
) -> list[Candidate]:
    imported = [
        read_scores(path, list(dataset.systems), length=len(dataset), documents=dataset.documents)
        for path in args.scores
    ]
    candidates = computed(dataset, metrics, statistics, level=level)
    candidates += [given(each, dataset, level=level, lower=args.lower) for each in imported]
    _check_distinct([each.title for each in candidates])
    return candidates


def _panel(
    args: argparse.Namespace,
    pair: str,
    dataset: Dataset,
    chosen: Chosen,
    candidates: tuple[Candidate, ...],
    people: Sequence[str],
) -> Panel:
    name = chosen.scores.name
    sign = -1.0 if name in args.lower else 1.0
    return Panel(
        pair=pair,
        level=chosen.scores.level,
        gold_name=name,
        systems=tuple(dataset.systems),
        candidates=candidates,
        gold=sign * chosen.scores.values,
        ratings=None if chosen.ratings is None else sign * chosen.ratings,
        source=chosen.source,
        ratings_source=chosen.ratings_source,
        notes=tuple(_notes(dataset, chosen, people, candidates)),
    )


def _notes(
    dataset: Dataset, chosen: Chosen, people: Sequence[str], candidates: Sequence[Candidate]
) -> list[str]:
    """Who is not compared, who is not a machine, and what metrics compare with."""
    strangers = [name for name in chosen.gold.strangers if name not in people]
    out = [name for name in people if name not in dataset.systems]
    within = [name for name in people if name in dataset.systems]
    notes = []
    if strangers:
        notes.append(f"left out (rated, but no output here): {', '.join(strangers)}.")
    if out:
        notes.append(f"left out (human translations): {', '.join(out)}.")
    if within:
        notes.append(
            f"human translations, left in: {', '.join(within)}. One that is a reference scores "
            "perfectly against itself."
        )
    if dataset.reference_names and any(each.signature for each in candidates):
        notes.append(f"reference: {', '.join(dataset.reference_names)}.")
    return notes
