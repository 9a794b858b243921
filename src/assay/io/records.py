"""Records of one translation each, in TSV and JSON Lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from assay.data import DataError, Dataset
from assay.io.files import SURROGATE, FilePath, bare_name, label, read_lines, write_whole
from assay.io.tables import Row, TextTable, read_table, write_table

__all__ = [
    "About",
    "Layout",
    "Record",
    "assemble",
    "layout",
    "read_jsonl",
    "read_tsv",
    "reference_columns",
    "write_jsonl",
    "write_tsv",
]

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


def read_tsv(path: FilePath) -> Dataset:
    """The dataset of a table whose header names the columns.

    Long: `system` and `mt`, one row per system and segment. Wide: `mt:NAME` for every system,
    one row per segment. Besides, `src`, `ref` (or `ref1`, `ref:NAME` ...) and `doc`, and the
    other names that `layout` knows. Nothing is escaped: backslashes and quotes are text.
    """
    table = read_table(path)
    try:
        columns = layout(table.columns)
    except DataError as error:
        raise DataError(f"{label(path)}, line 1: {error}") from None
    if not (columns.references or columns.texts or "source" in columns.single):
        raise DataError(
            f"{label(path)}, line 1: no column is called src, ref, mt or mt:NAME (there are "
            f"{', '.join(table.columns)[:200]}). Name the columns, or give plain text as .txt."
        )
    return assemble(
        path, [record for row in table.rows for record in _tsv_records(table, columns, row)]
    )


def write_tsv(dataset: Dataset, path: FilePath) -> None:
    """Write a wide table, one row per segment; `read_tsv` gives the same dataset back.

    Tabs, line breaks and a varying number of references do not fit in a table and are errors.
    """
    columns = dict(_columns(dataset, path))
    if not columns or not len(dataset):
        raise DataError(f"{path}: the dataset has no texts to write.")
    write_table(path, list(columns), list(zip(*columns.values(), strict=True)))


def _tsv_records(table: TextTable, columns: Layout, row: Row) -> Iterator[Record]:
    cells = dict(zip(table.columns, row.cells, strict=True))

    def cell(part: str) -> str | None:
        return cells[columns.single[part]] if part in columns.single else None

    about = About(
        cell("name") or "",
        cell("source_language") or "",
        cell("target_language") or "",
        columns.reference_names,
    )
    default = cell("system")
    if default is None:
        default = bare_name(table.path, (".tsv", ".txt", ".gz", ".xz"))
    references = tuple(cells[key] for _, key in columns.references)
    for name, key in columns.texts or (("", ""),):
        text = cells[key] if key else None
        yield Record(
            row.line, name or default, text, references, cell("source"), cell("document"), about
        )


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


def read_jsonl(path: FilePath) -> Dataset:
    """The dataset of a JSON Lines file.

    Keys: `src`, `mt`, `ref` (a text or a list of texts; also `refs`), `system` and `doc`, and
    the other names that `layout` knows. A file without `system` names its one system itself.
    """
    records: list[Record] = []
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            try:
                records += _jsonl_records(path, number, _parse(line))
            except DataError as error:
                raise DataError(f"{label(path)}, line {number}: {error}") from None
    return assemble(path, records)


def write_jsonl(dataset: Dataset, path: FilePath) -> None:
    """Write one record per system and segment; `read_jsonl` gives the same dataset back."""
    records = list(_to_records(dataset))
    if not records:
        raise DataError(f"{path}: the dataset has no segments to write.")
    write_whole(path, "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records))


def _parse(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise DataError(f"not JSON, at character {error.colno} ({error.msg}).") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"not a record ({error}).") from None
    if not isinstance(value, dict):
        raise DataError('not a record; each line holds one object: {"src": ..., "mt": ...}')
    return value


def _jsonl_records(path: FilePath, number: int, record: dict[str, Any]) -> Iterator[Record]:
    keys = layout(tuple(record))
    if not (keys.references or keys.texts or "source" in keys.single):
        raise DataError("none of 'src', 'mt' and 'ref' is there.")
    default = _text(record, keys.single.get("system"))
    if default is None:
        default = bare_name(path, (".jsonl", ".json", ".gz", ".xz"))
    references = tuple(text for _, key in keys.references for text in _texts(record, key))
    for name, key in keys.texts or (("", None),):
        yield Record(
            number,
            name or default,
            _text(record, key),
            references,
            _text(record, keys.single.get("source")),
            _text(record, keys.single.get("document")),
            _about(record, keys),
        )


def _about(record: dict[str, Any], keys: Layout) -> About:
    names = keys.single.get("reference_names")
    return About(
        _text(record, keys.single.get("name")) or "",
        _text(record, keys.single.get("source_language")) or "",
        _text(record, keys.single.get("target_language")) or "",
        _texts(record, names) if names else keys.reference_names,
    )


def _text(record: dict[str, Any], key: str | None) -> str | None:
    value = record.get(key) if key is not None else None
    if value is not None and not isinstance(value, str):
        raise DataError(f"{key!r} is {json.dumps(value)[:40]}, but must be a text.")
    return _encodable(key, value)


def _texts(record: dict[str, Any], key: str) -> tuple[str, ...]:
    value = record[key]
    values = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(each, str) for each in values):
        raise DataError(f"{key!r} must be a text or a list of texts.")
    return tuple(_encodable(key, each) or "" for each in values)


def _encodable(key: str | None, text: str | None) -> str | None:
    if text is not None and SURROGATE.search(text):
        raise DataError(f"{key!r} has half a character (a lone surrogate escape). Repair it.")
    return text


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
