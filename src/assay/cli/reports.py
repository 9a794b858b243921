"""The commands `assay compare`, `report` and `check`: what several analyses say together."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.commands import Command, several, whole_number
from assay.cli.options import (
    Inputs,
    add_cluster,
    add_human,
    add_inputs,
    add_metrics,
    add_store,
    add_tagging,
    describe,
    note_languages,
    read_human,
    read_inputs,
    read_metrics,
    store_options,
    tagging_options,
)
from assay.cli.output import add_output, check_output, output_format, show, take_note, warn
from assay.data import DataError, Dataset
from assay.io import is_table, read_labels, system_name, write_whole
from assay.progress import track
from assay.rendering.charts import missing_charts
from assay.rendering.text import markdown
from assay.reports.compare import DEFAULT_METRICS, compare
from assay.reports.comparison import SHOWN
from assay.reports.gate import CheckResult, check, is_stored
from assay.reports.people import read_errors
from assay.reports.report import report
from assay.reports.study import read_study
from assay.results import CombinedResult, Record

if TYPE_CHECKING:
    from assay.suites.report import RunResult

__all__ = ["CHECK", "COMPARE", "REPORT"]

BROKEN = 1
"""The status where a limit does not hold."""

SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable with the file to which GitHub's jobs append what people should read."""


def _add_slices(parser: argparse.ArgumentParser) -> None:
    """Further slices of the test set, and further evidence: the same for compare and check."""
    add = parser.add_argument_group("slices and further evidence").add_argument
    add(
        "--labels",
        **several(),
        metavar="FILE",
        help="a table with one row per segment, whose columns are labels (its domain, say): a "
        "slice for each value; --docs brings its further columns by itself",
    )
    add("--groups", metavar="FILE", help="the group of each segment, a line each")
    add(
        "--frequencies",
        metavar="FILE",
        help="a training corpus: words are binned by their frequency in it (default: in the "
        "references)",
    )
    add(
        "--suite",
        nargs="+",
        metavar="FILE",
        help="a test suite: its items, then the outputs, one file for each system, named after it",
    )
    add("--ids", metavar="FILE", help="with --suite: the items that the lines of outputs are of")
    add(
        "--errors",
        metavar="FILE",
        help="errors that people marked (MQM, ESA): a table with the columns system, line, "
        "category and severity",
    )
    add(
        "--confidence-level",
        type=float,
        default=0.95,
        metavar="SHARE",
        help="of intervals (default: 0.95)",
    )


def _slice_options(args: argparse.Namespace, inputs: Inputs) -> dict[str, Any]:
    """The options of `_add_slices` and the tags, as the library takes them; files are noted."""
    data = inputs.dataset
    suite = _read_suite(args, inputs)
    labels = _labels(args, data)
    inputs.files.extend(
        describe(path, len(data))
        for path in (*args.labels, args.frequencies, args.errors, *args.tags)
        if path
    )
    return {
        "features": () if args.features == ["none"] else args.features,
        **tagging_options(args),
        "labels": labels,
        "frequencies": args.frequencies,
        "suite": suite,
        "errors": read_errors(args.errors, data) if args.errors else None,
        "level": args.confidence_level,
    }


def _labels(args: argparse.Namespace, data: Dataset) -> dict[str, tuple[str, ...]]:
    """All columns of --labels, and those of --docs that say more than the document."""
    labels: dict[str, tuple[str, ...]] = {}
    if args.docs and _names_columns(args.docs):
        labels |= read_labels(args.docs, len(data))
    for path in args.labels:
        found = read_labels(path, len(data))
        if not found:
            raise DataError(f"{path} has no labels: give it a column for each kind of label.")
        labels |= found
    return labels


def _names_columns(path: str) -> bool:
    """Whether a file of document ids is a table with columns that have names."""
    from assay.io.files import suffix
    from assay.io.tables import has_header, read_rows

    if suffix(path) in (".sgm", ".sgml", ".xml", ".docs"):
        return False
    return has_header(read_rows(path), "doc_id", "doc")


