"""Records of one translation each, under the names people give to their parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from assay.data import DataError, Dataset
from assay.io.files import FilePath, label

__all__ = ["About", "Layout", "Record", "assemble", "layout", "reference_columns"]

_WORDS = {
    "source": ("src", "source"),
    "reference": ("ref", "refs", "reference", "references"),
    "text": ("mt", "hyp", "hypothesis", "output"),
    "system": ("system",),
    "document": ("doc", "doc_id", "document"),
    "name": ("dataset",),
    "source_language": ("source_language",),
    "target_language": ("target_language",),
    "reference_names": ("reference_names",),
}
_PARTS = {word: part for part, words in _WORDS.items() for word in words}


class About(NamedTuple):
    """What holds for a whole dataset, and so for each of its records."""

    name: str = ""
    source_language: str = ""
    target_language: str = ""
    reference_names: tuple[str, ...] = ()


class Record(NamedTuple):
    """One system's output for one segment, and the file's line it came from."""

    line: int
    system: str
    text: str | None
    references: tuple[str, ...]
    source: str | None
    document: str | None
    about: About


class Layout(NamedTuple):
    """Which key holds which part of a record; `references` and `texts` are by name."""

    single: Mapping[str, str]
    references: tuple[tuple[str, str], ...]
    texts: tuple[tuple[str, str], ...]

    @property
    def reference_names(self) -> tuple[str, ...]:
        """The names of the references, where every one has a name."""
        names = tuple(name for name, _ in self.references)
        return names if all(names) else ()


@lru_cache(maxsize=64)
def layout(keys: tuple[str, ...]) -> Layout:
    """Which of these keys or columns holds what; others are ignored.

    `ref`, `ref1`, `refA` and `ref:A` are references; `mt` is a translation, and `mt:NAME` that
    of the system NAME.
    """
    single: dict[str, str] = {}
    several: dict[str, list[tuple[str, str]]] = {"reference": [], "text": []}
    for key in keys:
        part, name = _meaning(key)
        if part in several:
            several[part].append((name, key))
        elif part and single.setdefault(part, key) != key:
            raise DataError(f"both {single[part]!r} and {key!r} hold the {part}. Keep one.")
    _check_texts([name for name, _ in several["text"]], long="system" in single)
    return Layout(single, tuple(several["reference"]), tuple(several["text"]))


def _meaning(key: str) -> tuple[str, str]:
    word, colon, name = key.partition(":")
    part = _PARTS.get(word.strip().lower(), "")
    if colon:
        return (part, name) if part in ("reference", "text") else ("", "")
    if numbered := re.fullmatch(r"(?:ref|reference)[ _.-]?(?:[0-9]+|([A-Z]))", key.strip()):
        return "reference", numbered[1] or ""
    return part, ""


def _check_texts(names: list[str], *, long: bool) -> None:
    if long and names not in ([], [""]):
        raise DataError("'system' goes with one 'mt'. Keep 'system' and 'mt', or 'mt:NAME' alone.")
    if len(set(names)) < len(names) or ("" in names and len(names) > 1):
        raise DataError("several keys hold a translation. Name the system of each: 'mt:NAME'.")


def assemble(path: FilePath, records: Sequence[Record]) -> Dataset:
    """The dataset of these records; the systems must have the same segments in the same order."""
    if not records:
        raise DataError(f"{label(path)} has no records.")
    by_system: dict[str, list[Record]] = {}
    for record in records:
        by_system.setdefault(record.system, []).append(record)
    first = next(iter(by_system.values()))
    for system, others in by_system.items():
        _check_aligned(path, system, others, first)
    _check_about(path, records)
    about = records[0].about
    texts = {name: _all(path, each, "text", "mt") for name, each in by_system.items()}
    return Dataset(
        systems={name: lines for name, lines in texts.items() if lines},
        references=tuple(record.references for record in first),
        sources=_all(path, first, "source", "src"),
        documents=_all(path, first, "document", "doc"),
        name=about.name,
        languages=(about.source_language, about.target_language)
        if about.source_language or about.target_language
        else None,
        reference_names=about.reference_names,
    )


def reference_columns(path: FilePath, dataset: Dataset) -> list[tuple[str, tuple[str, ...]]]:
    """Each reference set with its name ("" where unnamed); every segment must have them all."""
    counts = {len(references): n for n, references in enumerate(dataset.references, 1)}
    if len(counts) > 1:
        raise DataError(
            f"{path}: segments {' and '.join(map(str, sorted(counts.values())[:2]))} differ in "
            "their number of references, which only JSON Lines (.jsonl) can hold."
        )
    sets = list(zip(*dataset.references, strict=True))
    names = dataset.reference_names or ("",) * len(sets)
    if len(names) != len(sets):
        raise DataError(f"{path}: {len(names)} reference names, but {len(sets)} references.")
    return list(zip(names, sets, strict=True))


def _check_aligned(
    path: FilePath, system: str, records: Sequence[Record], first: Sequence[Record]
) -> None:
    if len(records) != len(first):
        raise DataError(
            f"{label(path)}, line {records[-1].line}: system {system!r} has {len(records)} "
            f"segments, but {first[0].system!r} has {len(first)}. Each needs every segment."
        )
    for number, (record, other) in enumerate(zip(records, first, strict=True), 1):
        for part in ("source", "references", "document"):
            if getattr(record, part) != getattr(other, part):
                raise DataError(
                    f"{label(path)}, line {record.line}: segment {number} of system {system!r} has "
                    f"another {part} than on line {other.line}. All systems need the same "
                    "segments in the same order."
                )


def _check_about(path: FilePath, records: Iterable[Record]) -> None:
    first: Record | None = None
    for record in records:
        first = first or record
        if record.about != first.about:
            raise DataError(
                f"{label(path)}, line {record.line}: another dataset, language or reference name "
                f"than on line {first.line}. One file holds one dataset."
            )


def _all(path: FilePath, records: Sequence[Record], part: str, key: str) -> tuple[str, ...]:
    """One part of every record; empty where no record has it, an error where only some do."""
    values: list[Any] = [getattr(record, part) for record in records]
    if all(value is None for value in values):
        return ()
    for record, value in zip(records, values, strict=True):
        if value is None:
            raise DataError(
                f"{label(path)}, line {record.line}: no {key!r}, though others have it."
            )
    return tuple(values)
