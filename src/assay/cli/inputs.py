"""Options that say which texts to read, the same for every command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.cli.commands import list_names
from assay.cli.output import take_note, warn
from assay.data import DataError, Dataset
from assay.io import (
    digest,
    folder_files,
    folder_names,
    read_dataset,
    read_documents,
    read_folder,
    read_lines,
    read_testset,
)
from assay.io.files import suffix
from assay.io.folders import FolderNames
from assay.languages import Side, language_of
from assay.metrics.base import Metric
from assay.metrics.registry import METRICS
from assay.metrics.selection import select_metrics, with_shared
from assay.results import Record

__all__ = [
    "Inputs",
    "add_inputs",
    "add_metrics",
    "asked_metrics",
    "describe",
    "note_languages",
    "read_inputs",
    "read_metric",
    "read_metrics",
]

_TABLES = (".tsv", ".jsonl", ".xml")


@dataclass(frozen=True)
class Inputs:
    """The texts that were read, and where they came from."""

    dataset: Dataset
    files: list[Record]


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Files as in sacreBLEU: references first, then `-i` and the systems."""
    group = parser.add_argument_group("texts (plain, SGM, XML, TSV, JSONL; .gz and .xz too)")
    add = group.add_argument
    add("references", nargs="*", metavar="REF", help="reference translations, one file each")
    add(
        "-i",
        "--input",
        nargs="+",
        action="extend",
        metavar="SYS",
        default=[],
        help="outputs of the systems, one "
        "file each; the first is the baseline; without -i the output comes from standard input",
    )
    add("-s", "--source", metavar="FILE", help="the source text")
    add("--docs", metavar="FILE", help="document ids: TSV with a doc_id column, or one id a line")
    add(
        "--names",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="names of the systems, in the order of -i (default: the names of the files)",
    )
    add(
        "--data",
        metavar="FOLDER",
        help="a whole test set in mt-metrics-eval's layout, or with "
        "src.txt, ref*.txt and systems/; -i then chooses systems by name",
    )
    add(
        "--refs",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="with --data: the references to compare with, as in --refs refA refB, or all "
        "(default: one, refA or what stands for it)",
    )
    add("-t", "--test-set", metavar="NAME", help="one of sacreBLEU's test sets, as in -t wmt21")
    add(
        "-l",
        "--languages",
        metavar="PAIR",
        help="language pair, as in -l de-en; for zh, ja and ko as target it also chooses the "
        "tokenizer (default, for taggers and models: from the names of files, or the text)",
    )


def add_metrics(parser: argparse.ArgumentParser, default: Sequence[str]) -> None:
    """`-m`, and sacreBLEU's short ways to set what several metrics share."""
    parser.set_defaults(default_metrics=list(default))
    group = parser.add_argument_group("metrics")
    add = group.add_argument
    metric = add(
        "-m",
        "--metric",
        nargs="+",
        action="extend",
        metavar="METRIC",
        help="names or settings, as in -m bleu chrf:word_order=2 macrof (default: "
        f"{' '.join(default)}). There are {{names}}; chrf++, rouge1, rougeL, cer and xbertscore "
        "are short for settings of these. A whole signature works, too",
    )
    list_names(metric, METRICS)
    add(
        "-tok",
        "--tokenize",
        metavar="TOK",
        help="tokenizer for all metrics that have one: 13a, "
        "intl, char, none, zh, ja-mecab, ko-mecab, spm, flores101, flores200, spBLEU-1K",
    )
    add("-lc", "--lowercase", action="store_true", help="ignore case in all metrics")


def read_inputs(args: argparse.Namespace) -> Inputs:
    """The dataset that the options name."""
    for text in args.metric or ():
        if Path(text).is_file():
            raise DataError(f"{text} is a file, not a metric; put the references before -i and -m.")
    if args.refs and not args.data:
        raise DataError("--refs chooses among the references of a --data FOLDER.")
    if args.data or args.test_set:
        dataset = _from_folder(args) if args.data else _from_testset(args)
        if args.docs:
            dataset = replace(dataset, documents=read_documents(args.docs))
    else:
        dataset = _from_files(args)
    if not dataset.systems:
        raise DataError("no system to look at: name the outputs with -i.")
    if getattr(args, "groups", None):
        dataset = replace(dataset, groups=_labels(args.groups, len(dataset)))
    return Inputs(dataset, [describe(path, len(dataset)) for path in _paths(args)])


def read_metrics(args: argparse.Namespace, dataset: Dataset) -> list[Metric]:
    """The metrics that the options name, with tokenizer, tagger and model for the languages."""
    # Whoever brings scores and names no metric wants these scores alone.
    default = [] if getattr(args, "scores", None) else args.default_metrics
    selection = select_metrics(
        args.metric or default, dataset, tokenize=args.tokenize, lowercase=args.lowercase
    )
    note_languages(args, dataset, selection.sides)
    for note in selection.notes:
        take_note(args, note)
    return selection.metrics


