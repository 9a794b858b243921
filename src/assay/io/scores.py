"""Scores in files: people's and other metrics'."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError, Dataset, Granularity, MissingInput, Scores
from assay.io.files import FilePath, bare_name, label, suffix, write_lines
from assay.io.tables import TableRow, TextTable, has_header, parse_table, read_rows, whole_number
from assay.registry import did_you_mean

__all__ = [
    "Entries",
    "Entry",
    "Frame",
    "HumanChoice",
    "check_size",
    "chosen_human",
    "entries_in_order",
    "entries_of_table",
    "granularity_of",
    "human_by_name",
    "read_folder_human_scores",
    "read_human_scores",
    "read_scores",
    "stem",
    "write_scores",
]

HumanChoice: TypeAlias = str | Scores | Sequence[str | Scores] | None
"""Human scores by name or as they are; None is all that a dataset has."""

GRANULARITIES: dict[str, Granularity] = {".sys": "system", ".seg": "segment", ".doc": "document"}
"""mt-metrics-eval's endings, before .score, and what they stand for."""

COLUMNS = ("z", "raw", "mqm", "score")
"""The columns that hold scores, the preferred one first."""

LARGEST = 1e60
"""The largest score: the fourth powers of a billion such are still finite."""

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

    granularity: Granularity
    entries: list[Entry]


class Frame(NamedTuple):
    """What scores can be about: the systems, and the items of every granularity."""

    systems: tuple[str, ...]
    segments: tuple[str, ...]
    documents: tuple[str, ...]

    def items(self, granularity: Granularity) -> tuple[str, ...]:
        """The items of this granularity."""
        return {"system": ("",), "segment": self.segments, "document": self.documents}[granularity]


def granularity_of(path: FilePath) -> Granularity | None:
    """The granularity that a file's name tells.

    >>> granularity_of("de-en.mqm.seg.score")
    'segment'
    """
    return GRANULARITIES.get("." + bare_name(path, _ENDINGS).rpartition(".")[2])


def stem(path: FilePath) -> str:
    """The file's name without format and granularity.

    >>> stem("human/da.seg.tsv")
    'da'
    """
    name = bare_name(path, _ENDINGS)
    return name[:-4] if granularity_of(path) and len(name) > 4 else name


def entries_of_table(table: TextTable, column: str | None) -> Entries:
    """The entries of a table: `system`, a score, and perhaps `line`, `segment` or `doc_id`."""
    systems, scores = table.column("system"), _scores(table, column)
    granularity: Granularity = "system"
    items = [""] * len(table.rows)
    if table.find(*_NUMBERS) is not None:
        granularity = "segment"
        lines = zip(table.rows, table.column(*_NUMBERS), strict=True)
        items = [str(whole_number(table.path, row.line, text)) for row, text in lines]
    elif table.find("doc_id", "doc") is not None:
        granularity, items = "document", table.column("doc_id", "doc")
    rows = zip(table.rows, systems, items, scores, strict=True)
    return Entries(
        granularity,
        [
            Entry(row.line, system, item, _number(table.path, row.line, score))
            for row, system, item, score in rows
        ],
    )


def entries_in_order(path: FilePath, rows: Sequence[TableRow], frame: Frame) -> Entries:
    """The entries of lines `SYSTEM<TAB>SCORE`, or of plain numbers; items come in order."""
    entries = _pairs(path, rows, frame)
    counts = Counter(entry.system for entry in entries if entry.system in frame.systems)
    granularity = granularity_of(path) or _granularity_by_count(
        path, max(counts.values(), default=1), frame
    )
    items = frame.items(granularity)
    if granularity == "document" and not items:
        raise MissingInput("documents", f"{label(path)}: document scores need the documents")
    for system, count in counts.items():
        if count != len(items):
            line = max(entry.line for entry in entries if entry.system == system)
            raise DataError(
                f"{label(path)}, line {line}: system {system!r} has {count} scores, but at "
                f"{granularity} level there must be {len(items)}. Write None where one is unknown."
            )
    places = {system: iter(items) for system in counts}
    return Entries(
        granularity,
        [
            entry._replace(item=next(places[entry.system])) if entry.system in places else entry
            for entry in entries
        ],
    )


