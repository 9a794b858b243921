"""The test sets that sacreBLEU knows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from assay.data import DataError, Dataset
from assay.io.datasets import read_dataset
from assay.io.files import FilePath
from assay.io.lines import read_lines
from assay.languages import language_pair
from assay.settings import nearest

__all__ = ["read_testset"]


class _Testset(NamedTuple):
    name: str
    sources: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    documents: tuple[str, ...]


def read_testset(
    name: str,
    languages: str,
    *,
    systems: Sequence[FilePath] = (),
    names: Sequence[str] | None = None,
) -> Dataset:
    """A test set by sacreBLEU's name, with these systems' outputs.

    sacreBLEU downloads it when it is first used. Several test sets are joined by commas
    (`wmt17,wmt18`), one after the other.
    """
    parts = [_read(each, languages) for each in name.split(",")]
    references = tuple(chain(*(part.references for part in parts)))
    if len({len(each) for each in references}) > 1:
        raise DataError(f"{name}: these test sets differ in their number of references.")
    outputs = read_dataset([], systems, names=names).systems if systems else {}
    for system, lines in outputs.items():
        if len(lines) != len(references):
            raise DataError(
                f"system {system!r}: {len(lines)} lines, but {name} {languages} has "
                f"{len(references)}. Each file needs one line per segment; blank lines count."
            )
    return Dataset(
        systems=outputs,
        references=references,
        sources=tuple(chain(*(part.sources for part in parts))),
        documents=_documents(parts),
        name=name,
        languages=language_pair(languages),
    )


def _documents(parts: Sequence[_Testset]) -> tuple[str, ...]:
    if not all(part.documents for part in parts):
        return ()
    if len(parts) == 1:
        return parts[0].documents
    return tuple(f"{part.name}:{document}" for part in parts for document in part.documents)


def _read(name: str, languages: str) -> _Testset:
    testset = _find(name, languages)
    try:
        source = Path(testset.get_source_file(languages))
        references = [Path(path) for path in testset.get_reference_files(languages)]
        fields = dict(zip(testset.fieldnames(languages), testset.get_files(languages), strict=True))
    # sacreBLEU ends the process where a download is damaged.
    except (Exception, SystemExit) as error:
        raise DataError(_not_fetched(name, languages, error)) from None
    dataset = read_dataset(references, [], source=source)
    return _Testset(
        name, dataset.sources, dataset.references, _ids(fields.get("docid"), len(dataset))
    )


def _find(name: str, languages: str) -> Any:
    from sacrebleu.dataset import DATASETS

    if name not in DATASETS:
        known = ", ".join(sorted(DATASETS))
        raise DataError(f"no test set {name!r}{nearest(name, DATASETS)}. Known: {known}.")
    pairs = sorted(DATASETS[name].langpairs)
    if languages not in pairs:
        raise DataError(f"{name} has no language pair {languages!r}. It has {', '.join(pairs)}.")
    return DATASETS[name]


def _ids(path: str | None, length: int) -> tuple[str, ...]:
    """The document of every segment, where the test set tells."""
    if path is None or not Path(path).stat().st_size:
        return ()
    documents = read_lines(path)
    return documents if len(documents) == length and all(documents) else ()


def _not_fetched(name: str, languages: str, error: BaseException) -> str:
    reason = "damaged download" if isinstance(error, SystemExit) else str(error)
    return (
        f"the test set {name} {languages} could not be fetched ({reason}). Where there is a "
        f"network, run: sacrebleu -t {name} -l {languages} --echo src; then copy its folder "
        "~/.sacrebleu here, or set the variable SACREBLEU to the copy."
    )
