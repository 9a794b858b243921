"""Suites from files and to files, in the format that a file's name tells; outputs from files."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from assay.data import DataError
from assay.io.files import FilePath, bare_name, label, read_lines, suffix
from assay.io.tables import TableRow, read_table
from assay.registry import did_you_mean
from assay.suites.files.columns import (
    ItemTable,
    guess_roles,
    is_tq_autotest,
    read_item_table,
)
from assay.suites.files.items import (
    read_items_json,
    read_items_jsonl,
    write_items_json,
    write_items_jsonl,
)
from assay.suites.files.mapping import suite_of_table
from assay.suites.files.spreadsheets import (
    is_items_table,
    read_items_tsv,
    suite_of_rows,
    write_items_tsv,
)
from assay.suites.model import Run, Suite

__all__ = ["is_suite_file", "names_of", "read_ids", "read_runs", "read_suite", "write_suite"]


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

    A .csv, .xlsx or .txt file may have the columns of the .tsv or those of TQ-AutoTest's files;
    for others, `suite_of_table` takes what each column holds.

    What is wrong with a file is a `DataError` that names the line, the item and the field. A
    database is an SQLite file of `assay suite import`, or `postgresql://user:password@host/name`.

    >>> from importlib.resources import files
    >>> len(read_suite(files("assay") / "demo/suite/items.json"))
    48
    """
    if _is_database(path):
        from assay.suites.store.suites import read_stored_suite

        return read_stored_suite(path)
    if suffix(path) in _TABLES:
        return _read_table_of_items(path)
    return _format(path).read(path)


def is_suite_file(path: FilePath) -> bool:
    """Whether `read_suite` knows what a file holds, by its fields or its header."""
    columns = read_item_table(path).columns
    if suffix(path) in (".json", ".jsonl"):
        return {"id", "category", "phenomenon", "source_sentence"} <= set(columns)
    return is_items_table(columns)


def write_suite(path: FilePath, suite: Suite) -> None:
    """Write a suite, whole or not at all; `read_suite` gives an equal one back."""
    if not suite.items:
        raise DataError(f"{path}: the suite has no items to write.")
    _format(path).write(path, suite)


_TABLES = (".tsv", ".csv", ".txt", ".xlsx")
"""The endings of tables, which are told apart by their headers."""


def _read_table_of_items(path: FilePath) -> Suite:
    if suffix(path) == ".tsv" and not is_tq_autotest(read_lines(path)[0].split("\t")):
        return read_items_tsv(path)
    table = read_item_table(path)
    if is_tq_autotest(table.columns):
        return suite_of_table(table, guess_roles(table))
    if is_items_table(table.columns):
        return suite_of_rows(path, [TableRow(1, list(table.columns)), *table.rows])
    if len(table.columns) == 1 and suffix(path) == ".txt":
        _format(path)
    columns = ", ".join(table.columns)[:200]
    raise DataError(
        f"{label(path)}: say what its columns hold ({columns}) when you import it: "
        f"assay suite import {label(path)} --db DB --columns {shlex.join(_proposed(table))}"
    )


def _proposed(table: ItemTable) -> list[str]:
    told = zip(table.columns, guess_roles(table), strict=True)
    return list(dict.fromkeys(f"{role}={name}" for name, role in told if role != "keep"))


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


def read_runs(
    suite: Suite,
    paths: Sequence[FilePath],
    *,
    ids: FilePath | None = None,
    names: Sequence[str] | None = None,
    campaign: str = "",
    date: str = "",
) -> list[Run]:
    """One run per file; the systems are called after their files, or by `names`.

    A plain file has one output per line, in the order of the items, or of the ids in the file
    `ids`. A .tsv has the columns `item` and `output` and any order. Items without an output are
    not tested.
    """
    _check_standard_input([*paths, *([] if ids is None else [ids])])
    _check_date(date)
    systems = names_of(paths, names)
    order = tuple(item.id for item in suite.items) if ids is None else read_ids(suite, ids)
    runs = []
    for system, path in zip(systems, paths, strict=True):
        if suffix(path) == ".tsv":
            outputs = _from_table(suite, path)
        else:
            outputs = _from_lines(path, order, ids)
        runs.append(Run(system, outputs, campaign, date))
    return runs


def read_ids(suite: Suite, path: FilePath) -> tuple[str, ...]:
    """The ids of a file, one a line; each must be an item of the suite and stand there once."""
    lines = [line.strip() for line in read_lines(path)]
    _check_ids(suite, path, list(enumerate(lines, 1)))
    return tuple(lines)


def names_of(paths: Sequence[FilePath], names: Sequence[str] | None = None) -> list[str]:
    """The names of the systems, each its own: those of the files where none are given."""
    if names is not None and len(names) != len(paths):
        raise DataError(
            f"{len(names)} names for {len(paths)} files. Name every system, in the order of the "
            "files."
        )
    endings = (".tsv", ".txt", ".gz", ".xz")
    found = list(names) if names is not None else [bare_name(path, endings) for path in paths]
    seen: dict[str, FilePath] = {}
    for name, path in zip(found, paths, strict=True):
        if not name.strip():
            raise DataError(f"{label(path)}: the system has no name: pass names=...")
        if name in seen:
            raise DataError(
                f"{label(seen[name])} and {label(path)} would both be system {name!r}: "
                "pass names=..."
            )
        seen[name] = path
    return found


def _from_lines(path: FilePath, order: Sequence[str], ids: FilePath | None) -> Mapping[str, str]:
    lines = read_lines(path)
    if len(lines) != len(order):
        told = f"{label(ids)} has {len(order)} ids" if ids else f"the suite has {len(order)} items"
        remedy = "" if ids else ", or say with ids=FILE which items they are"
        raise DataError(
            f"{label(path)}: {len(lines)} lines, but {told}. Give one output per line in that "
            f"order; blank lines count{remedy}."
        )
    return dict(zip(order, lines, strict=True))


def _from_table(suite: Suite, path: FilePath) -> Mapping[str, str]:
    table = read_table(path)
    ids = [cell.strip() for cell in table.column("item", "id", "item_id")]
    outputs = table.column("output", "translation", "mt")
    _check_ids(suite, path, [(row.line, name) for row, name in zip(table.rows, ids, strict=True)])
    return dict(zip(ids, outputs, strict=True))


def _check_ids(suite: Suite, path: FilePath, ids: Sequence[tuple[int, str]]) -> None:
    seen: dict[str, int] = {}
    for line, name in ids:
        if name not in suite.by_id:
            known = f"no item of the suite has the id {name!r}{did_you_mean(name, suite.by_id)}"
            what = known if name else "there is no id"
            raise DataError(
                f"{label(path)}, line {line}: {what}. Each needs the id of an item; are they of "
                "another suite?"
            )
        if name in seen:
            raise DataError(
                f"{label(path)}, line {line}: item {name} stands on line {seen[name]} already. "
                "Remove one."
            )
        seen[name] = line


def _check_date(date: str) -> None:
    try:
        if date:
            datetime.fromisoformat(date)
    except ValueError:
        raise DataError(f"{date!r} is not a date; write it as in 2021-09-30.") from None


def _check_standard_input(paths: Sequence[FilePath]) -> None:
    if [str(path) for path in paths].count("-") > 1:
        raise DataError("standard input ('-') can be read only once: name files for the others.")