def _scores(table: TextTable, column: str | None) -> list[str]:
    if column is not None and table.find(column.lower()) is None:
        hint = did_you_mean(column, table.columns)
        columns = ", ".join(table.columns)[:200]
        raise DataError(f"{label(table.path)}: no column {column!r}{hint}. Columns: {columns}.")
    if column is None and table.find(*COLUMNS) is None:
        raise DataError(
            f"{label(table.path)}: no column is called {', '.join(COLUMNS)}. "
            f"Say which holds the scores: {', '.join(table.columns)[:200]}."
        )
    return table.column(*(COLUMNS if column is None else (column.lower(),)))


def _pairs(path: FilePath, rows: Sequence[TableRow], frame: Frame) -> list[Entry]:
    """The entries without their items, which are not known yet."""
    plain = len(rows[0].cells) == 1
    if plain and len(frame.systems) != 1:
        raise DataError(
            f"{label(path)}, line 1: one number per line is for one system, and there are "
            f"{len(frame.systems)}. Write SYSTEM<TAB>SCORE."
        )
    entries = []
    for line, cells in rows:
        cells = [frame.systems[0], "\t".join(cells)] if plain else cells
        if len(cells) != 2:
            raise DataError(
                f"{label(path)}, line {line}: {len(cells)} cells. Write SYSTEM<TAB>SCORE, or a "
                "header that names the columns."
            )
        entries.append(Entry(line, cells[0], "", _number(path, line, cells[1])))
    return entries


def _granularity_by_count(path: FilePath, count: int, frame: Frame) -> Granularity:
    sizes: dict[int, Granularity] = {len(frame.documents): "document", 1: "system"}
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
            f"{label(path)}, line {line}: {word[:40]} is not a score; write None for unknown."
        )
    check_size(f"{label(path)}, line {line}", value)
    return value


def check_size(where: str, value: float) -> None:
    """Raise a `DataError` where a score is so large that sums and squares of such overflow."""
    if abs(value) > LARGEST:
        raise DataError(
            f"{where}: {value!r} is too large for a score: sums and squares of such numbers are "
            f"infinite. Scores go to {LARGEST:g}; divide them by a constant."
        )


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
    rows = read_rows(path)
    segments = tuple(str(number) for number in range(1, length + 1))
    frame = Frame(tuple(systems), segments, tuple(dict.fromkeys(documents)))
    name = stem(path)
    if suffix(path) != ".score" and has_header(rows, "system"):
        found = entries_of_table(parse_table(path, rows), column)
        name = f"{name}:{column}" if column and column != name else name
    else:
        found = entries_in_order(path, rows, frame)
    known = _of_known_systems(path, found, systems)
    items = frame.items(found.granularity) or tuple(
        dict.fromkeys(entry.item for entry in known.entries)
    )
    values = _fill(path, known, systems, items)
    unmatched = dict.fromkeys(entry.system for entry in found.entries)
    for system in systems:
        unmatched.pop(system, None)
    return Scores(
        name, found.granularity, frame.systems, items, values, str(path), tuple(unmatched)
    )


def read_human_scores(
    paths: Sequence[FilePath], dataset: Dataset, *, columns: Sequence[str] = ()
) -> list[Scores]:
    """People's scores of the systems of a dataset, from files: one for each file and column."""
    return [
        read_scores(
            path,
            list(dataset.systems),
            length=len(dataset),
            documents=dataset.documents,
            column=column,
        )
        for path in paths
        for column in (columns or (None,))
    ]