def _read_suite(args: argparse.Namespace, inputs: Inputs) -> RunResult | None:
    """What the rules of --suite say of its outputs."""
    if not args.suite:
        if args.ids:
            raise DataError("--ids goes with --suite.")
        return None
    from assay.suites.evaluation import run_suite
    from assay.suites.files import read_runs, read_suite

    items, *outputs = args.suite
    if not outputs:
        raise DataError("--suite ITEMS OUTPUT ...: name the outputs of the systems, too.")
    suite = read_suite(items)
    names, systems = [system_name(path) for path in outputs], list(inputs.dataset.systems)
    if sorted(names) != sorted(systems) and len(outputs) == len(systems):
        # Files of the same name in several folders: as many as systems, in the same order.
        take_note(args, f"--suite: outputs taken as those of {', '.join(systems)}, in this order.")
        names = systems
    runs = read_runs(suite, outputs, ids=args.ids, names=names)
    inputs.files.append(describe(items, len(suite)))
    sizes = [len(run.outputs) for run in runs]
    inputs.files.extend(map(describe, outputs, sizes))
    if args.ids:
        inputs.files.append(describe(args.ids, sizes[0]))
    run = run_suite(suite, runs, track=partial(track, label="Checking", quiet=args.quiet))
    for trouble in run.trouble:
        take_note(args, f"{items}, {trouble}")
    return run


def _configure_compare(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, DEFAULT_METRICS)
    add_tagging(parser, "upos ner morph where a tagger is installed; none for none")
    _add_slices(parser)
    add_human(parser)
    add = parser.add_argument_group("comparison").add_argument
    add(
        "--all-pairs",
        action="store_true",
        help="compare every two systems (default: each with the first)",
    )
    add(
        "-n",
        "--count",
        type=whole_number(0),
        default=SHOWN,
        metavar="N",
        help=f"how many findings to show (default: {SHOWN}); json and tsv always have all",
    )
    add_store(parser)
    add_output(parser)
    add_cluster(parser)


def _read_rated(args: argparse.Namespace) -> Inputs:
    """The texts, with the human scores that --human names."""
    inputs = read_inputs(args)
    if not args.human:
        return inputs
    scores = read_human(args, inputs.dataset, "show: name files")
    human = {each.name: each for each in scores}
    inputs = Inputs(replace(inputs.dataset, human=human), inputs.files)
    paths = [word for word in args.human if Path(word).is_file()]
    inputs.files.extend(describe(path, len(inputs.dataset)) for path in paths)
    return inputs


def _run_compare(args: argparse.Namespace) -> int:
    inputs = _read_rated(args)
    metrics = read_metrics(args, inputs.dataset)
    options = _slice_options(args, inputs)
    check_output(args, inputs.files)
    note_languages(args, inputs.dataset, ("source", "target"))
    result = compare(
        inputs.dataset,
        metrics,
        **options,
        all_pairs=args.all_pairs,
        **store_options(args),
        seed=args.seed,
        cluster=args.cluster,
        track=partial(track, label="Comparing", quiet=args.quiet),
    )
    for note in result.notes:
        take_note(args, note)
    show(replace(result, shown=args.count), args, inputs=inputs.files)
    return 0


COMPARE = Command(
    name="compare",
    usage="REF [REF ...] -i SYS SYS [SYS ...] [-m METRIC ...] [options]",
    description=(
        "Which system is better, where, why, and how sure is that? Every system is compared with\n"
        "the first, by the metrics and on slices of the test set: segments by what is in them, by\n"
        "document, label and difficulty; words by class and frequency; surface faults; phenomena\n"
        "of a test suite; errors that people marked. What stands out is ranked, strongest first,\n"
        "and what says the same again stands below it. p is adjusted over all that was looked at."
    ),
    examples="""
        assay compare ref.txt -i a.txt b.txt -s src.txt               the verdict, and where
        assay compare ref.txt -i a.txt b.txt -s src.txt --docs docs.tsv -l de-en --format json
        assay compare ref.txt -i a.txt b.txt c.txt --all-pairs -n 20  every two systems
        assay compare ref.txt -i a.txt b.txt -m bleu ter -F gender    other metrics and features
        assay compare ref.txt -i a.txt b.txt -F none --labels docs.tsv -o compare.md
        assay compare ref.txt -i a.txt b.txt --human da.seg.tsv       with people's scores
        assay compare ref.txt -i a.txt b.txt --suite items.json sys?.txt --ids item_ids.txt
        assay compare --data folder -i atlas birch -m chrf            with its human scores""",
    configure=_configure_compare,
    run=_run_compare,
)


