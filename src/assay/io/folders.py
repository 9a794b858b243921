"""Folders that hold a whole test set, as mt-metrics-eval lays them out, or more simply."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from assay.data import DataError, Dataset
from assay.io.datasets import language_pair, read_dataset
from assay.io.entries import level_of
from assay.io.files import FilePath
from assay.io.lines import system_name, write_lines
from assay.io.records import reference_columns
from assay.io.scores import read_scores
from assay.scores import Scores
from assay.settings import nearest

__all__ = ["folder_files", "read_folder", "read_folder_scores", "write_folder"]

_PAIR = re.compile(r"[a-z]{2,3}(?:_[A-Za-z]+)?-[a-z]{2,3}(?:_[A-Za-z]+)?")
_TEXTS = (".txt", ".txt.gz", ".txt.xz")


class _Folder(NamedTuple):
    """Where the files of one language pair lie; texts and scores are by name."""

    name: str
    languages: str
    sources: list[Path]
    references: list[tuple[str, Path]]
    systems: list[tuple[str, Path]]
    documents: list[Path]
    scores: list[tuple[str, Path]]


def read_folder(path: FilePath, languages: str | None = None) -> Dataset:
    """The test set of one language pair in a folder.

    The folder is laid out as mt-metrics-eval does (`sources/`, `references/`,
    `system-outputs/`, `documents/`), or holds `src.txt`, `ref*.txt`, `systems/*.txt` and
    `docs.tsv`, or has such a folder for each language pair. `languages` may be left out where
    there is only one pair.
    """
    return _read(_find(Path(path), languages))


def read_folder_scores(path: FilePath, languages: str | None = None) -> list[Scores]:
    """The scores that lie in a folder beside its texts, people's before metrics'."""
    folder = _find(Path(path), languages)
    dataset = _read(folder)
    return [
        replace(
            read_scores(
                each, list(dataset.systems), length=len(dataset), documents=dataset.documents
            ),
            name=name,
        )
        for name, each in folder.scores
    ]


def folder_files(
    path: FilePath, languages: str | None = None, systems: Sequence[str] = ()
) -> list[Path]:
    """The files that `read_folder` reads; of the systems only those named, or all."""
    folder = _find(Path(path), languages)
    chosen = [each for name, each in folder.systems if not systems or name in systems]
    references = [each for _, each in folder.references]
    return [*folder.sources, *references, *chosen, *folder.documents]


def write_folder(dataset: Dataset, path: FilePath) -> None:
    """Write a dataset as mt-metrics-eval lays it out; `read_folder` gives it back.

    The folder's name becomes the dataset's, and references without names become refA, refB ...
    A language pair that is there already is not overwritten.
    """
    if dataset.languages is None:
        raise DataError(f"{path}: the dataset does not say its languages; give them, as in de-en.")
    pair = "-".join(dataset.languages)
    if language_pair(pair) != dataset.languages or not (dataset.sources or dataset.systems):
        raise DataError(f"{path}: {pair!r} needs plain language codes, and sources or systems.")
    references = reference_columns(path, dataset)
    files = dict(_files(dataset, pair, references))
    _check_names(path, [pair, *dataset.systems, *dataset.reference_names])
    _check_free(Path(path), pair)
    for name, lines in files.items():
        target = Path(path) / name
        _make_folder(target.parent)
        write_lines(lines, target)


def _files(
    dataset: Dataset, pair: str, references: list[tuple[str, tuple[str, ...]]]
) -> Iterable[tuple[str, tuple[str, ...]]]:
    if dataset.sources:
        yield f"sources/{pair}.txt", dataset.sources
    for index, (name, lines) in enumerate(references):
        yield f"references/{pair}.{name or 'ref' + _letters(index)}.txt", lines
    for system, lines in dataset.systems.items():
        yield f"system-outputs/{pair}/{system}.txt", lines
    if dataset.documents:
        bad = next((each for each in dataset.documents if "\t" in each), None)
        if bad is not None:
            raise DataError(f"the document id {bad!r} has a tab inside; rename it.")
        yield f"documents/{pair}.docs", tuple(f"unknown\t{each}" for each in dataset.documents)


def _letters(index: int) -> str:
    return chr(ord("A") + index) if index < 26 else str(index + 1)


def _check_names(path: FilePath, names: list[str]) -> None:
    for name in names:
        if not name or name.startswith(".") or re.search(r"[/\\:\x00-\x1f\x7f]", name):
            raise DataError(f"{path}: {name!r} cannot be a file's name. Rename it.")


def _check_free(path: Path, pair: str) -> None:
    if path.is_dir() and pair in _standard_pairs(path):
        raise DataError(f"{path} already holds {pair}. Choose another folder, or remove that.")


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{path}: this folder cannot be made ({error.strerror}).") from None


def _read(folder: _Folder) -> Dataset:
    dataset = read_dataset(
        [path for _, path in folder.references],
        [path for _, path in folder.systems],
        source=next(iter(folder.sources), None),
        documents=next(iter(folder.documents), None),
        names=[name for name, _ in folder.systems],
        languages=language_pair(folder.languages) if folder.languages else None,
    )
    names = tuple(name for name, _ in folder.references)
    return replace(dataset, name=folder.name, reference_names=names)


def _find(path: Path, languages: str | None) -> _Folder:
    if not path.is_dir():
        raise DataError(f"{path} is not a folder. Give the folder that holds the test set.")
    standard, simple = _standard_pairs(path), _simple_pairs(path, languages)
    pairs = sorted({*standard, *simple})
    if not pairs:
        raise DataError(
            f"{path} holds no test set: neither system-outputs/ and sources/ as in "
            "mt-metrics-eval, nor src.txt, ref.txt and systems/."
        )
    if languages is None and len(pairs) > 1:
        raise DataError(f"{path} holds {', '.join(pairs)}: say which language pair.")
    pair = pairs[0] if languages is None else languages
    if pair not in pairs:
        hint = nearest(pair, pairs)
        raise DataError(f"{path} has no {pair}{hint}. It holds {', '.join(pairs)}.")
    return _standard(path, pair) if pair in standard else _simple(simple[pair], pair)


def _standard_pairs(path: Path) -> set[str]:
    sources = {each.name.removesuffix(".txt") for each in path.glob("sources/*.txt")}
    outputs = {each.name for each in path.glob("system-outputs/*") if each.is_dir()}
    return {pair for pair in sources | outputs if not pair.startswith(".")}


def _simple_pairs(path: Path, languages: str | None) -> Mapping[str, Path]:
    """The folders that hold `systems/`, this one or those inside, by their language pair."""
    if (path / "systems").is_dir():
        own = path.resolve().name
        return {own if _PAIR.fullmatch(own) else languages or "": path}
    return {each.parent.name: each.parent for each in path.glob("*/systems") if each.is_dir()}


def _standard(path: Path, pair: str) -> _Folder:
    human = [
        (each.name[len(pair) + 1 :], each)
        for each in _regular(path / "human-scores", f"{pair}.", ".score")
    ]
    metric = [(each.name, each) for each in _regular(path / "metric-scores" / pair, "", ".score")]
    return _Folder(
        path.resolve().name,
        pair,
        _exactly(path / "sources" / f"{pair}.txt"),
        [
            (each.name[len(pair) + 1 : -len(".txt")], each)
            for each in _regular(path / "references", f"{pair}.", ".txt")
        ],
        [
            (each.name.removesuffix(".txt"), each)
            for each in _regular(path / "system-outputs" / pair, "", ".txt")
        ],
        _exactly(path / "documents" / f"{pair}.docs"),
        [(name[: -len(".sys.score")], each) for name, each in human + metric if level_of(each)],
    )


def _simple(path: Path, pair: str) -> _Folder:
    home = path.resolve()
    texts = [each for ending in _TEXTS for each in _regular(path, "", ending)]
    return _Folder(
        home.parent.name if _PAIR.fullmatch(home.name) else home.name,
        pair,
        [each for each in texts if system_name(each) == "src"],
        sorted(
            (found[1] or "ref", each)
            for each in texts
            if (found := re.fullmatch(r"ref[._-]?(.*)", system_name(each)))
        ),
        [(system_name(e), e) for end in _TEXTS for e in _regular(path / "systems", "", end)],
        _exactly(path / "docs.tsv"),
        [
            (each.name[: -len(".sys.tsv")], each)
            for each in _regular(path / "human", "", ".tsv")
            if level_of(each)
        ],
    )


def _exactly(path: Path) -> list[Path]:
    return _checked([path] if path.exists() else [])


def _regular(folder: Path, start: str, ending: str) -> list[Path]:
    """The visible files of a folder with this start and ending, by name."""
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    return _checked(
        [
            each
            for each in found
            if each.name.startswith(start) and each.name.endswith(ending) and each.name[0] != "."
        ]
    )


def _checked(paths: list[Path]) -> list[Path]:
    # A pipe or device in the place of a text could be waited for without end.
    for each in paths:
        if not each.is_file():
            raise DataError(f"{each} is not a file. Remove it from the folder.")
    return paths
