"""Tables that hold a whole dataset: which column holds what, and the dataset that the rows make."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeAlias

from assay.data import DataError, Dataset
from assay.io.files import FilePath, bare_name, label, suffix, write_whole
from assay.io.tables import (
    TableObject,
    cell_id,
    cell_text,
    cell_texts,
    columns_of,
    read_objects,
    write_table,
)
from assay.registry import did_you_mean

__all__ = [
    "ColumnChoice",
    "ColumnNames",
    "ToldColumns",
    "Translation",
    "assemble",
    "from_records",
    "read_records",
    "recognise",
    "reference_columns",
    "told_columns",
    "write_jsonl",
    "write_tsv",
]

ColumnChoice: TypeAlias = str | Sequence[str] | Mapping[str, str]
"""A column, several, or several by name."""


def from_records(
    records: Any,
    *,
    hypothesis: ColumnChoice = "hypothesis",
    reference: ColumnChoice | None = "reference",
    **single: str | None,
) -> Dataset:
    """The dataset of a frame or of dictionaries; see `Dataset.from_records`."""
    columns = columns_of(records)
    chosen = ColumnNames.chosen(list(columns), hypothesis=hypothesis, reference=reference, **single)
    used = {column: columns[column] for column in chosen.used}
    rows = zip(*used.values(), strict=True)
    translations = [
        translation
        for number, row in enumerate(rows, 1)
        for translation in chosen.read(number, dict(zip(used, row, strict=True)))
    ]
    if not translations:
        raise DataError("there are no rows.")
    return assemble(translations, chosen)


class Translation(NamedTuple):
    """One system's output for one segment, as a row of a table has it; None is unknown."""

    row: int
    system: str
    hypothesis: str | None
    references: tuple[str, ...]
    source: str | None = None
    document: str | None = None
    group: str | None = None
    segment: str | None = None


class ColumnNames(NamedTuple):
    """Which column of a table holds what; "" where none does.

    `hypotheses` and `references` are pairs of a name (of the system, of the reference; "" where
    it has none) and a column. `place` begins messages about a row: "row", or "a.tsv, line".
    """

    hypotheses: tuple[tuple[str, str], ...] = ()
    references: tuple[tuple[str, str], ...] = ()
    source: str = ""
    system: str = ""
    document: str = ""
    group: str = ""
    segment: str = ""
    only_system: str = ""
    place: str = "row"

    @classmethod
    def chosen(
        cls,
        columns: Sequence[str],
        *,
        hypothesis: ColumnChoice,
        reference: ColumnChoice | None,
        **single: str | None,
    ) -> ColumnNames:
        """The columns that somebody named, which must be there."""
        hypotheses, references = _named_columns(hypothesis), _named_columns(reference)
        several = not isinstance(hypothesis, str)
        for role, column in single.items():
            if column == role and column not in columns:
                single[role] = None
        wanted = {"hypothesis": hypotheses, "reference": references}
        wanted |= {role: (("", column),) for role, column in single.items() if column is not None}
        for role, pairs in wanted.items():
            for _, column in pairs:
                _check_column(role, column, columns)
        if several and single.get("system"):
            raise DataError(
                f"column {single['system']!r} names the system of each row, but there are several "
                "columns of hypotheses: pass one of them, or system=None."
            )
        parts = {role: column or "" for role, column in single.items()}
        if several:
            return cls(hypotheses, references, **parts)
        only = hypotheses[0][1]
        return cls((("", only),), references, only_system=only, **parts)

    @property
    def used(self) -> list[str]:
        """Every column that is read, once."""
        pairs = (*self.hypotheses, *self.references)
        single = (self.source, self.system, self.document, self.group, self.segment)
        return list(dict.fromkeys(c for c in (*(c for _, c in pairs), *single) if c))

    @property
    def reference_names(self) -> tuple[str, ...]:
        """The names of the references, where every one has a name."""
        names = tuple(name for name, _ in self.references)
        return names if all(names) else ()

    def read(self, row: int, values: Mapping[str, Any]) -> Iterator[Translation]:
        """The outputs that a row holds, one per column of hypotheses."""
        try:
            yield from self._read(row, values)
        except DataError as error:
            raise DataError(f"{self.at(row)}: {error}") from None

    def at(self, row: int) -> str:
        """Where a row stands, for messages."""
        return f"{self.place} {row}"

    def _read(self, row: int, values: Mapping[str, Any]) -> Iterator[Translation]:
        references = tuple(text for _, c in self.references for text in cell_texts(values, c))
        default = cell_id(values, self.system) if self.system else self.only_system
        if default is None:
            raise DataError(f"no {self.system!r}: each row needs the name of its system.")
        for name, column in self.hypotheses or (("", ""),):
            yield Translation(
                row,
                name or default,
                cell_text(values, column),
                references,
                cell_text(values, self.source),
                cell_id(values, self.document),
                cell_id(values, self.group),
                cell_id(values, self.segment),
            )


