"""The command `assay muler`: which linguistic features each system gets right."""

from __future__ import annotations

import argparse

import numpy as np

from assay.cli.commands import Command, whole_number
from assay.cli.features import add_features, read_annotated
from assay.cli.inputs import (
    add_inputs,
    add_metrics,
    note_languages,
    read_inputs,
    read_metrics,
)
from assay.cli.output import add_output, check_output, show
from assay.cli.progress import track
from assay.features.differences import scorer_differences
from assay.features.scorers import parse_scorers
from assay.muler.analysis import muler
from assay.muler.presets import preset_named
from assay.results import Headed, Result, Together
from assay.scoring import labels

__all__ = ["COMMAND"]


def _configure(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, ["bleu"])
    group = add_features(parser)
    group.add_argument(
        "--scorers",
        nargs="+",
        default=[],
        metavar="SCORER",
        help="compare the tone of the texts, too: sentiment, concreteness, or with a lexicon of "
        "your own valence=FILE, arousal=FILE, dominance=FILE, NAME=FILE",
    )
    group.add_argument(
        "--resamples",
        type=whole_number(0),
        default=1000,
        metavar="N",
        help="for the intervals of --scorers; MuLER's own, and its tests, need none. 0 leaves all "
        "intervals and tests out (default: 1000)",
    )
    add_output(parser, letter=False)


def _run(args: argparse.Namespace) -> int:
    inputs = read_inputs(args)
    metrics = read_metrics(args, inputs.dataset)
    preset, scorers = preset_named(args.preset), parse_scorers(args.scorers)
    check_output(args, inputs.files)
    annotated, features = read_annotated(args, inputs)
    found = [
        muler(
            annotated,
            metric,
            features,
            preset=preset,
            per=args.per,
            tested=args.resamples > 0,
        )
        for metric in track(metrics, total=len(metrics), label="Masking", quiet=args.quiet)
    ]
    results: list[Result] = list(found)
    if len(metrics) > 1:
        results = [Headed(*each) for each in zip(labels(metrics), found, strict=True)]
    if scorers:
        rng = np.random.default_rng(args.seed)
        if any(scorer.needs_english for scorer in scorers):
            note_languages(args, inputs.dataset, ["target"])
        results.append(
            scorer_differences(inputs.dataset, scorers, resamples=args.resamples, rng=rng)
        )
    show(Together(*results), args, inputs=inputs.files)
    return 0


COMMAND = Command(
    name="muler",
    usage="REF ... -i SYS ... [-m METRIC ...] [-f FEATURE ...] [options]",
    description=(
        "Take a metric apart by linguistic feature (Karidi et al., 2023). For each feature, the\n"
        "texts are scored as they are, with its words masked alike on both sides (as if all were\n"
        "right) and masked apart (as if all were wrong). MuLER says how much of that range is\n"
        "lost: 0 is perfect, 1 is as bad as can be."
    ),
    examples="""
        assay muler ref.txt -i a.txt b.txt -f upos ner               tags with spaCy (English)
        assay muler ref.txt -i a.txt b.txt -m chrf -f ner:PERSON,GPE morph:Gender dep
        assay muler ref.txt -i a.txt -f gender                       pronouns, no model needed
        assay muler ref.tok -i a.tok -f tags --tags ref.pos a.pos    your own tags
        assay muler ref.txt -i a.txt -f upos --preset paper          as in the paper
        assay muler ref.txt -i a.txt b.txt -f upos -o muler.html     a page with charts""",
    configure=_configure,
    run=_run,
)
