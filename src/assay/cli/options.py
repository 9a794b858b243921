"""Options that commands share: what to read, and reading it; the store, and the cluster."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from assay.cli.commands import list_names, several
from assay.cli.output import take_note, warn
from assay.data import DataError, Dataset, Scores
from assay.io import TESTSET, digest, folder_files, folder_names, is_table, read
from assay.io.folders import FolderNames
from assay.io.scores import read_folder_human_scores, read_human_scores, read_scores
from assay.metrics.base import METRICS, Metric, select_metrics, with_shared
from assay.results import Record
from assay.text import Side, language_notes, language_of

__all__ = [
    "Inputs",
    "add_cluster",
    "add_given",
    "add_human",
    "add_humans",
    "add_inputs",
    "add_metrics",
    "add_names",
    "add_store",
    "add_tagging",
    "asked_metrics",
    "describe",
    "note_languages",
    "note_result",
    "read_columns",
    "read_given",
    "read_human",
    "read_inputs",
    "read_metric",
    "read_metrics",
    "store_options",
    "tagging_options",
]


@dataclass(frozen=True)
class Inputs:
    """The texts that were read, and where they came from."""

    dataset: Dataset
    files: list[Record]


def add_inputs(parser: argparse.ArgumentParser, *, systems: bool = True) -> None:
    """Files as in sacreBLEU: references first, then `-i` and the systems.

    Without `systems` there is no `-i`: the command has options of its own for the outputs.
    """
    group = parser.add_argument_group(
        "texts (plain, SGM, XML, TSV, CSV, JSONL, Parquet, also .gz, .xz)"
    )
    add = group.add_argument
    add("references", nargs="*", metavar="REF", help="reference translations, one file each")
    parser.set_defaults(input=[])
    if systems:
        add(
            "-i",
            "--input",
            **several(),
            metavar="SYS",
            help="outputs of the systems, one file each; the first is the baseline; without -i "
            "the output comes from standard input",
        )
    add("-s", "--source", metavar="FILE", help="the source text")
    add("--docs", metavar="FILE", help="document ids: TSV with a doc_id column, or one id a line")
    add_names(group)
    add(
        "--columns",
        **several(),
        metavar="PART=COLUMN",
        help="what the columns of a table hold: hypothesis, reference, source, system, document, "
        "group, segment, as in --columns hypothesis=mt reference=ref system=model (default: by "
        "their names: mt, ref, src, system, doc)",
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


def add_names(group: argparse._ActionsContainer) -> None:
    """`--names`, wherever `-i` names files of systems."""
    group.add_argument(
        "--names",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="names of the systems, in the order of -i (default: the names of the files)",
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
        "are short for settings of these, faults for every kind of fault. A whole signature works, "
        "too",
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


def add_tagging(parser: argparse.ArgumentParser, default: str) -> argparse._ArgumentGroup:
    """Linguistic features, and where their tags come from; `default` says which they are."""
    group = parser.add_argument_group("features")
    add = group.add_argument
    add(
        "-F",
        "--features",
        nargs="+",
        action="extend",
        metavar="FEATURE",
        help="upos, ner, morph, dep, tag, tags, gender, list:FILE (word<TAB>label), regex:FILE "
        "(label<TAB>expression), or some of a kind: upos:NOUN,VERB, ner:PERSON, morph:Gender, "
        f"dep:nsubj; NOUN and PERSON will do, too (default: {default})",
    )
    add(
        "--tags",
        **several(),
        metavar="FILE",
        help="tags of your own, one file per text, references first, then the systems: one tag "
        "per white-space token, or CoNLL-U",
    )
    add(
        "--pipeline",
        default="",
        metavar="NAME",
        help="a spaCy pipeline by name or folder (default: the one for the target language)",
    )
    add("--annotator", metavar="NAME", help="an annotator that another package offers")
    add("--no-cache", action="store_true", help="tag anew, and keep nothing (see: assay cache)")
    return group


def tagging_options(args: argparse.Namespace) -> dict[str, Any]:
    """The options of `add_tagging` but for the features, as the library takes them."""
    return {
        "annotator": args.annotator,
        "pipeline": args.pipeline,
        "tags": args.tags,
        "cache": not args.no_cache,
    }


def add_human(parser: argparse.ArgumentParser) -> None:
    """`--human` and `--human-column`."""
    add = parser.add_argument_group("human scores").add_argument
    add(
        "--human",
        **several(),
        metavar="FILE",
        help="human scores: tables with columns system, a score and perhaps line or doc_id, or "
        "mt-metrics-eval's .score files; with --data by default those in the folder, among which "
        "--human NAME chooses",
    )
    add(
        "--human-column",
        nargs="+",
        default=[],
        metavar="NAME",
        help="the column with the scores; several are several kinds of human score (default: the "
        "first of z, raw, mqm, score that is there)",
    )


def add_given(group: argparse._ActionsContainer) -> None:
    """`--scores` and `--lower`: metrics that were computed elsewhere."""
    group.add_argument(
        "--scores",
        **several(),
        metavar="FILE",
        help="scores from elsewhere (a neural metric), of segments or of what is compared; "
        "alone unless -m names metrics, too",
    )
    group.add_argument(
        "--lower",
        **several(),
        metavar="NAME",
        help="scores of --scores, --table or --human where lower is better (ter, wer and cer are "
        "known)",
    )


def add_humans(group: argparse._ActionsContainer) -> None:
    """`--humans`: whether human translations among the systems count."""
    group.add_argument(
        "--humans",
        choices=("out", "in"),
        default="out",
        help="human translations among the systems: leave them out or in (default: out)",
    )


def read_inputs(args: argparse.Namespace) -> Inputs:
    """The dataset that the options name."""
    for text in args.metric or ():
        if Path(text).is_file():
            raise DataError(f"{text} is a file, not a metric; put the references before -i and -m.")
    if args.refs and not args.data:
        raise DataError("--refs chooses among the references of a --data FOLDER.")
    dataset = _read_dataset(args)
    if not dataset.systems:
        raise DataError("no system to look at: name the outputs with -i.")
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


def note_result(args: argparse.Namespace, dataset: Dataset, result: NotedResult) -> None:
    """Take the notes of a result to standard error, those on languages in one line."""
    note_languages(args, dataset, result.sides)
    told = language_notes(dataset, result.sides)
    for note in result.notes:
        if note not in told:
            take_note(args, note)


class NotedResult(Protocol):
    """A result with notes; `sides` are those whose language was decisive."""

    @property
    def sides(self) -> tuple[Side, ...]: ...

    @property
    def notes(self) -> tuple[str, ...]: ...


def read_human(args: argparse.Namespace, dataset: Dataset, purpose: str) -> list[Scores]:
    """The human scores that the options name: files, or those in the folder of `--data`."""
    names = [word for word in args.human if args.data and not Path(word).is_file()]
    paths = [word for word in args.human if word not in names]
    if paths:
        return read_human_scores(paths, dataset, columns=args.human_column)
    if not args.data:
        raise DataError(f"no human scores to {purpose} with --human.")
    return read_folder_human_scores(args.data, dataset, names=names, columns=args.human_column)


def read_given(args: argparse.Namespace, dataset: Dataset) -> list[Scores]:
    """The scores of `--scores`, from metrics that were computed elsewhere."""
    systems, documents = list(dataset.systems), dataset.documents
    return [
        read_scores(path, systems, length=len(dataset), documents=documents) for path in args.scores
    ]


def note_languages(args: argparse.Namespace, dataset: Dataset, sides: Sequence[Side]) -> None:
    """Note which languages were taken, where something depends on them and -l was not given."""
    there = [side for side in sides if side == "target" or dataset.sources]
    folder = "from the name of the folder" if args.data and not args.languages else ""
    for side in there:
        language = language_of(dataset, side)
        if reason := language.reason or folder:
            take_note(args, f"{side} language {language.code}, {reason}", languages=True)


def _read_dataset(args: argparse.Namespace) -> Dataset:
    more = {"documents": args.docs, "groups": getattr(args, "groups", None)}
    if args.data:
        names = _folder_names(args)
        warn(_reference_notes(args, names), quiet=args.quiet)
        return read(
            args.data,
            languages=args.languages,
            references=list(names.taken),
            systems=list(_systems(args, names)),
            **more,
        )
    if args.test_set:
        _check_testset(args)
        args.input = args.input or _standard_input()
        name = f"{TESTSET}{args.test_set}"
        return read(name, languages=args.languages, systems=args.input, names=args.names, **more)
    _check_files(args)
    return read(
        references=args.references,
        systems=args.input,
        source=args.source,
        names=args.names,
        languages=args.languages,
        columns=read_columns(args.columns),
        **more,
    )


def _folder_names(args: argparse.Namespace) -> FolderNames:
    if args.references or args.source or args.test_set or args.names:
        raise DataError("--data brings its own texts and names; leave REF, -s, -t, --names out.")
    return folder_names(args.data, args.languages, references=args.refs)


def _check_testset(args: argparse.Namespace) -> None:
    if args.references or args.source:
        raise DataError("-t brings its own references and source; leave REF and -s out.")
    if not args.languages:
        raise DataError("-t needs a language pair, as in -t wmt21 -l de-en.")


def _check_files(args: argparse.Namespace) -> None:
    """A reference, a source or a table is needed; without `-i`, the output is standard input."""
    tables = any(is_table(path) for path in (*args.references, *args.input))
    if not args.references and not args.source and not tables:
        raise DataError("no reference: name one before -i, or use --data or -t. See --help.")
    if not args.input and not tables:
        args.input = _standard_input()


def read_columns(words: Sequence[str]) -> dict[str, list[str] | str]:
    """What the columns hold, from words such as `hypothesis=mt`; a part may have several."""
    columns: dict[str, list[str]] = {}
    for word in words:
        role, equals, column = word.partition("=")
        if not equals or not column:
            raise DataError(f"--columns {word}: write PART=COLUMN, as in hypothesis=mt.")
        columns.setdefault(role, []).append(column)
    return {role: names[0] if len(names) == 1 else names for role, names in columns.items()}


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


def add_store(parser: argparse.ArgumentParser, *, runs: bool = True) -> None:
    """`--store`, and where the command writes runs down `--run`."""
    add = parser.add_argument_group("store").add_argument
    noted = ", and the run is written down for assay history" if runs else ""
    add(
        "--store",
        metavar="FOLDER",
        help="keep results in FOLDER (made if need be): what was scored before is not scored "
        f"again{noted}; figures are the same with and without",
    )
    parser.set_defaults(run_name="")
    if runs:
        add(
            "--run",
            dest="run_name",
            default="",
            metavar="NAME",
            help="with --store: the name of the run, as in --run nightly-12 (default: its time)",
        )


def store_options(args: argparse.Namespace) -> dict[str, Any]:
    """The options of `add_store` as the library takes them."""
    if args.run_name and not args.store:
        raise DataError("--run names a run in a store: it goes with --store FOLDER.")
    return {"store": args.store, "run_name": args.run_name}


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """`--cluster`, for commands whose work can be spread."""
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="spread the work over the workers of a Dask scheduler (tcp://host:8786), or over "
        "processes on this machine (local:8 starts eight, and ends them); the figures are the same "
        "to the last bit. Needs assay-mt[scale]; see docs/cluster.md",
    )