def read_folder_human_scores(
    folder: FilePath,
    dataset: Dataset,
    *,
    names: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> list[Scores]:
    """People's scores that lie in a test set's folder, or of these those with the names.

    Where columns are named, files without them are passed over, unless none has them.
    """
    pair = "-".join(dataset.languages or ())
    scores: list[Scores] = []
    for path in _human_files(Path(folder), pair):
        fitting = [column for column in columns if _has_column(path, column)]
        if fitting or not columns:
            scores += read_human_scores([path], dataset, columns=fitting)
    # mt-metrics-eval's files begin with the pair, which the name need not repeat.
    human = [replace(own, name=own.name.removeprefix(f"{pair}.")) for own in scores]
    if not human:
        wanted = f" with a column {', '.join(columns)}" if columns else ""
        raise DataError(
            f"{folder} has no human scores{wanted}: neither human/*.tsv nor "
            f"human-scores/{pair or 'PAIR'}.*.score: pass human=..."
        )
    known = {own.name.partition(":")[0] for own in human}
    for name in names:
        if name not in known:
            raise DataError(
                f'human="{name}" is no file, and {folder} has no such human scores. '
                f"It has {', '.join(sorted(known))}."
            )
    return [own for own in human if not names or own.name.partition(":")[0] in names]


def chosen_human(dataset: Dataset, human: HumanChoice) -> list[Scores]:
    """The human scores of a dataset that are asked for: all, those of a name, or others."""
    if human is None:
        asked: Sequence[str | Scores] = list(dataset.human.values())
    else:
        asked = [human] if isinstance(human, str | Scores) else human
    if not asked:
        raise MissingInput("human", "no human scores to compare with")
    return [scores for choice in asked for scores in _called(dataset, choice)]


def _called(dataset: Dataset, choice: str | Scores) -> list[Scores]:
    if isinstance(choice, Scores):
        return [choice]
    scores = [
        own
        for key, own in dataset.human.items()
        if choice in (key, own.name, own.name.partition(":")[0])
    ]
    if not scores:
        known = ", ".join(dict.fromkeys(own.name for own in dataset.human.values())) or "none"
        raise DataError(f"human={choice!r}: no human scores are called so. There are {known}.")
    return scores


def human_by_name(scores: Sequence[Scores]) -> dict[str, Scores]:
    """Human scores as `Dataset.human` holds them: by name and granularity, as in `mqm.seg`."""
    endings = {granularity: ending for ending, granularity in GRANULARITIES.items()}
    by_name: dict[str, Scores] = {}
    for own in scores:
        other = by_name.setdefault(f"{own.name}{endings[own.granularity]}", own)
        if other is not own:
            raise DataError(
                f"{own.source} and {other.source} are both human scores called {own.name!r} at "
                f"{own.granularity} level; rename one."
            )
    return by_name


def _human_files(folder: Path, pair: str) -> list[Path]:
    """The files of human scores in a folder, in either layout."""
    standard = folder.glob(f"human-scores/{pair}.*.score") if pair else []
    simple = [path for home in (folder, folder / pair) for path in home.glob("human/*.tsv")]
    paths = sorted({path.resolve(): path for path in (*simple, *standard)}.values())
    return [
        path for path in paths if granularity_of(path) and path.is_file() and path.name[0] != "."
    ]


def _has_column(path: Path, column: str) -> bool:
    return has_header(read_rows(path), column.lower())


def write_scores(scores: Scores, path: FilePath) -> None:
    """Write `SYSTEM<TAB>SCORE` lines as mt-metrics-eval does, with None for unknown.

    The path should end in .sys.score, .seg.score or .doc.score, as fits their granularity.
    """
    if granularity_of(path) not in (None, scores.granularity):
        raise DataError(
            f"{path}: the name says {granularity_of(path)} level, but these are "
            f"{scores.granularity} scores."
        )
    if np.isinf(scores.values).any():
        raise DataError(f"{path}: {scores.name!r} has infinite scores, which no reader accepts.")
    check_size(str(path), float(np.nanmax(np.abs(scores.values), initial=0)))
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


def _of_known_systems(path: FilePath, found: Entries, systems: Sequence[str]) -> Entries:
    known = [entry for entry in found.entries if entry.system in systems]
    if not known:
        names = list(dict.fromkeys(entry.system for entry in found.entries))
        hint = next((text for name in names if (text := did_you_mean(name, systems))), "")
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
            item = f" for {found.granularity} {entry.item!r}" if entry.item else ""
            raise DataError(
                f"{label(path)}, line {entry.line}: {entry.system!r} already has a score{item} "
                f"on line {lines[place]}. Keep one."
            )
        values[place] = entry.value
    return values


def _out_of_range(path: FilePath, found: Entries, entry: Entry, items: Sequence[str]) -> str:
    where = f"{label(path)}, line {entry.line}"
    if found.granularity == "segment":
        return f"{where}: there is no segment {entry.item}; the dataset has {len(items)}."
    hint = did_you_mean(entry.item, items)
    return f"{where}: there is no document {entry.item!r} in the dataset{hint}."
