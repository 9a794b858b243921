"""People's scores on the command line: files, or those that lie beside a test set."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay.agreement.panel import Gold
from assay.data import DataError, Dataset
from assay.io import read_lines, read_scores
from assay.io.scores import level_of

__all__ = ["add_given", "add_golds", "add_humans", "folder_golds", "read_golds"]


def add_golds(parser: argparse.ArgumentParser) -> None:
    """`--human` and `--human-column`."""
    add = parser.add_argument_group("people").add_argument
    add(
        "--human",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="human scores: tables with a column system, a score and perhaps line or doc_id, or "
        "mt-metrics-eval's .score files; with --data by default those that lie in the folder, "
        "of which --human NAME chooses",
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
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="scores from elsewhere (a neural metric), of segments or at the level asked for; "
        "alone unless -m names metrics, too",
    )
    group.add_argument(
        "--lower",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="given scores (of --scores, --table or --human) of which less is better; known by "
        "itself of ter, wer and cer",
    )


def add_humans(group: argparse._ActionsContainer) -> None:
    """`--humans`: whether human translations among the systems count."""
    group.add_argument(
        "--humans",
        choices=("out", "in"),
        default="out",
        help="human translations among the systems: leave them out or in (default: out)",
    )


def read_golds(
    paths: Sequence[str | Path], dataset: Dataset, *, columns: Sequence[str] = ()
) -> list[Gold]:
    """The human scores in files, one for each file and column."""
    return [_read(path, dataset, column) for path in paths for column in (columns or (None,))]


def folder_golds(
    folder: str, dataset: Dataset, *, names: Sequence[str] = (), columns: Sequence[str] = ()
) -> list[Gold]:
    """The human scores that lie in a test set's folder, or of these those with the names.

    Where columns are named, files without them are passed over, unless none has them.
    """
    pair = "-".join(dataset.languages or ())
    found = []
    for path in _files(Path(folder), pair):
        fitting = [each for each in columns if _has_column(path, each)]
        if fitting or not columns:
            found += read_golds([path], dataset, columns=fitting)
    golds = [_without_pair(each, pair) for each in found]
    if not golds:
        wanted = f" with a column {', '.join(columns)}" if columns else ""
        raise DataError(
            f"{folder} has no human scores{wanted}: neither human/*.tsv nor "
            f"human-scores/{pair or 'PAIR'}.*.score. Name a file with --human."
        )
    known = {each.scores.name.partition(":")[0] for each in golds}
    for name in names:
        if name not in known:
            raise DataError(
                f"--human {name} is no file, and {folder} has no such human scores. "
                f"It has {', '.join(sorted(known))}."
            )
    return [each for each in golds if not names or each.scores.name.partition(":")[0] in names]


def _read(path: str | Path, dataset: Dataset, column: str | None) -> Gold:
    scores = read_scores(
        path,
        list(dataset.systems),
        length=len(dataset),
        documents=dataset.documents,
        column=column,
    )
    strangers = [name for name in _systems(path) if name not in dataset.systems]
    return Gold(scores, str(path), tuple(strangers))


def _systems(path: str | Path) -> list[str]:
    """The systems that a file of scores names."""
    rows = [line.split("\t") for line in read_lines(path)]
    head = [cell.strip().lower() for cell in rows[0]]
    at, body = (head.index("system"), rows[1:]) if "system" in head else (0, rows)
    return list(dict.fromkeys(row[at] for row in body if len(row) > 1))


def _files(folder: Path, pair: str) -> list[Path]:
    """The files of human scores in a folder, in either layout."""
    standard = folder.glob(f"human-scores/{pair}.*.score") if pair else []
    simple = [each for home in (folder, folder / pair) for each in home.glob("human/*.tsv")]
    found = sorted({each.resolve(): each for each in (*simple, *standard)}.values())
    return [each for each in found if level_of(each) and each.is_file() and each.name[0] != "."]


def _has_column(path: Path, column: str) -> bool:
    head = [cell.strip().lower() for cell in read_lines(path)[0].split("\t")]
    return column.lower() in head


def _without_pair(gold: Gold, pair: str) -> Gold:
    """mt-metrics-eval's files begin with the pair, which the name need not repeat."""
    return replace(
        gold, scores=replace(gold.scores, name=gold.scores.name.removeprefix(f"{pair}."))
    )