def asked_metrics(args: argparse.Namespace) -> list[str]:
    """The metrics that the options name, as specifications, whatever the texts will be."""
    shared = {"tokenize": args.tokenize, "lowercase": args.lowercase}
    texts: list[str] = args.metric or args.default_metrics
    return [str(with_shared(text, shared)) for text in texts] if any(shared.values()) else texts


def read_metric(args: argparse.Namespace, dataset: Dataset) -> Metric:
    """The one metric that the options name."""
    metrics = read_metrics(args, dataset)
    if len(metrics) != 1:
        command = args.title.removeprefix("assay ")
        raise DataError(f"{command} looks at one metric: -m {args.default_metrics[0]}, say.")
    return metrics[0]


def note_languages(args: argparse.Namespace, dataset: Dataset, sides: Sequence[Side]) -> None:
    """Note which languages were taken, where something depends on them and -l was not given."""
    there = [side for side in sides if side == "target" or dataset.sources]
    found = [(side, language_of(dataset, side)) for side in there]
    folder = "from the name of the folder" if args.data and not args.languages else ""
    for side, each in found:
        if reason := each.reason or folder:
            take_note(args, f"{side} language {each.code}, {reason}", languages=True)


def _from_folder(args: argparse.Namespace) -> Dataset:
    if args.references or args.source or args.test_set or args.names:
        raise DataError("--data brings its own texts and names; leave REF, -s, -t, --names out.")
    names = folder_names(args.data, args.languages, references=args.refs)
    warn(_reference_notes(args, names), quiet=args.quiet)
    return read_folder(
        args.data, args.languages, references=names.taken, systems=_systems(args, names)
    )


def _systems(args: argparse.Namespace, names: FolderNames) -> Sequence[str]:
    """The systems that are asked for; human translations that are no reference here only then."""
    if args.input:
        return list(args.input)
    humans = names.doubled if getattr(args, "humans", "out") == "in" else ()
    kept = [name for name in humans if name not in names.taken]
    return [*names.systems, *kept]


def _reference_notes(args: argparse.Namespace, names: FolderNames) -> list[str]:
    """Which reference was taken by itself, and which references are no systems."""
    notes = []
    if names.others and args.refs is None:
        notes.append(
            f"{args.data}: compared with {', '.join(names.taken)} alone; there is also "
            f"{', '.join(names.others)}. Choose with --refs NAME ..., or --refs all."
        )
    if out := [name for name in names.doubled if name not in _systems(args, names)]:
        notes.append(f"{args.data}: no system, but a reference: {', '.join(out)}; left out.")
    return notes


def _from_testset(args: argparse.Namespace) -> Dataset:
    if args.references or args.source:
        raise DataError("-t brings its own references and source; leave REF and -s out.")
    if not args.languages:
        raise DataError("-t needs a language pair, as in -t wmt21 -l de-en.")
    args.input = args.input or _standard_input()
    return read_testset(args.test_set, args.languages, systems=args.input, names=args.names)


def _from_files(args: argparse.Namespace) -> Dataset:
    tables = any(suffix(path) in _TABLES for path in (*args.references, *args.input))
    if not args.references and not args.source and not tables:
        raise DataError("no reference: name one before -i, or use --data or -t. See --help.")
    if not args.input and not tables:
        args.input = _standard_input()
    return read_dataset(
        args.references,
        args.input,
        source=args.source,
        documents=args.docs,
        names=args.names,
        languages=args.languages,
    )


def _labels(path: str, length: int) -> tuple[str, ...]:
    labels = read_lines(path)
    if len(labels) != length:
        raise DataError(
            f"{path}: {len(labels)} lines, but there are {length} segments. "
            "Give one group per segment, a line each."
        )
    return labels


def _standard_input() -> list[str]:
    """Standard input as the only system; nobody types one in at a terminal."""
    if sys.stdin is not None and sys.stdin.isatty():
        raise DataError("no output to look at: name files with -i, or pipe one in (cat FILE |).")
    return ["-"]


def _paths(args: argparse.Namespace) -> list[str]:
    """Every file that was read."""
    if args.data:
        names = folder_names(args.data, args.languages, references=args.refs)
        chosen = folder_files(
            args.data, args.languages, references=names.taken, systems=_systems(args, names)
        )
        texts = [str(path) for path in chosen]
    else:
        texts = [*args.references, *args.input, args.source]
    paths = [*texts, args.docs, getattr(args, "groups", None), *getattr(args, "scores", ())]
    return list(dict.fromkeys(path for path in paths if path))


def describe(path: str, segments: int) -> Record:
    """A file that was read, for the record."""
    return {"path": path, "sha256": digest(path), "segments": segments}
