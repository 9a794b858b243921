"""The entries of a score file: which system, which item, which value."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from assay.data import DataError
from assay.io.files import FilePath, label
from assay.io.lines import bare_name
from assay.io.tables import TextTable, whole_number
from assay.scores import Level
from assay.settings import nearest

__all__ = ["Entries", "Entry", "Frame", "entries_in_order", "entries_of_table", "level_of", "stem"]

LEVELS: dict[str, Level] = {".sys": "system", ".seg": "segment", ".doc": "document"}
"""mt-metrics-eval's endings, before .score, and what they stand for."""

COLUMNS = ("z", "raw", "mqm", "score")
"""The columns that hold scores, the preferred one first."""

_NUMBERS = ("line", "segment")
_ENDINGS = (".score", ".tsv", ".txt", ".gz", ".xz")


class Entry(NamedTuple):
    """One score, and the line of the file it stands on."""

    line: int
    system: str
    item: str
    value: float


class Entries(NamedTuple):
    """A file's scores, and what their items are."""

    level: Level
    entries: list[Entry]


class Frame(NamedTuple):
    """What scores can be about: the systems, and the items at every level."""

    systems: tuple[str, ...]
    segments: tuple[str, ...]
    documents: tuple[str, ...]

    def items(self, level: Level) -> tuple[str, ...]:
        """The items of a level."""
        return {"system": ("",), "segment": self.segments, "document": self.documents}[level]


def level_of(path: FilePath) -> Level | None:
    """The level that a file's name tells.

    >>> level_of("de-en.mqm.seg.score")
    'segment'
    """
    return LEVELS.get("." + bare_name(path, _ENDINGS).rpartition(".")[2])


def stem(path: FilePath) -> str:
    """The file's name without format and level.

    >>> stem("human/da.seg.tsv")
    'da'
    """
    name = bare_name(path, _ENDINGS)
    return name[:-4] if level_of(path) and len(name) > 4 else name


def entries_of_table(table: TextTable, column: str | None) -> Entries:
    """The entries of a table: `system`, a score, and perhaps `line`, `segment` or `doc_id`."""
    systems, scores = table.column("system"), _scores(table, column)
    level: Level = "system"
    items = [""] * len(table.rows)
    if table.find(*_NUMBERS) is not None:
        level = "segment"
        lines = zip(table.rows, table.column(*_NUMBERS), strict=True)
        items = [str(whole_number(table.path, row.line, text)) for row, text in lines]
    elif table.find("doc_id", "doc") is not None:
        level, items = "document", table.column("doc_id", "doc")
    rows = zip(table.rows, systems, items, scores, strict=True)
    return Entries(
        level,
        [
            Entry(row.line, system, item, _number(table.path, row.line, score))
            for row, system, item, score in rows
        ],
    )


def entries_in_order(path: FilePath, lines: Sequence[str], frame: Frame) -> Entries:
    """The entries of lines `SYSTEM<TAB>SCORE`, or of plain numbers; items come in order."""
    entries = _pairs(path, lines, frame)
    counts = Counter(entry.system for entry in entries if entry.system in frame.systems)
    level = level_of(path) or _level_by_count(path, max(counts.values(), default=1), frame)
    items = frame.items(level)
    if level == "document" and not items:
        raise DataError(f"{label(path)}: document scores need to know the documents (--docs).")
    for system, count in counts.items():
        if count != len(items):
            line = max(entry.line for entry in entries if entry.system == system)
            raise DataError(
                f"{label(path)}, line {line}: system {system!r} has {count} scores, but at "
                f"{level} level there must be {len(items)}. Write None where one is unknown."
            )
    places = {system: iter(items) for system in counts}
    return Entries(
        level,
        [
            entry._replace(item=next(places[entry.system])) if entry.system in places else entry
            for entry in entries
        ],
    )


def _scores(table: TextTable, column: str | None) -> list[str]:
    if column is not None and table.find(column.lower()) is None:
        hint = nearest(column, table.columns)
        columns = ", ".join(table.columns)[:200]
        raise DataError(f"{label(table.path)}: no column {column!r}{hint}. Columns: {columns}.")
    if column is None and table.find(*COLUMNS) is None:
        raise DataError(
            f"{label(table.path)}: no column is called {', '.join(COLUMNS)}. "
            f"Say which holds the scores: {', '.join(table.columns)[:200]}."
        )
    return table.column(*(COLUMNS if column is None else (column.lower(),)))


def _pairs(path: FilePath, lines: Sequence[str], frame: Frame) -> list[Entry]:
    """The entries without their items, which are not known yet."""
    plain = "\t" not in lines[0]
    if plain and len(frame.systems) != 1:
        raise DataError(
            f"{label(path)}, line 1: one number per line is for one system, and there are "
            f"{len(frame.systems)}. Write SYSTEM<TAB>SCORE."
        )
    entries = []
    for number, line in enumerate(lines, 1):
        cells = [frame.systems[0], line] if plain else line.split("\t")
        if len(cells) != 2:
            raise DataError(
                f"{label(path)}, line {number}: {len(cells)} cells. Write SYSTEM<TAB>SCORE, or a "
                "header that names the columns."
            )
        entries.append(Entry(number, cells[0], "", _number(path, number, cells[1])))
    return entries


def _level_by_count(path: FilePath, count: int, frame: Frame) -> Level:
    sizes: dict[int, Level] = {len(frame.documents): "document", 1: "system"}
    sizes[len(frame.segments)] = "segment"
    if count not in sizes:
        raise DataError(
            f"{label(path)}: {count} scores per system fit neither the {len(frame.segments)} "
            f"segments nor {len(frame.documents)} documents nor the system as a whole."
        )
    return sizes[count]


def _number(path: FilePath, line: int, text: str) -> float:
    text = text.strip()
    if text in ("", "None"):
        return math.nan
    try:
        # Python alone reads 1_0 as ten.
        value = float(text.replace("_", "x"))
    except ValueError:
        raise DataError(
            f"{label(path)}, line {line}: {text[:40]!r} is not a number; write None for unknown."
        ) from None
    if not math.isfinite(value):
        word = "NaN" if math.isnan(value) else text
        raise DataError(
            f"{label(path)}, line {line}: {word} is not a score; write None for unknown."
        )
    return value