ToldColumns: TypeAlias = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
"""For every role that somebody named columns for, pairs of a name and a column."""

_ROLES = ("hypothesis", "reference", "source", "system", "document", "group", "segment")

_WORDS = {
    "source": ("src", "source"),
    "reference": ("ref", "refs", "reference", "references"),
    "hypothesis": ("mt", "hyp", "hypothesis", "output"),
    "system": ("system",),
    "document": ("doc", "doc_id", "document"),
}
_MEANINGS = {word: role for role, words in _WORDS.items() for word in words}


def told_columns(columns: Mapping[str, ColumnChoice] | None) -> ToldColumns:
    """The columns that somebody named for some of the roles.

    >>> told_columns({"hypothesis": "mt", "reference": ["ref_a", "ref_b"]})
    (('hypothesis', (('', 'mt'),)), ('reference', (('ref_a', 'ref_a'), ('ref_b', 'ref_b'))))
    """
    for role in columns or ():
        if role not in _ROLES:
            known, hint = ", ".join(_ROLES), did_you_mean(role, _ROLES)
            raise DataError(f"{role!r} is no part of a dataset{hint}. Parts: {known}.")
    return tuple((role, _named_columns(choice)) for role, choice in (columns or {}).items())


@lru_cache(maxsize=64)
def recognise(
    keys: tuple[str, ...], told: ToldColumns = (), *, place: str = "row", only_system: str = ""
) -> ColumnNames:
    """Which of these keys or columns holds what: as it is told, or else by their names.

    `ref`, `ref1`, `refA` and `ref:A` are references; `mt` is a hypothesis, and `mt:NAME` that
    of the system NAME. Other columns are ignored.
    """
    several: dict[str, list[tuple[str, str]]] = {"reference": [], "hypothesis": []}
    several |= {role: list(pairs) for role, pairs in told}
    known = dict(told)
    taken = {column for pairs in known.values() for _, column in pairs}
    for key in keys:
        role, name = _meaning(key)
        if not role or role in known or key in taken:
            continue
        pairs = several.setdefault(role, [])
        pairs.append((name, key))
        if role in _ROLES[2:] and len(pairs) > 1:
            raise DataError(f"both {pairs[0][1]!r} and {key!r} hold the {role}. Keep one.")
    _check_hypotheses([name for name, _ in several["hypothesis"]], long="system" in several)
    single = {role: pairs[0][1] for role, pairs in several.items() if role in _ROLES[2:] and pairs}
    return ColumnNames(
        tuple(several["hypothesis"]),
        tuple(several["reference"]),
        only_system=only_system,
        place=place,
        **single,
    )


def _meaning(key: str) -> tuple[str, str]:
    """The role of a column by its name, and whose hypothesis or reference it is."""
    word, colon, name = key.partition(":")
    role = _MEANINGS.get(word.strip().lower(), "")
    if colon:
        return (role, name) if role in ("reference", "hypothesis") else ("", "")
    if numbered := re.fullmatch(r"(?:ref|reference)[ _.-]?(?:[0-9]+|([A-Z]))", key.strip()):
        return "reference", numbered[1] or ""
    return role, ""


def _check_hypotheses(names: list[str], *, long: bool) -> None:
    if long and names not in ([], [""]):
        raise DataError("'system' goes with one 'mt'. Keep 'system' and 'mt', or 'mt:NAME' alone.")
    if len(set(names)) < len(names) or ("" in names and len(names) > 1):
        raise DataError("several keys hold a translation. Name the system of each: 'mt:NAME'.")


def _named_columns(
    columns: ColumnChoice | None,
) -> tuple[tuple[str, str], ...]:
    """Names and columns; the only column needs no name, one of several is called like itself."""
    if columns is None:
        return ()
    if isinstance(columns, str):
        return (("", columns),)
    if isinstance(columns, Mapping):
        return tuple(columns.items())
    return tuple((column, column) for column in columns)


