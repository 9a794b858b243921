"""Tables of scores, published or one's own: a row per system, a column per metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.agreement.panel import Candidate, Panel, lower_is_better
from assay.data import DataError
from assay.io.files import FilePath, label
from assay.io.scores import check_size
from assay.io.tables import TableRow, read_sheets
from assay.registry import did_you_mean

__all__ = ["ScoreTable", "read_score_table"]

PAIRS = ("langs", "pair", "lp", "languages")
SYSTEMS = ("system", "model", "name")
HUMANS = ("human", "z", "raw", "mqm")
"""The columns that are taken where none is named, in any case, the first that is there."""


@dataclass(frozen=True)
class ScoreTable:
    """The columns of a table and its rows, with the lines of the file they stand on.

    `pair_columns` tell language pairs apart, `system_column` names the systems; where they are not
    given, columns with the usual names are taken, if there are any.
    """

    path: FilePath
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    pair_columns: tuple[str, ...] = ()
    system_column: str | None = None

    def panels(
        self, *, human: Sequence[str] = (), metrics: Sequence[str] = (), lower: Sequence[str] = ()
    ) -> list[Panel]:
        """One panel per language pair and human column.

        `metrics` are the columns to test: all other columns of numbers where none is named.
        `lower` names columns in which less is better.
        """
        keys = self._names(self.pair_columns, PAIRS)
        system = [self.system_column] if self.system_column else []
        systems = self._names(system, _but(SYSTEMS, keys))
        rated = self._names(human, HUMANS)
        if not rated:
            known = ", ".join(self.columns)[:200]
            raise DataError(
                f"{label(self.path)}: which column holds the human scores? None is called "
                f"{', '.join(HUMANS)}. Columns: {known}."
            )
        tested = self._names(metrics, ()) or self._numeric({*keys, *systems, *rated})
        groups: dict[str, list[TableRow]] = {}
        for row in self.rows:
            pair = " ".join(row.cells[self.columns.index(key)] for key in keys)
            groups.setdefault(pair, []).append(row)
        return [
            self._panel(pair, rows, column, systems, tested, lower)
            for column in rated
            for pair, rows in groups.items()
        ]

    def _panel(
        self,
        pair: str,
        rows: Sequence[TableRow],
        rated: str,
        systems: Sequence[str],
        metrics: Sequence[str],
        lower: Sequence[str],
    ) -> Panel:
        names = self._systems(rows, systems)
        human = self._numbers(rows, rated)
        columns = {name: self._numbers(rows, name) for name in metrics}
        return Panel(
            pair=pair,
            granularity="system",
            human_name=rated,
            systems=names,
            candidates=tuple(
                Candidate(name, name, values, name in lower or lower_is_better(name, values))
                for name, values in columns.items()
            ),
            human=-human if rated in lower else human,
            source=str(self.path),
        )

    def _names(self, wanted: Sequence[str], usual: Sequence[str]) -> list[str]:
        """The columns that are wanted, in the table's own letters, or the first usual one."""
        folded = {column.lower(): column for column in reversed(self.columns)}
        if not wanted:
            return [folded[name] for name in usual if name in folded][:1]
        for name in wanted:
            if name.lower() not in folded:
                hint, known = did_you_mean(name, self.columns), ", ".join(self.columns)[:200]
                raise DataError(f"{label(self.path)}: no column {name!r}{hint}. Columns: {known}.")
        return [name if name in self.columns else folded[name.lower()] for name in wanted]

    def _numeric(self, taken: set[str]) -> list[str]:
        """The other columns with nothing but numbers, or nothing, in them."""
        numeric = []
        for place, column in enumerate(self.columns):
            cells = [row.cells[place] for row in self.rows]
            numbers = [_number(cell) for cell in cells if cell]
            if column and column not in taken and numbers and None not in numbers:
                numeric.append(column)
        if not numeric:
            raise DataError(
                f"{label(self.path)}: no column of numbers beside people's. Name the metrics."
            )
        return numeric

    def _systems(self, rows: Sequence[TableRow], columns: Sequence[str]) -> tuple[str, ...]:
        if not columns:
            return tuple(str(number) for number in range(1, len(rows) + 1))
        place = self.columns.index(columns[0])
        seen: dict[str, int] = {}
        for row in rows:
            name = row.cells[place]
            first = seen.setdefault(name, row.line)
            if first != row.line:
                raise DataError(
                    f"{label(self.path)}, line {row.line}: {name!r} stands on line {first} "
                    "already. Keep one, or tell pairs apart with pair_columns=NAME."
                )
        return tuple(seen)

    def _numbers(self, rows: Sequence[TableRow], column: str) -> np.ndarray:
        """One column as (rows, 1) numbers; `nan` for an empty cell, None or nan."""
        place, values = self.columns.index(column), []
        for row in rows:
            cell = row.cells[place]
            value = _number(cell) if cell not in _EMPTY else math.nan
            if value is None:
                raise DataError(
                    f"{label(self.path)}, line {row.line}, {column}: {cell[:40]!r} is not a "
                    "number; leave the cell empty where it is unknown."
                )
            check_size(f"{label(self.path)}, line {row.line}, {column}", value)
            values.append(value)
        return np.array(values, float)[:, None]


def read_score_table(
    path: FilePath, *, pair_columns: Sequence[str] = (), system_column: str | None = None
) -> ScoreTable:
    """A table with a header, its cells separated by tabs or, where there are none, by commas."""
    sheets = read_sheets(path)
    if not sheets:
        raise DataError(f"{label(path)} is empty; its first line must name the columns.")
    rows = sheets[0]
    columns = tuple(cell.strip() for cell in rows[0].cells)
    twice = next((name for name in columns if name and columns.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{label(path)}, line 1: two columns are called {twice!r}. Rename one.")
    filled = tuple(_fitted(path, row, len(columns)) for row in rows[1:])
    if not filled:
        raise DataError(f"{label(path)} has a header but no rows.")
    return ScoreTable(path, columns, filled, tuple(pair_columns), system_column)


_EMPTY = ("", "None", "nan", "NaN")


def _fitted(path: FilePath, row: TableRow, width: int) -> TableRow:
    """The row without what is empty behind the last column."""
    if any(cell.strip() for cell in row.cells[width:]) or len(row.cells) < width:
        raise DataError(
            f"{label(path)}, line {row.line}: {len(row.cells)} cells, but the header names "
            f"{width} columns."
        )
    return row._replace(cells=[cell.strip() for cell in row.cells[:width]])


def _but(names: Sequence[str], taken: Sequence[str]) -> list[str]:
    return [name for name in names if name not in {column.lower() for column in taken}]


def _number(cell: str) -> float | None:
    try:
        value = float(cell.replace("_", "x"))
    except ValueError:
        return None
    return value if math.isfinite(value) else None