def _configure_report(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, DEFAULT_METRICS)
    add_tagging(parser, "upos ner morph where a tagger is installed; none for none")
    _add_slices(parser)
    add_human(parser)
    add = parser.add_argument_group("report").add_argument
    add("--title", dest="headline", metavar="TEXT", default="", help="what stands on top")
    add("--limits", metavar="FILE", help="limits that must hold, as for assay check (TOML)")
    add(
        "--all-pairs",
        action="store_true",
        help="compare every two systems (default: each with the first)",
    )
    add_store(parser)
    add_output(parser, charts=False)
    add_cluster(parser)


def _run_report(args: argparse.Namespace) -> int:
    study = _study_path(args)
    if study:
        found = read_study(study)
        options = dict(found.options)
        inputs = Inputs(found.data, [describe(path, len(found.data)) for path in found.paths])
    else:
        inputs = _read_rated(args)
        options = {"metrics": read_metrics(args, inputs.dataset), **_slice_options(args, inputs)}
        options |= {"limits": args.limits, "all_pairs": args.all_pairs}
        note_languages(args, inputs.dataset, ("source", "target"))
    if args.headline:
        options["title"] = args.headline
    check_output(args, inputs.files)
    bar = partial(track, label="Comparing", quiet=args.quiet)
    result = report(
        inputs.dataset,
        **options,
        **store_options(args),
        seed=args.seed,
        cluster=args.cluster,
        track=bar,
    )
    for note in result.comparison.notes:
        take_note(args, note)
    args.title = result.title
    show(result, args, inputs=inputs.files)
    if output_format(args).name == "html" and not result.charts():
        # The page has charts of its parts besides those that the result has itself.
        parts = CombinedResult(*(part.result for part in result.parts))
        warn(missing_charts(parts), quiet=args.quiet)
    return 0


def _study_path(args: argparse.Namespace) -> str:
    """The TOML file that stands in the place of the reference, if there is one."""
    if not (len(args.references) == 1 and args.references[0].endswith(".toml")):
        return ""
    if args.input or args.source or args.data:
        raise DataError(f"{args.references[0]} names all texts: leave -i, -s and --data out.")
    return str(args.references[0])


REPORT = Command(
    name="report",
    usage="REF [REF ...] -i SYS SYS [SYS ...] [options]\n       assay report STUDY.toml [options]",
    description=(
        "Everything about these systems on one page that needs no network: the verdict of\n"
        "assay compare, scoreboard, findings, a browser of all segments, and the analyses behind\n"
        "it. -o report.html writes the page, -o report.md what a pull request should say. A study\n"
        "in TOML names data, metrics, features, suite, human scores, title and limits."
    ),
    examples="""
        assay report ref.txt -i a.txt b.txt c.txt -s src.txt -o report.html
        assay report study.toml -o report.html                        all from one file
        assay report ref.txt -i a.txt b.txt -o report.md              for a pull request
        assay report --data folder -o report.html                     with its human scores""",
    configure=_configure_report,
    run=_run_report,
)


def _configure_check(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser, systems=False)
    parser.set_defaults(metric=None)
    add = parser.add_argument_group("check").add_argument
    add(
        "--baseline",
        metavar="SYS",
        help="the output of the system that is in use; with --data or a table its name; with "
        "--store last for the last run on this test set that is no failed check, or run:NAME for "
        "an earlier one (last/SYSTEM or run:NAME/SYSTEM where it has several)",
    )
    add("--candidate", metavar="SYS", help="the output of the system that may replace it")
    add("--limits", metavar="FILE", help="what must hold: a TOML file with a table [limits]")
    add_tagging(parser, "those that limits name, as in slice:ner:PERSON")
    _add_slices(parser)
    group = parser.add_argument_group("reports")
    group.add_argument(
        "--junit", metavar="FILE", help="write the outcome as JUnit XML to FILE (atomically)"
    )
    group.add_argument(
        "--summary",
        action="store_true",
        help=f"append the outcome as Markdown to the file that {SUMMARY} names, if it does",
    )
    add_store(parser)
    add_output(parser, charts=False)


