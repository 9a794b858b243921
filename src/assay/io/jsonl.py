"""JSON Lines: one record `{"src", "mt", "ref"}` per line, as COMET writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from assay.data import DataError, Dataset
from assay.io.files import FilePath, label, write_whole
from assay.io.lines import SURROGATE, bare_name, read_lines
from assay.io.records import About, Layout, Record, assemble, layout

__all__ = ["read_jsonl", "write_jsonl"]


def read_jsonl(path: FilePath) -> Dataset:
    """The dataset of a JSON Lines file.

    Keys: `src`, `mt`, `ref` (a text or a list of texts; also `refs`), `system` and `doc`, and
    the other names that `layout` knows. A file without `system` names its one system itself.
    """
    records: list[Record] = []
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            try:
                records += _records(path, number, _parse(line))
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


def _records(path: FilePath, number: int, record: dict[str, Any]) -> Iterator[Record]:
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
