"""Scores in files: people's and other metrics'."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError, Level, Scores
from assay.io.files import FilePath, bare_name, label, read_lines, suffix, write_lines
from assay.io.tables import TextTable, parse_table, whole_number
from assay.settings import nearest

__all__ = [
    "Entries",
    "Entry",
    "Frame",
    "entries_in_order",
    "entries_of_table",
    "level_of",
    "read_scores",
    "stem",
    "write_scores",
]

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


def read_scores(
    path: FilePath,
    systems: Sequence[str],
    *,
    length: int,
    documents: Sequence[str] = (),
    column: str | None = None,
) -> Scores:
    """The scores of these systems in a file; `nan` where the file has none, None or nothing.

    The file is a table with a header (`system`, a score column, and `line` or `doc_id`), or
    mt-metrics-eval's `SYSTEM<TAB>SCORE`, or one number per line for a single system. `length`
    is the number of segments, `documents` each one's document. `column` chooses the score
    column. Other systems in the file are ignored.
    """
    lines = read_lines(path)
    segments = tuple(str(number) for number in range(1, length + 1))
    frame = Frame(tuple(systems), segments, tuple(dict.fromkeys(documents)))
    name = stem(path)
    if _has_header(path, lines):
        found = entries_of_table(parse_table(path, lines), column)
        name = f"{name}:{column}" if column and column != name else name
    else:
        found = entries_in_order(path, lines, frame)
    known = _of_known_systems(path, found, systems)
    items = frame.items(found.level) or tuple(dict.fromkeys(entry.item for entry in known.entries))
    return Scores(name, found.level, frame.systems, items, _fill(path, known, systems, items))


def write_scores(scores: Scores, path: FilePath) -> None:
    """Write `SYSTEM<TAB>SCORE` lines as mt-metrics-eval does, with None for unknown.

    The path should end in .sys.score, .seg.score or .doc.score, as fits the level.
    """
    if level_of(path) not in (None, scores.level):
        raise DataError(
            f"{path}: the name says {level_of(path)} level, but these are {scores.level} scores."
        )
    if np.isinf(scores.values).any():
        raise DataError(f"{path}: {scores.name!r} has infinite scores, which no reader accepts.")
    for system in scores.systems:
        if not system or re.search(r"[\t\n\r]", system):
            raise DataError(f"{path}: the system name {system!r} does not fit in the file.")
    write_lines(
        [
            f"{system}\t{'None' if math.isnan(value) else repr(float(value))}"
            for system, values in zip(scores.systems, scores.values, strict=True)
            for value in values
        ],
        path,
    )


def _has_header(path: FilePath, lines: Sequence[str]) -> bool:
    cells = [cell.strip().lower() for cell in lines[0].split("\t")]
    return suffix(path) != ".score" and "system" in cells


def _of_known_systems(path: FilePath, found: Entries, systems: Sequence[str]) -> Entries:
    known = [entry for entry in found.entries if entry.system in systems]
    if not known:
        names = list(dict.fromkeys(entry.system for entry in found.entries))
        hint = next((text for name in names if (text := nearest(name, systems))), "")
        raise DataError(
            f"{label(path)}: none of the systems {', '.join(systems)[:200]} is in the file, "
            f"which has {', '.join(names)[:200]}{hint}."
        )
    return found._replace(entries=known)


def _fill(
    path: FilePath, found: Entries, systems: Sequence[str], items: Sequence[str]
) -> NDArray[np.float64]:
    rows = {system: row for row, system in enumerate(systems)}
    columns = {item: column for column, item in enumerate(items)}
    values = np.full((len(systems), len(items)), math.nan)
    lines: dict[tuple[int, int], int] = {}
    for entry in found.entries:
        if entry.item not in columns:
            raise DataError(_out_of_range(path, found, entry, items))
        place = rows[entry.system], columns[entry.item]
        if lines.setdefault(place, entry.line) != entry.line:
            item = f" for {found.level} {entry.item!r}" if entry.item else ""
            raise DataError(
                f"{label(path)}, line {entry.line}: {entry.system!r} already has a score{item} "
                f"on line {lines[place]}. Keep one."
            )
        values[place] = entry.value
    return values


def _out_of_range(path: FilePath, found: Entries, entry: Entry, items: Sequence[str]) -> str:
    where = f"{label(path)}, line {entry.line}"
    if found.level == "segment":
        return f"{where}: there is no segment {entry.item}; the dataset has {len(items)}."
    hint = nearest(entry.item, items)
    return f"{where}: there is no document {entry.item!r} in the dataset{hint}."
