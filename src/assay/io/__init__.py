"""Reading and writing files: `read` finds out what it is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from assay.data import DataError, Dataset, MissingInput, language_pair
from assay.io.columns import ColumnChoice
from assay.io.datasets import (
    read_dataset,
    read_documents,
    read_groups,
    read_testset,
    read_texts,
)
from assay.io.files import (
    FilePath,
    digest,
    read_lines,
    system_name,
    write_lines,
    write_whole,
)
from assay.io.folders import (
    folder_files,
    folder_names,
    read_folder,
    read_folder_scores,
    write_folder,
)
from assay.io.readers import READERS, DatasetReader, is_table
from assay.io.records import read_records, write_jsonl, write_tsv
from assay.io.scores import read_scores, write_scores
from assay.io.wmt import SgmTexts, read_sgm, read_wmt_xml

__all__ = [
    "READERS",
    "TESTSET",
    "DatasetReader",
    "FilePath",
    "SgmTexts",
    "digest",
    "folder_files",
    "folder_names",
    "is_table",
    "language_pair",
    "read",
    "read_dataset",
    "read_documents",
    "read_folder",
    "read_folder_scores",
    "read_groups",
    "read_lines",
    "read_records",
    "read_scores",
    "read_sgm",
    "read_testset",
    "read_texts",
    "read_wmt_xml",
    "system_name",
    "write_folder",
    "write_jsonl",
    "write_lines",
    "write_scores",
    "write_tsv",
    "write_whole",
]

TESTSET = "sacrebleu:"
"""What begins the name of a test set of sacreBLEU's."""


def read(
    path: FilePath | None = None,
    *,
    references: FilePath | Sequence[FilePath] | None = None,
    systems: FilePath | Sequence[FilePath] | Mapping[str, FilePath] | None = None,
    source: FilePath | None = None,
    languages: str | tuple[str, str] | None = None,
    documents: FilePath | None = None,
    groups: FilePath | None = None,
    names: Sequence[str] | None = None,
    columns: Mapping[str, ColumnChoice] | None = None,
) -> Dataset:
    """A test set from a folder, a table, sacreBLEU's collection, or single files.

    - `read("wmt21/de-en")`: a folder, as `read_folder` describes it; `references` and `systems`
      choose among its texts by name, `languages` among its language pairs
    - `read("outputs.tsv")`: a table (.tsv, .csv, .jsonl, .parquet) or WMT's .xml with all texts;
      `columns` says what its columns hold where they have other names than usual:
      `columns={"hypothesis": "output", "reference": "gold"}`
    - `read("sacrebleu:wmt18", languages="de-en", systems=["a.txt"])`: a test set of sacreBLEU's
    - `read(references="ref.txt", systems=["a.txt", "b.txt"], source="src.txt")`: single files,
      plain or in any of these formats; a mapping names the systems: `{"base": "a.txt"}`

    `documents` and `groups` are files with the document and the group (the domain, say) of each
    segment. `names` renames the systems.

    >>> import assay.demo
    >>> folder = Path(assay.demo.__file__).parent
    >>> data = read(references=folder / "ref.A.txt", systems=[folder / "systems" / "birch.txt"])
    >>> len(data), list(data.systems)
    (120, ['birch'])
    >>> sorted(read(folder, languages="de-en").human)
    ['da.seg', 'da.sys']
    """
    if isinstance(systems, Mapping):
        names = names or list(systems)
        systems = list(systems.values())
    chosen, outputs = _several(references), _several(systems)
    if path is None or is_table(path):
        if path is not None:
            outputs = [*(outputs or ()), path]
        return read_dataset(
            chosen or (),
            outputs or (),
            source=source,
            documents=documents,
            names=names,
            languages=languages,
            groups=groups,
            columns=columns,
        )
    if source is not None:
        raise DataError(f"{path} brings its own source: leave source= out.")
    if str(path).startswith(TESTSET):
        dataset = _read_testset(str(path), languages, chosen, outputs or (), names)
    else:
        dataset = _read_folder(Path(path), languages, chosen, outputs, names)
    if documents is not None:
        dataset = replace(dataset, documents=read_documents(documents))
    if groups is not None:
        dataset = replace(dataset, groups=read_groups(groups, len(dataset)))
    return dataset


def _several(paths: FilePath | Sequence[FilePath] | None) -> list[FilePath] | None:
    if paths is None:
        return None
    return [paths] if isinstance(paths, str | Path) else list(paths)


def _read_testset(
    name: str,
    languages: str | tuple[str, str] | None,
    references: Sequence[FilePath] | None,
    systems: Sequence[FilePath],
    names: Sequence[str] | None,
) -> Dataset:
    if languages is None:
        raise MissingInput("languages", f"{name} is there for several language pairs")
    if references is not None:
        raise DataError(f"{name} brings its own references: leave references= out.")
    return read_testset(name.removeprefix(TESTSET), _pair(languages), systems=systems, names=names)


def _read_folder(
    path: Path,
    languages: str | tuple[str, str] | None,
    references: Sequence[FilePath] | None,
    systems: Sequence[FilePath] | None,
    names: Sequence[str] | None,
) -> Dataset:
    if names is not None:
        raise DataError(f"{path} brings the names of its systems: leave names= out.")
    pair = None if languages is None else _pair(languages)
    if not path.is_dir() and path.parent.is_dir() and pair is None and path.name.count("-") == 1:
        # A pair of a folder in mt-metrics-eval's layout, which has no folder of its own.
        path, pair = path.parent, path.name
    if not path.exists():
        raise DataError(
            f"{path} does not exist. Check the path; a test set of sacreBLEU's is sacrebleu:NAME."
        )
    return read_folder(
        path,
        pair,
        references=None if references is None else [str(name) for name in references],
        systems=None if systems is None else [str(name) for name in systems],
    )


def _pair(languages: str | tuple[str, str]) -> str:
    return languages if isinstance(languages, str) else "-".join(languages)