def _run_check(args: argparse.Namespace) -> int:
    inputs = _read_pair(args)
    options = _slice_options(args, inputs)
    inputs.files.append(describe(args.limits, len(inputs.dataset)))
    check_output(args, inputs.files)
    _check_junit(args, inputs.files)
    note_languages(args, inputs.dataset, ("source", "target"))
    baseline, candidate = args.pair
    result = check(
        inputs.dataset,
        args.limits,
        baseline=baseline,
        candidate=candidate,
        **options,
        **store_options(args),
        track=partial(track, label="Checking", quiet=args.quiet),
    )
    for note in result.notes:
        take_note(args, note)
    show(result, args, inputs=inputs.files)
    _report(result, args)
    return 0 if result.passed else BROKEN


def _read_pair(args: argparse.Namespace) -> Inputs:
    """Baseline and candidate are files, or names of systems of --data or of a table."""
    for option in ("baseline", "candidate", "limits"):
        if not getattr(args, option):
            raise DataError(f"check needs --{option}. See: assay check --help")
    pair = [args.baseline, args.candidate]
    if args.store and is_stored(args.baseline) and not Path(args.baseline).is_file():
        return _read_candidate(args)
    named = bool(args.data) or any(map(is_table, args.references))
    if named and not all(Path(name).is_file() for name in pair):
        args.input = pair if args.data else []
        args.pair = pair
        return read_inputs(args)
    args.input = pair
    if not args.names and system_name(pair[0]) == system_name(pair[1]):
        args.names = ["baseline", "candidate"]
    inputs = read_inputs(args)
    args.pair = list(inputs.dataset.systems)[:2]
    return inputs


def _read_candidate(args: argparse.Namespace) -> Inputs:
    """The candidate alone: the baseline is that of an earlier run."""
    named = bool(args.data) or any(map(is_table, args.references))
    if named and not Path(args.candidate).is_file():
        args.input = [args.candidate] if args.data else []
        args.pair = [args.baseline, args.candidate]
        return read_inputs(args)
    args.input = [args.candidate]
    inputs = read_inputs(args)
    args.pair = [args.baseline, next(iter(inputs.dataset.systems))]
    return inputs


def _check_junit(args: argparse.Namespace, files: list[Record]) -> None:
    if args.junit and Path(args.junit).resolve() in [
        Path(path).resolve() for path in (*(record["path"] for record in files), args.output)
    ]:
        raise DataError(f"--junit {args.junit} is needed for something else; name another file.")


def _report(result: CheckResult, args: argparse.Namespace) -> None:
    """What CI systems show: JUnit's XML, and the summary of a job of GitHub's."""
    if args.junit:
        write_whole(args.junit, result.junit())
        if not args.quiet:
            print(f"wrote {args.junit}", file=sys.stderr)
    if not args.summary:
        return
    path = os.environ.get(SUMMARY)
    if not path:
        warn([f"--summary: no {SUMMARY} here, so nothing was appended."], quiet=args.quiet)
        return
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{markdown(result, digits=args.width)}\n")
    except OSError as error:
        raise DataError(f"--summary: cannot write to {path}: {error.strerror}.") from None


CHECK = Command(
    name="check",
    usage="REF [REF ...] --baseline OLD --candidate NEW --limits FILE [options]",
    description=(
        "May the candidate replace the baseline? Every limit of a TOML file is checked: metrics,\n"
        "slices of the test set, surface faults, phenomena of a test suite. One line per limit\n"
        "says what was wanted, what was seen, and how small a regression it would have noticed at\n"
        "all. The exit code is 0 if all limits hold, 1 if one is broken, 2 for bad input."
    ),
    examples="""
        assay check ref.txt --baseline a.txt --candidate b.txt -s src.txt --limits limits.toml
        assay check ref.txt --baseline a.txt --candidate b.txt --limits limits.toml --summary
        assay check ref.txt --baseline a.txt --candidate b.txt --limits limits.toml -o gate.md
        assay check --data folder --baseline atlas --candidate birch --limits limits.toml
        assay check ref.txt --store runs --baseline last --candidate b.txt --limits limits.toml""",
    configure=_configure_check,
    run=_run_check,
)
