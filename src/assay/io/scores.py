"""Scores in files: people's and other metrics'."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError
from assay.io.entries import (
    Entries,
    Entry,
    Frame,
    entries_in_order,
    entries_of_table,
    level_of,
    stem,
)
from assay.io.files import FilePath, label, suffix
from assay.io.lines import read_lines, write_lines
from assay.io.tables import parse_table
from assay.scores import Scores
from assay.settings import nearest

__all__ = ["read_scores", "write_scores"]


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