def _check_column(role: str, column: str, columns: Sequence[str]) -> None:
    if column not in columns:
        there = ", ".join(map(str, columns))[:200] or "none at all"
        none = " (or None)" if role == "reference" else ""
        raise DataError(
            f"no column {column!r} for the {role}; there are {there}. Pass {role}=COLUMN{none}."
        )


def assemble(translations: Sequence[Translation], columns: ColumnNames) -> Dataset:
    """The dataset of these rows; the systems must have the same segments, by id or in order."""
    by_system: dict[str, list[Translation]] = {}
    for translation in translations:
        by_system.setdefault(translation.system, []).append(translation)
    first = next(iter(by_system.values()))
    for system, rows in by_system.items():
        if columns.segment:
            by_system[system] = rows = _in_order(columns, rows, first)
        _check_aligned(columns, rows, first)
    texts = {system: _whole(columns, rows, "hypothesis") for system, rows in by_system.items()}
    return Dataset(
        systems={system: lines for system, lines in texts.items() if lines},
        references=tuple(translation.references for translation in first),
        sources=_whole(columns, first, "source"),
        documents=_whole(columns, first, "document"),
        groups=_whole(columns, first, "group"),
        reference_names=columns.reference_names,
    )


def _in_order(
    columns: ColumnNames, rows: Sequence[Translation], first: Sequence[Translation]
) -> list[Translation]:
    """The rows in the order that the first system has its segments in."""
    by_segment: dict[str | None, Translation] = {}
    for row in rows:
        where = f"{columns.at(row.row)}: system {row.system!r}"
        if row.segment is None:
            raise DataError(f"{where} has no {columns.segment!r} here; every segment needs its id.")
        if by_segment.setdefault(row.segment, row) is not row:
            other = by_segment[row.segment].row
            raise DataError(f"{where} has segment {row.segment!r} already in row {other}.")
    if len(rows) != len(first):
        return list(rows)
    for row in first:
        if row.segment not in by_segment:
            raise DataError(
                f"{columns.at(row.row)}: system {row.system!r} has segment {row.segment!r} here, "
                f"and system {rows[0].system!r} has not. Each needs every segment."
            )
    return [by_segment[row.segment] for row in first]


def _check_aligned(
    columns: ColumnNames, rows: Sequence[Translation], first: Sequence[Translation]
) -> None:
    system = rows[0].system
    if len(rows) != len(first):
        raise DataError(
            f"{columns.at(rows[-1].row)}: system {system!r} has {len(rows)} segments, but "
            f"{first[0].system!r} has {len(first)}. Each needs every segment."
        )
    for number, (one, other) in enumerate(zip(rows, first, strict=True), 1):
        for part in ("source", "references", "document", "group"):
            if getattr(one, part) != getattr(other, part):
                unit = columns.place.rpartition(" ")[2]
                raise DataError(
                    f"{columns.at(one.row)}: segment {number} of system {system!r} has another "
                    f"{part} than on {unit} {other.row}. All systems need the same segments in "
                    "the same order."
                )


def _whole(columns: ColumnNames, rows: Sequence[Translation], part: str) -> tuple[str, ...]:
    """One part of every row; empty where no row has it, an error where only some do."""
    values = [getattr(translation, part) for translation in rows]
    if all(value is None for value in values):
        return ()
    if None in values:
        row = rows[values.index(None)]
        named = dict(columns.hypotheses)
        if part == "hypothesis":
            column = named.get(row.system) or named.get("", "")
        else:
            column = getattr(columns, part)
        column = column or _WORDS[part][0]
        raise DataError(f"{columns.at(row.row)}: no {column!r}, though others have it.")
    return tuple(values)


_ENDINGS = (".tsv", ".csv", ".jsonl", ".json", ".parquet", ".txt", ".gz", ".xz")


