"""Outputs of systems, in whatever file they come, and what looks wrong with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.data import DataError
from assay.io.files import FilePath, bare_name, label, suffix
from assay.suites.check import Checker, Verdict
from assay.suites.files import read_runs
from assay.suites.files.columns import ItemTable, read_item_table, role_named
from assay.suites.model import Item, Run, Suite

__all__ = ["OutputSample", "RunPreview", "beside_sources", "preview_run", "read_outputs"]

TABLES = (".tsv", ".csv", ".xlsx", ".jsonl")
OUTPUT = ("output", "translation", "mt", "hypothesis")


def read_outputs(
    suite: Suite, path: FilePath, *, ids: FilePath | None = None, campaign: str = "", date: str = ""
) -> list[Run]:
    """The runs of one file: a plain one has the lines of one system, a table those of several.

    A table has a column with the ids of items or with their sources, and one column per system;
    or one called `output`, and then the system is called after the file. Without ids and sources,
    there must be a row for every item, in their order.
    """
    if suffix(path) not in TABLES:
        return read_runs(suite, [path], ids=ids, campaign=campaign, date=date)
    table = read_item_table(path)
    rows, key = _keyed_rows(suite, table)
    runs = []
    for place, name in _systems(table, key):
        outputs = {item: cells[place] for cells, keys in rows for item in keys}
        runs.append(Run(name, outputs, campaign, date))
    return runs


class RunPreview(NamedTuple):
    """A run before it is saved: what the rules say of it, and what looks wrong."""

    run: Run
    counts: Mapping[Verdict, int]
    missing: int
    doubts: tuple[str, ...]


def preview_run(suite: Suite, run: Run) -> RunPreview:
    """How many outputs of a run pass and fail, and what looks wrong with them."""
    checker = Checker()
    counts: Counter[Verdict] = Counter()
    ruled: Counter[Verdict] = Counter()
    for name, output in run.outputs.items():
        item = suite.by_id[name]
        verdict = checker.judge(item, output).verdict
        counts[verdict] += 1
        ruled[verdict] += bool(item.rules)
    missing = sum(item.id not in run.outputs for item in suite.items if not item.retired)
    return RunPreview(run, counts, missing, tuple(_doubts(suite, run, ruled)))


class OutputSample(NamedTuple):
    """An item, and what each of some systems made of it; None where one has no output."""

    item: Item
    outputs: tuple[str | None, ...]


FIRST = 4
"""Items that are shown beside their outputs, and after them the last one."""


def beside_sources(suite: Suite, runs: Sequence[Run]) -> list[OutputSample]:
    """The first items with an output, and the last one: they show whether lines are aligned."""
    tested = [item for item in suite.items if any(item.id in run.outputs for run in runs)]
    shown = [*tested[:FIRST], *tested[FIRST:][-1:]]
    return [OutputSample(item, tuple(run.outputs.get(item.id) for run in runs)) for item in shown]


MANY = 0.8
"""So large a share of warnings is suspicious."""

SOME = 5
"""So few outputs tell nothing."""


def _doubts(suite: Suite, run: Run, ruled: Counter[Verdict]) -> Iterator[str]:
    tested = ruled.total() - ruled["not tested"]
    if tested >= SOME and ruled["warning"] > MANY * tested:
        yield (
            f"{ruled['warning']} of {tested} outputs are warnings: are they in the order of the "
            "items, and in the right language?"
        )
    same = sum(output == suite.by_id[name].source for name, output in run.outputs.items())
    if same > 0.5 * len(run.outputs):
        yield f"{same} of {len(run.outputs)} outputs are their sources: is it a translation?"
    empty = sum(not output.strip() for output in run.outputs.values())
    if empty:
        yield f"{empty} of {len(run.outputs)} outputs are empty; these will not be tested."


_Rows = list[tuple[list[str], list[str]]]


def _keyed_rows(suite: Suite, table: ItemTable) -> tuple[_Rows, int | None]:
    """The cells of each row with the ids of its items, and the column that told them."""
    by_source: dict[str, list[str]] = {}
    for item in suite.items:
        by_source.setdefault(item.source.strip(), []).append(item.id)
    by_id = {item.id: [item.id] for item in suite.items}
    for known, role in ((by_id, "id"), (by_source, "source")):
        place = _key_column(table, known, role)
        if place is not None:
            return _rows_by(table, place, known), place
    if len(table.rows) != len(suite) or any(role_named(name) for name in table.columns):
        raise DataError(
            f"{label(table.path)}: no column has the ids or the sources of the items, and "
            f"{len(table.rows)} rows are not one for each of the {len(suite)} items. Add a column."
        )
    ids = [[item.id] for item in suite.items]
    return [(row.cells, keys) for row, keys in zip(table.rows, ids, strict=True)], None


def _key_column(table: ItemTable, known: Mapping[str, Sequence[str]], role: str) -> int | None:
    """The column of that name, or else the one whose cells are nearly all known."""
    shares = [
        sum(row.cells[place].strip() in known for row in table.rows) / len(table.rows)
        for place in range(len(table.columns))
    ]
    named = [at for at, name in enumerate(table.columns) if role_named(name) == role]
    if named and shares[named[0]] > 0:
        return named[0]
    best = max(range(len(shares)), key=shares.__getitem__)
    return best if shares[best] > MANY else None


def _rows_by(table: ItemTable, place: int, known: Mapping[str, list[str]]) -> _Rows:
    rows: _Rows = []
    seen: dict[str, int] = {}
    for row in table.rows:
        cell = row.cells[place].strip()
        if cell not in known:
            raise DataError(
                f"{label(table.path)}, row {row.line}: no item of the suite has {cell[:80]!r} in "
                f"column {table.columns[place]!r}. Remove the row, or add the item first."
            )
        if cell in seen:
            raise DataError(
                f"{label(table.path)}, row {row.line}: {cell[:80]!r} stands in row {seen[cell]} "
                "already. Remove one."
            )
        seen[cell] = row.line
        rows.append((row.cells, known[cell]))
    return rows


def _systems(table: ItemTable, key: int | None) -> list[tuple[int, str]]:
    """The columns with outputs, and the names of their systems."""
    one = next((at for at, name in enumerate(table.columns) if name.lower() in OUTPUT), None)
    if one is not None:
        return [(one, bare_name(table.path, (*TABLES, ".gz", ".xz")))]
    found = [
        (at, name)
        for at, name in enumerate(table.columns)
        if at != key and role_named(name) is None
    ]
    names = [name for _, name in found]
    if not found:
        raise DataError(f"{label(table.path)}: no column has outputs of a system.")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise DataError(f"{label(table.path)}: two columns are called {twice!r}. Rename one.")
    return found
