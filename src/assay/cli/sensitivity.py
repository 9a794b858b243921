"""The command `assay meta sensitivity`: whether metrics tell as much about good systems."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from assay.agreement.panel import signatures
from assay.agreement.sensitivity.result import SensitivityResult, sensitivity_each
from assay.agreement.sensitivity.study import SensitivityOptions, Study, imported
from assay.agreement.sensitivity.texts import documents_of, people_of, sections_of
from assay.cli.commands import Command, whole_number
from assay.cli.humans import add_given, add_human, add_humans, read_human
from assay.cli.inputs import add_inputs, add_metrics, describe, read_inputs, read_metrics
from assay.cli.output import add_output, check_output, show
from assay.data import DataError, Dataset, Scores, human_outputs, without_humans
from assay.io import read_scores
from assay.metrics.base import Statistics, system_statistics
from assay.progress import track
from assay.results import CombinedResult

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
    questions = SensitivityOptions(
        coefficient=args.coefficient,
        resamples=args.resamples,
        best=args.best,
        sizes=None if args.sizes is None else tuple(args.sizes),
        reach=args.reach,
        slope=args.slope,
    )
    inputs = read_inputs(args)
    dataset = without_humans(inputs.dataset) if args.humans == "out" else inputs.dataset
    human = _human(args, dataset)
    files = [*inputs.files, *(describe(own.source, len(dataset)) for own in human)]
    check_output(args, files)
    left_out = [name for name in inputs.dataset.systems if name not in dataset.systems]
    results = [
        _result(study, questions, args) for study in _studies(args, dataset, human, left_out)
    ]
    show(CombinedResult(*results), args, inputs=files)
    return 0


def _human(args: argparse.Namespace, dataset: Dataset) -> list[Scores]:
    purpose = "compare with: name a file with scores of segments or documents"
    human = read_human(args, dataset, purpose)
    return [replace(own, values=-own.values) if own.name in args.lower else own for own in human]


def _studies(
    args: argparse.Namespace, dataset: Dataset, human: Sequence[Scores], left_out: Sequence[str]
) -> list[Study]:
    """One study per kind of human score; every metric counts once for all of them."""
    texts = sections_of(dataset, args.section) if args.section else documents_of(dataset)
    people = people_of(human, texts)
    metrics = read_metrics(args, dataset)
    steps = (system_statistics(dataset, metric) for metric in metrics)
    statistics = list(track(steps, total=len(metrics), label="Scoring", quiet=args.quiet))
    statistics += _imported(args, dataset)
    strangers = dict.fromkeys(name for own in human for name in own.unmatched)
    notes = [
        f"left out ({why}): {', '.join(names)}."
        for why, names in (
            ("human translations", left_out),
            ("rated, but no output here", [each for each in strangers if each not in left_out]),
        )
        if names
    ]
    if within := [name for name in human_outputs(dataset) if name in dataset.systems]:
        notes.append(f"human translations: {', '.join(within)}.")
    return [
        Study.of(
            list(dataset.systems),
            texts,
            each,
            statistics,
            lower=args.lower,
            notes=notes,
            signatures=signatures(dataset, metrics),
        )
        for each in people
    ]


def _imported(args: argparse.Namespace, dataset: Dataset) -> list[list[Statistics]]:
    found = []
    for path in args.scores:
        scores = read_scores(
            path, list(dataset.systems), length=len(dataset), documents=dataset.documents
        )
        if scores.granularity != "segment":
            raise DataError(
                f"{path}: scores of segments are needed here, not of {scores.granularity}s."
            )
        found.append(imported(scores))
    return found


def _result(
    study: Study, questions: SensitivityOptions, args: argparse.Namespace
) -> SensitivityResult:
    steps = sensitivity_each(study, questions, seed=args.seed)
    total = len(study.candidates)
    found = track(steps, total=total, label="Resampling", quiet=args.quiet)
    return SensitivityResult(study, questions, tuple(found))


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