def read_records(path: FilePath, columns: Mapping[str, ColumnChoice] | None = None) -> Dataset:
    """The dataset of a TSV, CSV, JSON Lines or Parquet file whose columns have names.

    Long: `system` and `mt`, one row per system and segment; without `system` the file's name is
    the only system's. Wide: `mt:NAME` for every system, one row per segment. Besides, `src`,
    `ref` (or `ref1`, `ref:NAME` ...; in JSON Lines and Parquet also a list of texts), `doc`, and
    the other names that `recognise` knows. `columns` says which column holds what where they are
    called otherwise: `{"hypothesis": "out", "reference": ["a", "b"], "system": "model"}`.

    In TSV nothing is escaped: backslashes and quotes are text.
    """
    told, rows = told_columns(columns), read_objects(path)
    if not rows:
        raise DataError(f"{label(path)} has no records.")
    _check_told(path, told, rows)
    unit = "row" if suffix(path) == ".parquet" else "line"
    meaning = partial(
        recognise,
        told=told,
        place=f"{label(path)}, {unit}",
        only_system=bare_name(path, _ENDINGS),
    )
    names = [_names(path, row, meaning) for row in rows]
    translations = [
        translation
        for row, columns_of_row in zip(rows, names, strict=True)
        for translation in columns_of_row.read(row.line, row.values)
    ]
    about = _agreed_about(rows, names)
    dataset = assemble(translations, names[0])
    languages = about.source_language, about.target_language
    return replace(
        dataset,
        name=about.name,
        languages=languages if any(languages) else None,
        reference_names=about.reference_names,
    )


def _check_told(path: FilePath, told: ToldColumns, rows: Sequence[TableObject]) -> None:
    """Columns that were named must be there; in JSON Lines at least in one row."""
    there = {column: None for row in rows for column in row.values} if told else {}
    for role, pairs in told:
        for _, column in pairs:
            if column not in there:
                known = ", ".join(there)[:200]
                hint = did_you_mean(column, there)
                raise DataError(
                    f"{label(path)}: no column {column!r} for the {role}{hint}. It has {known}."
                )


def _names(path: FilePath, row: TableObject, meaning: Any) -> ColumnNames:
    """Which column of a row holds what; something must."""
    keys = tuple(row.values)
    has_header = suffix(path) not in (".jsonl", ".parquet")
    line = 1 if has_header else row.line
    try:
        columns: ColumnNames = meaning(keys)
    except DataError as error:
        raise DataError(f"{label(path)}, line {line}: {error}") from None
    if columns.references or columns.hypotheses or columns.source:
        return columns
    if not has_header:
        raise DataError(f"{columns.at(line)}: none of 'src', 'mt' and 'ref' is there.")
    raise DataError(
        f"{columns.at(line)}: no column is called src, ref, mt or mt:NAME (there are "
        f"{', '.join(keys)[:200]}). Name the columns, or give plain text as .txt."
    )


class _About(NamedTuple):
    """What holds for a whole dataset, and so for each of its rows."""

    name: str = ""
    source_language: str = ""
    target_language: str = ""
    reference_names: tuple[str, ...] = ()


_ABOUT = {
    "dataset": "name",
    "source_language": "source_language",
    "target_language": "target_language",
    "reference_names": "reference_names",
}


def _agreed_about(rows: Sequence[TableObject], names: Sequence[ColumnNames]) -> _About:
    """What all rows say of the dataset."""
    first = _about(rows[0], names[0])
    for row, columns in zip(rows, names, strict=True):
        if _about(row, columns) != first:
            raise DataError(
                f"{columns.at(row.line)}: another dataset, language or reference name than on "
                f"line {rows[0].line}. One file holds one dataset."
            )
    return first


def _about(row: TableObject, columns: ColumnNames) -> _About:
    told = {part: row.values[key] for key, part in _about_keys(tuple(row.values))}
    try:
        names = cell_texts(told, "reference_names") or columns.reference_names
        texts = {part: cell_text(told, part) or "" for part in told if part != "reference_names"}
    except DataError as error:
        raise DataError(f"{columns.at(row.line)}: {error}") from None
    return _About(reference_names=names, **texts)


@lru_cache(maxsize=64)
def _about_keys(keys: tuple[str, ...]) -> list[tuple[str, str]]:
    known = ((key, _ABOUT.get(key.strip().lower(), "")) for key in keys)
    return [(key, part) for key, part in known if part]


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


def write_tsv(dataset: Dataset, path: FilePath) -> None:
    """Write a wide table, one row per segment; `read_records` gives the same dataset back.

    Tabs, line breaks and a varying number of references do not fit in a table and are errors.
    """
    columns = dict(_columns(dataset, path))
    if not columns or not len(dataset):
        raise DataError(f"{path}: the dataset has no texts to write.")
    write_table(path, list(columns), list(zip(*columns.values(), strict=True)))


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


def write_jsonl(dataset: Dataset, path: FilePath) -> None:
    """Write one record per system and segment; `read_records` gives the same dataset back."""
    records = list(_to_records(dataset))
    if not records:
        raise DataError(f"{path}: the dataset has no segments to write.")
    write_whole(path, "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records))


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
