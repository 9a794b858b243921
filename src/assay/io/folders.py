"""Folders that hold a whole test set, as mt-metrics-eval lays them out, or more simply."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from assay.data import DataError, Dataset, Scores, language_pair
from assay.io.datasets import read_dataset
from assay.io.files import FilePath, joined_lines, system_name, write_all
from assay.io.records import reference_columns
from assay.io.scores import granularity_of, read_scores
from assay.registry import did_you_mean

__all__ = [
    "FolderNames",
    "FolderScores",
    "folder_files",
    "folder_names",
    "read_folder",
    "read_folder_scores",
    "write_folder",
]

_PAIR = re.compile(r"[a-z]{2,3}(?:_[A-Za-z]+)?-[a-z]{2,3}(?:_[A-Za-z]+)?")
_TEXTS = (".txt", ".txt.gz", ".txt.xz")
_MACHINE = re.compile(r"synthetic|machine|pseudo|(?:^|[-_. ])mt(?:$|[-_. ])", re.IGNORECASE)
"""Names of references that no human made."""


class _Folder(NamedTuple):
    """Where the files of one language pair lie; texts and scores are by name."""

    name: str
    languages: str
    sources: list[Path]
    references: list[tuple[str, Path]]
    systems: list[tuple[str, Path]]
    documents: list[Path]
    human: list[tuple[str, Path]]
    scores: list[tuple[str, Path]]


def read_folder(
    path: FilePath,
    languages: str | None = None,
    *,
    references: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
) -> Dataset:
    """The test set of one language pair in a folder.

    The folder is laid out as mt-metrics-eval does (`sources/`, `references/`,
    `system-outputs/`, `documents/`), or holds `src.txt`, `ref*.txt`, `systems/*.txt` and
    `docs.tsv`, or has such a folder for each language pair. `languages` may be left out where
    there is only one pair.

    `references` are names, or ["all"]; by default one is taken: refA, else `ref.txt`, else the
    first that people made. `systems` are names, too; by default all that are no references.

    `Dataset.human` has the scores that people gave, from `human-scores/` or `human/`. A file is
    read when its scores are first asked for.
    """
    folder = _chosen(_find(Path(path), languages), path, references, systems)
    dataset = _read(folder)
    return replace(dataset, human=FolderScores(folder.human, dataset))


def read_folder_scores(path: FilePath, languages: str | None = None) -> list[Scores]:
    """The scores that lie in a folder beside its texts, people's before metrics'.

    They are of the same systems as `read_folder` has by default.
    """
    folder = _chosen(_find(Path(path), languages), path)
    dataset = _read(folder)
    return [
        replace(
            read_scores(
                each, list(dataset.systems), length=len(dataset), documents=dataset.documents
            ),
            name=name,
        )
        for name, each in (*folder.human, *folder.scores)
    ]


class FolderScores(Mapping[str, Scores]):
    """The scores in the files of a folder by name, each read when it is first asked for."""

    def __init__(self, files: Sequence[tuple[str, Path]], dataset: Dataset) -> None:
        self._files = _distinct(files)
        self._systems = list(dataset.systems)
        self._length, self._documents = len(dataset), dataset.documents
        self._scores: dict[str, Scores] = {}

    def __getitem__(self, name: str) -> Scores:
        if name not in self._scores:
            bare, path = self._files[name]
            scores = read_scores(
                path, self._systems, length=self._length, documents=self._documents
            )
            self._scores[name] = replace(scores, name=bare)
        return self._scores[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __repr__(self) -> str:
        return f"FolderScores({', '.join(self)})"


_SHORT = {"system": "sys", "segment": "seg", "document": "doc", None: ""}


def _distinct(files: Sequence[tuple[str, Path]]) -> dict[str, tuple[str, Path]]:
    """Names and paths; where files share a name, by it and what their scores are of.

    >>> list(_distinct([("mqm", Path("mqm.seg.score")), ("mqm", Path("mqm.sys.score"))]))
    ['mqm.seg', 'mqm.sys']
    """
    names = [name for name, _ in files]
    return {
        name if names.count(name) == 1 else f"{name}.{_SHORT[granularity_of(path)]}": (name, path)
        for name, path in files
    }


class FolderNames(NamedTuple):
    """What a folder holds by name.

    `taken` are the references that are read, `others` the rest of them. `doubled` are references
    that lie among the systems, too, which `systems` does not have.
    """

    taken: tuple[str, ...]
    others: tuple[str, ...]
    systems: tuple[str, ...]
    doubled: tuple[str, ...]


def folder_names(
    path: FilePath, languages: str | None = None, *, references: Sequence[str] | None = None
) -> FolderNames:
    """The references and systems of a folder, and which references `read_folder` takes."""
    folder = _find(Path(path), languages)
    taken = _taken(folder, path, references)
    doubled = _doubled(folder)
    return FolderNames(
        taken,
        tuple(name for name, _ in folder.references if name not in taken),
        tuple(name for name, _ in folder.systems if name not in doubled),
        doubled,
    )


def folder_files(
    path: FilePath,
    languages: str | None = None,
    *,
    references: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
) -> list[Path]:
    """The files that `read_folder` reads with the same choices."""
    folder = _chosen(_find(Path(path), languages), path, references, systems)
    texts = [each for _, each in (*folder.references, *folder.systems)]
    return [*folder.sources, *texts, *folder.documents]


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
    write_all(path, {name: joined_lines(lines, Path(path) / name) for name, lines in files.items()})


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


def _chosen(
    folder: _Folder,
    path: FilePath,
    references: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
) -> _Folder:
    """The folder with the chosen references and systems only."""
    taken, doubled = _taken(folder, path, references), _doubled(folder)
    texts, outputs = dict(folder.references), dict(folder.systems)
    wanted = [name for name in outputs if name not in doubled] if systems is None else systems
    for name in wanted:
        if name not in outputs:
            hint, known = did_you_mean(name, outputs), ", ".join(outputs)
            raise DataError(f"{path} has no system {name!r}{hint}. It has {known}.")
        if name in doubled and _called(name, taken):
            raise DataError(
                f"{path}: {name} is the reference, and cannot be a system as well. Leave it out, "
                "or choose another reference with references=NAME."
            )
    return folder._replace(
        references=[(name, texts[name]) for name in taken],
        systems=[(name, outputs[name]) for name in wanted],
    )


def _taken(folder: _Folder, path: FilePath, wanted: Sequence[str] | None) -> tuple[str, ...]:
    """The names of the references that are asked for, or of the one that is taken by itself."""
    names = [name for name, _ in folder.references]
    if wanted is None:
        return tuple(_usual(names, _doubled(folder))[:1])
    if list(wanted) == ["all"]:
        return tuple(names)
    found = [_called(name, names) or _called(f"ref{name}", names) for name in wanted]
    for name, real in zip(wanted, found, strict=True):
        if real is None:
            hint, known = did_you_mean(name, names), ", ".join(names) or "none"
            raise DataError(f"{path} has no reference {name!r}{hint}. It has {known}.")
        if found.count(real) > 1:
            raise DataError(f"{path}: the reference {real} is named twice; name it once.")
    return tuple(name for name in found if name is not None)


def _usual(names: Sequence[str], doubled: Sequence[str]) -> list[str]:
    """The references with the one first that is taken where none is named.

    That is refA, then one without a letter, then what people made and nobody lists as a system.

    >>> _usual(["refC", "refB", "synthetic_ref"], ["refB"])
    ['refC', 'refB', 'synthetic_ref']
    """

    def rank(name: str) -> tuple[bool, ...]:
        listed = any(_bare(each) == _bare(name) for each in doubled)
        return _bare(name) != "refa", _bare(name) != "ref", _is_machine_made(name), listed

    return sorted(sorted(names, key=_natural), key=rank)


def _doubled(folder: _Folder) -> tuple[str, ...]:
    """The systems that go by the name of a reference."""
    references = [name for name, _ in folder.references]
    return tuple(name for name, _ in folder.systems if _called(name, references))


def _called(name: str, references: Iterable[str]) -> str | None:
    """The reference of that name, however it is spelled: refA, ref-A, ref.A."""
    found = [each for each in references if _bare(each) == _bare(name)]
    return name if name in found else next(iter(found), None)


def _bare(name: str) -> str:
    return re.sub(r"[-_. ]", "", name.casefold())


def _is_machine_made(name: str) -> bool:
    return _MACHINE.search(name) is not None


def _natural(name: str) -> list[tuple[int, str]]:
    """For sorting: ref2 before ref10."""
    return [(int(part or 0), text) for part, text in re.findall(r"(\d*)(\D*)", name)]


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
        hint = did_you_mean(pair, pairs)
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
        _scored(human),
        _scored(metric),
    )


def _simple(path: Path, pair: str) -> _Folder:
    home = path.resolve()
    texts = [each for ending in _TEXTS for each in _regular(path, "", ending)]
    return _Folder(
        home.parent.name if _PAIR.fullmatch(home.name) else home.name,
        pair,
        [each for each in texts if system_name(each) == "src"],
        sorted(
            (f"ref{found[1]}", each)
            for each in texts
            if (found := re.fullmatch(r"ref[._-]?(.*)", system_name(each)))
        ),
        [(system_name(e), e) for end in _TEXTS for e in _regular(path / "systems", "", end)],
        _exactly(path / "docs.tsv"),
        [
            (each.name[: -len(".sys.tsv")], each)
            for each in _regular(path / "human", "", ".tsv")
            if granularity_of(each)
        ],
        [],
    )


def _scored(files: Sequence[tuple[str, Path]]) -> list[tuple[str, Path]]:
    """The files whose names say what the scores are of, by the rest of the name."""
    return [(name[: -len(".sys.score")], path) for name, path in files if granularity_of(path)]


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
