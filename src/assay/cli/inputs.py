"""Options that say which texts to read, the same for every command."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from assay.data import DataError, Dataset
from assay.io import digest, read_dataset, read_documents, read_folder, read_testset
from assay.metrics.base import Metric
from assay.registry import names, parse_all
from assay.results import Record
from assay.settings import nearest

__all__ = ["Inputs", "add_inputs", "add_metrics", "read_inputs", "read_metrics"]

_TABLES = (".tsv", ".jsonl", ".xml")
_TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
"""The tokenizer that sacreBLEU takes for a target language when none is named."""


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
        metavar="SYS",
        default=[],
        help="outputs of the systems, one "
        "file each; the first is the baseline; without -i the output comes from standard input",
    )
    add("-s", "--source", metavar="FILE", help="the source text")
    add("--docs", metavar="FILE", help="document ids: TSV with a doc_id column, or one id a line")
    add("--names", nargs="+", metavar="NAME", help="names of the systems (default: of the files)")
    add(
        "--data",
        metavar="FOLDER",
        help="a whole test set in mt-metrics-eval's layout, or with "
        "src.txt, ref*.txt and systems/; -i then chooses systems by name",
    )
    add("-t", "--test-set", metavar="NAME", help="one of sacreBLEU's test sets, as in -t wmt21")
    add(
        "-l",
        "--languages",
        metavar="PAIR",
        help="language pair, as in -l de-en; for zh, ja and "
        "ko as target it also chooses the tokenizer",
    )


def add_metrics(parser: argparse.ArgumentParser, default: Sequence[str]) -> None:
    """`-m`, and sacreBLEU's short ways to set what several metrics share."""
    group = parser.add_argument_group("metrics")
    add = group.add_argument
    add(
        "-m",
        "--metric",
        nargs="+",
        default=list(default),
        metavar="METRIC",
        help=f"names or settings, as in -m bleu chrf:word_order=2 macrof (default: "
        f"{' '.join(default)}). There are {', '.join(names())}; chrf++, rouge1, rougeL and cer "
        "are short for settings of these. A signature works, too",
    )
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
    if args.data:
        dataset, paths = _from_folder(args), [args.data]
    elif args.test_set:
        dataset, paths = _from_testset(args), list(args.input)
    else:
        dataset, paths = _from_files(args), [*args.references, *args.input]
    if args.docs and not dataset.documents:
        dataset = replace(dataset, documents=read_documents(args.docs))
    if not dataset.systems:
        raise DataError("no system to look at: name the outputs with -i.")
    paths += [each for each in (args.source, args.docs) if each]
    return Inputs(dataset, [_describe(path, len(dataset)) for path in paths])


def read_metrics(args: argparse.Namespace) -> list[Metric]:
    """The metrics that the options name."""
    for text in args.metric:
        if Path(text).is_file():
            raise DataError(f"{text} is a file, not a metric; put the references before -i and -m.")
    target = (args.languages or "-").split("-")[-1]
    tokenizer = args.tokenize or _TOKENIZERS.get(target)
    return parse_all(
        _with_defaults(metric, tokenizer, lowercase=args.lowercase)
        for metric in parse_all(args.metric)
    )


def _with_defaults(metric: Metric, tokenizer: str | None, *, lowercase: bool) -> Metric:
    """The metric with the shared options, where it has them and does not say otherwise itself."""
    defaults = {field.name: field.default for field in fields(metric)}
    changes: dict[str, object] = {}
    if tokenizer and "tokenize" in defaults and metric.tokenize == defaults["tokenize"]:  # type: ignore[attr-defined]
        changes["tokenize"] = tokenizer
    if lowercase and "lowercase" in defaults:
        changes["lowercase"] = True
    return replace(metric, **changes)


def _from_folder(args: argparse.Namespace) -> Dataset:
    if args.references or args.test_set or args.names:
        raise DataError("--data brings its own references and names; leave REF, -t, --names out.")
    dataset = read_folder(args.data, args.languages)
    for name in args.input:
        if name not in dataset.systems:
            hint = nearest(name, dataset.systems)
            known = ", ".join(dataset.systems)
            raise DataError(f"{args.data} has no system {name!r}{hint}. It has {known}.")
    chosen = args.input or dataset.systems
    return replace(dataset, systems={name: dataset.systems[name] for name in chosen})


def _from_testset(args: argparse.Namespace) -> Dataset:
    if args.references:
        raise DataError("-t brings its own references; leave the reference files out.")
    if not args.languages:
        raise DataError("-t needs a language pair, as in -t wmt21 -l de-en.")
    systems = args.input or ["-"]
    return read_testset(args.test_set, args.languages, systems=systems, names=args.names)


def _from_files(args: argparse.Namespace) -> Dataset:
    if not args.references:
        raise DataError("no reference: name one before -i, or use --data or -t. See --help.")
    whole = any(Path(path).name.removesuffix(".gz").endswith(_TABLES) for path in args.references)
    if not args.input and not whole:
        args.input = ["-"]
    return read_dataset(
        args.references,
        args.input,
        source=args.source,
        documents=args.docs,
        names=args.names,
        languages=args.languages,
    )


def _describe(path: str, segments: int) -> Record:
    return {"path": path, "sha256": None if path == "-" else digest(path), "segments": segments}
