"""Suites from files and to files, in the format that a file's name tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from assay.data import DataError
from assay.io.files import FilePath, label, suffix
from assay.suites.files.items import (
    read_items_json,
    read_items_jsonl,
    write_items_json,
    write_items_jsonl,
)
from assay.suites.files.spreadsheets import read_items_tsv, write_items_tsv
from assay.suites.model import Suite

__all__ = ["read_suite", "write_suite"]


class _SuiteFormat(NamedTuple):
    read: Callable[[FilePath], Suite]
    write: Callable[[FilePath, Suite], None]


_FORMATS: Mapping[str, _SuiteFormat] = {
    ".json": _SuiteFormat(read_items_json, write_items_json),
    ".jsonl": _SuiteFormat(read_items_jsonl, write_items_jsonl),
    ".tsv": _SuiteFormat(read_items_tsv, write_items_tsv),
}


def read_suite(path: FilePath) -> Suite:
    """The suite of a .json, .jsonl or .tsv file, packed (.gz, .xz) or not, or of a database.

    What is wrong with a file is a `DataError` that names the line, the item and the field. A
    database is an SQLite file of `assay suite import`, or `postgresql://user:password@host/name`.

    >>> from importlib.resources import files
    >>> len(read_suite(files("assay") / "demo/suite/items.json"))
    48
    """
    if _is_database(path):
        from assay.suites.store.suites import read_stored_suite

        return read_stored_suite(path)
    return _format(path).read(path)


def write_suite(path: FilePath, suite: Suite) -> None:
    """Write a suite, whole or not at all; `read_suite` gives an equal one back."""
    if not suite.items:
        raise DataError(f"{path}: the suite has no items to write.")
    _format(path).write(path, suite)


def _is_database(path: FilePath) -> bool:
    if "://" in str(path):
        return True
    file = Path(path)
    if not file.is_file() or suffix(path) in _FORMATS:
        return False
    with file.open("rb") as opened:
        return opened.read(16) == b"SQLite format 3\0"


def _format(path: FilePath) -> _SuiteFormat:
    if (ending := suffix(path)) not in _FORMATS:
        raise DataError(
            f"{label(path)}: a suite is a file in .json, .jsonl or .tsv (packed as .gz or .xz, "
            "if you like); name the file so."
        )
    return _FORMATS[ending]
