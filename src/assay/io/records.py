"""Files that hold a whole dataset, a row per output or per segment: TSV, CSV, JSONL, Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

from assay.data import DataError, Dataset
from assay.io.columns import (
    ColumnChoice,
    ColumnNames,
    ToldColumns,
    assemble,
    read_text,
    read_texts,
    recognise,
    told_columns,
)
from assay.io.files import FilePath, bare_name, label, suffix, write_whole
from assay.io.tables import TableObject, read_objects, write_table
from assay.settings import did_you_mean

__all__ = ["read_records", "reference_columns", "write_jsonl", "write_tsv"]

_ENDINGS = (".tsv", ".csv", ".jsonl", ".json", ".parquet", ".txt", ".gz", ".xz")


def read_records(path: FilePath, columns: Mapping[str, ColumnChoice] | None = None) -> Dataset:
    """The dataset of a TSV, CSV, JSON Lines or Parquet file whose columns have names.

    Long: `system` and `mt`, one row per system and segment; without `system` the file's name is
    the only system's. Wide: `mt:NAME` for every system, one row per segment. Besides, `src`,
    `ref` (or `ref1`, `ref:NAME` ...; in JSON Lines and Parquet also a list of texts), `doc`, and
    the other names that `recognise` knows. `columns` says which column holds what where they are
    called otherwise: `{"hypothesis": "out", "reference": ["a", "b"], "system": "model"}`.

    In TSV nothing is escaped: backslashes and quotes are text.
    """
    told, rows = told_columns(columns), read_objects(path)
    if not rows:
        raise DataError(f"{label(path)} has no records.")
    _check_told(path, told, rows)
    unit = "row" if suffix(path) == ".parquet" else "line"
    meaning = partial(
        recognise,
        told=told,
        place=f"{label(path)}, {unit}",
        only_system=bare_name(path, _ENDINGS),
    )
    names = [_names(path, row, meaning) for row in rows]
    translations = [
        translation
        for row, columns_of_row in zip(rows, names, strict=True)
        for translation in columns_of_row.read(row.line, row.values)
    ]
    about = _agreed_about(rows, names)
    dataset = assemble(translations, names[0])
    languages = about.source_language, about.target_language
    return replace(
        dataset,
        name=about.name,
        languages=languages if any(languages) else None,
        reference_names=about.reference_names,
    )


def _check_told(path: FilePath, told: ToldColumns, rows: Sequence[TableObject]) -> None:
    """Columns that were named must be there; in JSON Lines at least in one row."""
    there = {column: None for row in rows for column in row.values} if told else {}
    for role, pairs in told:
        for _, column in pairs:
            if column not in there:
                known = ", ".join(there)[:200]
                hint = did_you_mean(column, there)
                raise DataError(
                    f"{label(path)}: no column {column!r} for the {role}{hint}. It has {known}."
                )


def _names(path: FilePath, row: TableObject, meaning: Any) -> ColumnNames:
    """Which column of a row holds what; something must."""
    keys = tuple(row.values)
    has_header = suffix(path) not in (".jsonl", ".parquet")
    line = 1 if has_header else row.line
    try:
        columns: ColumnNames = meaning(keys)
    except DataError as error:
        raise DataError(f"{label(path)}, line {line}: {error}") from None
    if columns.references or columns.hypotheses or columns.source:
        return columns
    if not has_header:
        raise DataError(f"{columns.at(line)}: none of 'src', 'mt' and 'ref' is there.")
    raise DataError(
        f"{columns.at(line)}: no column is called src, ref, mt or mt:NAME (there are "
        f"{', '.join(keys)[:200]}). Name the columns, or give plain text as .txt."
    )


class _About(NamedTuple):
    """What holds for a whole dataset, and so for each of its rows."""

    name: str = ""
    source_language: str = ""
    target_language: str = ""
    reference_names: tuple[str, ...] = ()


_ABOUT = {
    "dataset": "name",
    "source_language": "source_language",
    "target_language": "target_language",
    "reference_names": "reference_names",
}


def _agreed_about(rows: Sequence[TableObject], names: Sequence[ColumnNames]) -> _About:
    """What all rows say of the dataset."""
    first = _about(rows[0], names[0])
    for row, columns in zip(rows, names, strict=True):
        if _about(row, columns) != first:
            raise DataError(
                f"{columns.at(row.line)}: another dataset, language or reference name than on "
                f"line {rows[0].line}. One file holds one dataset."
            )
    return first


def _about(row: TableObject, columns: ColumnNames) -> _About:
    told = {part: row.values[key] for key, part in _about_keys(tuple(row.values))}
    try:
        names = read_texts(told, "reference_names") or columns.reference_names
        texts = {part: read_text(told, part) or "" for part in told if part != "reference_names"}
    except DataError as error:
        raise DataError(f"{columns.at(row.line)}: {error}") from None
    return _About(reference_names=names, **texts)


@lru_cache(maxsize=64)
def _about_keys(keys: tuple[str, ...]) -> list[tuple[str, str]]:
    known = ((key, _ABOUT.get(key.strip().lower(), "")) for key in keys)
    return [(key, part) for key, part in known if part]


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


def write_tsv(dataset: Dataset, path: FilePath) -> None:
    """Write a wide table, one row per segment; `read_records` gives the same dataset back.

    Tabs, line breaks and a varying number of references do not fit in a table and are errors.
    """
    columns = dict(_columns(dataset, path))
    if not columns or not len(dataset):
        raise DataError(f"{path}: the dataset has no texts to write.")
    write_table(path, list(columns), list(zip(*columns.values(), strict=True)))


def _columns(dataset: Dataset, path: FilePath) -> Iterator[tuple[str, tuple[str, ...]]]:
    references = reference_columns(path, dataset)
    names = [name for name, _ in references]
    if len(set(names)) < len(names) and any(names):
        raise DataError(f"{path}: two references have the same name. Rename one.")
    if dataset.documents:
        yield "doc", dataset.documents
    if dataset.sources:
        yield "src", dataset.sources
    for number, (name, lines) in enumerate(references, 1):
        yield f"ref:{name}" if name else f"ref{number}" if len(references) > 1 else "ref", lines
    for name, lines in dataset.systems.items():
        if not name:
            raise DataError(f"{path}: a system needs a name to head its column.")
        yield f"mt:{name}", lines
    source, target = dataset.languages or ("", "")
    about = {"dataset": dataset.name, "source_language": source, "target_language": target}
    yield from ((key, (value,) * len(dataset)) for key, value in about.items() if value)


def write_jsonl(dataset: Dataset, path: FilePath) -> None:
    """Write one record per system and segment; `read_records` gives the same dataset back."""
    records = list(_to_records(dataset))
    if not records:
        raise DataError(f"{path}: the dataset has no segments to write.")
    write_whole(path, "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records))


def _to_records(dataset: Dataset) -> Iterator[dict[str, Any]]:
    about = _describe(dataset)
    for system, lines in dataset.systems.items() or [(None, None)]:
        for index, references in enumerate(dataset.references):
            record: dict[str, Any] = {}
            if system is not None and lines is not None:
                record |= {"system": system, "mt": lines[index]}
            if dataset.documents:
                record["doc"] = dataset.documents[index]
            if dataset.sources:
                record["src"] = dataset.sources[index]
            if len(references) == 1:
                record["ref"] = references[0]
            else:
                record["refs"] = list(references)
            yield record | about


def _describe(dataset: Dataset) -> dict[str, Any]:
    source, target = dataset.languages or ("", "")
    about = {
        "dataset": dataset.name,
        "source_language": source,
        "target_language": target,
        "reference_names": list(dataset.reference_names),
    }
    return {key: value for key, value in about.items() if value}
