"""Which column of a table holds what, and the dataset that its rows make."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

from assay.data import DataError, Dataset
from assay.io.files import SURROGATE
from assay.settings import did_you_mean

__all__ = [
    "ColumnChoice",
    "ColumnNames",
    "ToldColumns",
    "Translation",
    "assemble",
    "from_records",
    "read_text",
    "read_texts",
    "recognise",
    "told_columns",
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
    columns = _columns_of(records)
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
        references = tuple(text for _, c in self.references for text in read_texts(values, c))
        default = _id(values, self.system) if self.system else self.only_system
        if default is None:
            raise DataError(f"no {self.system!r}: each row needs the name of its system.")
        for name, column in self.hypotheses or (("", ""),):
            yield Translation(
                row,
                name or default,
                read_text(values, column),
                references,
                read_text(values, self.source),
                _id(values, self.document),
                _id(values, self.group),
                _id(values, self.segment),
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


def _columns_of(records: Any) -> dict[str, list[Any]]:
    """The values of a table by column, whatever library the table is of."""
    names = getattr(records, "column_names", None)
    if names is None:
        names = getattr(records, "columns", None)
    if isinstance(names, Mapping) or (names is None and isinstance(records, Mapping)):
        return _columns_of_mapping(records)
    if names is not None:
        return {str(name): _listed(records[name]) for name in names}
    rows = list(records)
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise DataError(
                f"row {number} is a {type(row).__name__}, not a dictionary: pass a list of "
                "dictionaries, a pandas or polars frame, or a Hugging Face dataset."
            )
    columns = dict.fromkeys(column for row in rows for column in row)
    return {str(column): [row.get(column) for row in rows] for column in columns}


def _columns_of_mapping(records: Mapping[str, Any]) -> dict[str, list[Any]]:
    for name, values in records.items():
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise DataError(f"column {name!r} is a {type(values).__name__}: pass lists.")
        if hasattr(values, "column_names"):
            raise DataError(
                f"these are several tables ({', '.join(records)}); pass one: records[{name!r}]."
            )
    columns = {str(name): list(values) for name, values in records.items()}
    if len({len(values) for values in columns.values()}) > 1:
        sizes = ", ".join(f"{name} {len(values)}" for name, values in columns.items())
        raise DataError(f"the columns differ in length ({sizes}).")
    return columns


def _listed(column: Any) -> list[Any]:
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _is_missing(value: Any) -> bool:
    """None, and what pandas has for it."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def read_text(values: Mapping[str, Any], column: str) -> str | None:
    """The text in a column, None where it is missing."""
    value = values.get(column) if column else None
    if _is_missing(value):
        return None
    if not isinstance(value, str):
        raise DataError(f"{column!r} is {_shown(value)}, but must be a text.")
    return _checked_text(column, value)


def read_texts(values: Mapping[str, Any], column: str) -> tuple[str, ...]:
    """The texts in a column, which holds one or a list of them."""
    value: Any = values.get(column)
    if _is_missing(value):
        return ()
    if not isinstance(value, str) and not isinstance(value, Mapping) and hasattr(value, "__iter__"):
        texts = list(value)
    else:
        texts = [value]
    if not all(isinstance(text, str) for text in texts):
        raise DataError(f"{column!r} must be a text or a list of texts, not {_shown(value)}.")
    return tuple(_checked_text(column, text) for text in texts)


def _id(values: Mapping[str, Any], column: str) -> str | None:
    """The name or number of something, as text."""
    value = values.get(column) if column else None
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(value)
    return read_text(values, column)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _checked_text(column: str, text: str) -> str:
    if SURROGATE.search(text):
        raise DataError(f"{column!r} has half a character (a lone surrogate escape). Repair it.")
    return text


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
