"""Items from tables with any column names, and what is wrong with their rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from assay.data import DataError
from assay.io.files import label
from assay.io.tables import TableRow
from assay.suites.check import pattern
from assay.suites.files.columns import GROUPS, RULES, ColumnRole, ItemTable, looks_like_regex
from assay.suites.files.items import PUBLIC, checked_id, refuse_halves
from assay.suites.model import Item, Kind, Rule, Suite, rule_id

__all__ = ["MappedItems", "RowProblem", "RuleDoubt", "map_items", "suite_of_table"]


class RowProblem(NamedTuple):
    """What is wrong with a row; its number is that of the file."""

    row: int
    text: str


@dataclass(frozen=True)
class MappedItems:
    """The items of a table.

    What is in `problems` has to be mended in the table, and keeps its row's item away. `notes` are
    worth knowing, and `doubts` to be decided.
    """

    items: tuple[Item, ...]
    problems: tuple[RowProblem, ...] = ()
    notes: tuple[str, ...] = ()
    doubts: tuple[RuleDoubt, ...] = ()


class RuleDoubt(NamedTuple):
    """Rules of one column that seem to be of another `kind` than the column is said to hold.

    `where` says in which rows they are, and `example` is the first of them.
    """

    column: int
    kind: Kind
    rules: int
    where: str
    example: str


def suite_of_table(
    table: ItemTable,
    roles: Sequence[ColumnRole],
    *,
    separator: str = "",
    name: str = "",
    languages: str = "",
    known: Sequence[Item] = (),
) -> Suite:
    """The suite of a table, as `map_items` reads it; its first problem is a `DataError`."""
    mapped = map_items(table, roles, separator=separator, languages=languages, known=known)
    if mapped.problems:
        first, *more = mapped.problems
        others = f" ({len(more)} more rows have problems)" if more else ""
        raise DataError(f"{label(table.path)}, row {first.row}: {first.text}{others}")
    return Suite(mapped.items, name or table.name)


def map_items(
    table: ItemTable,
    roles: Sequence[ColumnRole],
    *,
    separator: str = "",
    languages: str = "",
    known: Sequence[Item] = (),
    mixed: Mapping[int, Kind] = MappingProxyType({}),
) -> MappedItems:
    """The items of a table, one per row, with what each column holds.

    - Rules in one cell stand on lines of their own, or with the `separator` between them. Blanks
      around them are left out, and so is a rule that the item has already.
    - Without a column of ids, items are numbered; one whose source and phenomenon an item of
      `known` has gets that item's id.
    - An empty category or phenomenon is that of the row above. Where no column holds the
      categories, they are the phenomena, and the other way round.
    - `languages` are those of items whose row has none.
    - A rule that does not seem to be of the kind that its column holds is a doubt. It becomes one
      of the other kind where `mixed` gives this kind to the column's place.
    """
    _check_roles(table, roles)
    reader = _RowReader(table, tuple(roles), separator, languages, mixed)
    reader.names = _Names(known, len(table.rows))
    items = [item for row in table.rows if (item := reader.item(row))]
    notes, doubts = _notes(reader, items), _doubts(reader)
    return MappedItems(tuple(items), tuple(reader.problems), tuple(notes), tuple(doubts))


def _check_roles(table: ItemTable, roles: Sequence[ColumnRole]) -> None:
    if "source" not in roles:
        raise DataError(
            f"{label(table.path)}: say which column holds the source sentences "
            "(source=COLUMN). Columns: " + ", ".join(table.columns)[:300]
        )
    for role, count in Counter(roles).items():
        if count > 1 and role not in (*RULES, "keep", "ignore"):
            given = zip(table.columns, roles, strict=True)
            names = [name for name, other in given if other == role]
            raise DataError(
                f"{label(table.path)}: {' and '.join(map(repr, names))} cannot all be the "
                f"{role}. Choose one column for it."
            )
    for name, role in zip(table.columns, roles, strict=True):
        if role == "keep" and name in (*PUBLIC, "rules"):
            raise DataError(
                f"{label(table.path)}: column {name!r} cannot be kept under this name. Say what "
                "it holds, or ignore it."
            )


@dataclass
class _Names:
    """Ids for items that have none."""

    known: Sequence[Item]
    rows: int
    _last: int = 0
    _by_source: dict[tuple[str, str], str] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._taken = {item.id for item in self.known}
        self._by_source = {(item.source, item.phenomenon): item.id for item in self.known}

    def name(self, source: str, phenomenon: str) -> str:
        """The id of the item that is known so, once, or the next number."""
        same = self._by_source.pop((source, phenomenon), None)
        if same is not None:
            return same
        width = max(3, len(str(len(self.known) + self.rows)))
        while True:
            self._last += 1
            if (name := f"{self._last:0{width}}") not in self._taken:
                return name


@dataclass
class _RowReader:
    """Makes items of rows, and remembers what was wrong with them."""

    table: ItemTable
    roles: tuple[ColumnRole, ...]
    separator: str
    languages: str
    mixed: Mapping[int, Kind]
    names: _Names = field(default_factory=lambda: _Names((), 0))
    problems: list[RowProblem] = field(default_factory=list)
    filled: dict[ColumnRole, list[int]] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    _above: dict[ColumnRole, str] = field(default_factory=dict)
    _seen: dict[str, int] = field(default_factory=dict)

    def item(self, row: TableRow) -> Item | None:
        """The item of a row; None where something is wrong with it, which is remembered."""
        try:
            refuse_halves(row.cells)
            category, phenomenon = self._groups(row)
            source = self._only(row, "source")
            if not source:
                raise DataError("the source is empty. Write one, or remove the row.")
            name = self._id(row, source, phenomenon)
            self.places[name] = row.line
            return Item(
                id=name,
                languages=self._only(row, "languages") or self.languages,
                category=category,
                phenomenon=phenomenon,
                source=source,
                rules=tuple(self._rules(name, row)),
                **({"extra": extra} if (extra := self._extra(row)) else {}),
            )
        except DataError as error:
            self.problems.append(RowProblem(row.line, str(error)))
            return None

    def _id(self, row: TableRow, source: str, phenomenon: str) -> str:
        if "id" not in self.roles:
            return self.names.name(source, phenomenon)
        name = self._only(row, "id")
        if not name:
            raise DataError("there is no id. Give it one, or ignore the column of ids.")
        checked_id("item", name)
        first = self._seen.setdefault(name, row.line)
        if first != row.line:
            raise DataError(
                f"item {name} stands in row {first} already; every item needs an id of its own."
            )
        return name

    def _groups(self, row: TableRow) -> tuple[str, str]:
        found = {role: self._group(row, role) for role in GROUPS if role in self.roles}
        if not found:
            return "all", "all"
        one = next(iter(found.values()))
        return found.get("category", one), found.get("phenomenon", one)

    def _group(self, row: TableRow, role: ColumnRole) -> str:
        if cell := self._only(row, role):
            self._above[role] = cell
        elif role in self._above:
            self.filled.setdefault(role, []).append(row.line)
        else:
            raise DataError(f"there is no {role}, and no row above has one.")
        return self._above[role]

    def _only(self, row: TableRow, role: ColumnRole) -> str:
        """The cell of a role that one column has, "" where none has it."""
        if role not in self.roles:
            return ""
        return row.cells[self.roles.index(role)].strip()

    def _rules(self, item: str, row: TableRow) -> Iterator[Rule]:
        counts: Counter[str] = Counter()
        seen = set()
        for place, text in self.rule_texts(row):
            polarity, kind = RULES[self.roles[place]]
            if (other := self.mixed.get(place)) and _seems(text, other):
                kind = other
            if (polarity, kind, text) in seen:
                continue
            seen.add((polarity, kind, text))
            self._check(place, text, kind)
            counts[polarity] += 1
            yield Rule(rule_id(item, polarity, counts[polarity]), polarity, kind, text)

    def rule_texts(self, row: TableRow) -> Iterator[tuple[int, str]]:
        """The texts of a row's rules, each with the place of its column."""
        for place, (role, cell) in enumerate(zip(self.roles, row.cells, strict=True)):
            if role in RULES:
                yield from ((place, text) for text in self.cut(cell))

    def cut(self, cell: str) -> list[str]:
        """The rules in one cell."""
        lines = re.split(r"\r\n|\n|\r", cell)
        parts = [part for line in lines for part in self._parts(line)]
        return [part.strip() for part in parts if part.strip()]

    def _check(self, place: int, text: str, kind: Kind) -> None:
        try:
            pattern(text, kind)
        except DataError as error:
            raise DataError(f"column {self.table.columns[place]!r}: {error}") from None

    def _parts(self, line: str) -> list[str]:
        return line.split(self.separator) if self.separator else [line]

    def _extra(self, row: TableRow) -> dict[str, Any]:
        extra: dict[str, Any] = {}
        for name, role, cell in zip(self.table.columns, self.roles, row.cells, strict=True):
            if role == "keep" and cell.strip():
                before = f"{extra[name]}\n" if name in extra else ""
                extra[name] = before + cell
        return extra


def _notes(reader: _RowReader, items: Sequence[Item]) -> Iterator[str]:
    header = reader.table.header
    if header > 1:
        yield f"Row {header} names the columns; what stands above is left out."
    yield from _separators(reader)
    for role, rows in reader.filled.items():
        what = "1 row has" if len(rows) == 1 else f"{len(rows)} rows have"
        yield f"{what} no {role} ({_rows(rows)}): taken from the row above."
    bare = [reader.places[item.id] for item in items if not item.rules]
    if bare:
        what = "1 item has" if len(bare) == 1 else f"{len(bare)} items have"
        yield f"{what} no rules ({_rows(bare)}): all outputs will be warnings until there are some."
    seen: dict[tuple[str, str], str] = {}
    for item in items:
        first = seen.setdefault((item.source, item.phenomenon), item.id)
        if first != item.id:
            where = _rows([reader.places[first], reader.places[item.id]])
            yield f"items {first} and {item.id} ({where}) have the same source and phenomenon."


MARKS = (";", " / ")
"""What people put between several rules in one cell."""


def _separators(reader: _RowReader) -> Iterator[str]:
    """Columns whose cells seem to hold several rules each, which nothing separates yet."""
    rows = reader.table.rows
    for place, (name, role) in enumerate(zip(reader.table.columns, reader.roles, strict=True)):
        cells = [row.cells[place] for row in rows if role in RULES and row.cells[place].strip()]
        for mark in MARKS:
            several = sum(any(mark in rule for rule in reader.cut(cell)) for cell in cells)
            if several >= max(2, 0.1 * len(cells)):
                yield (
                    f"Column {name!r} has {mark.strip()!r} in {several} of {len(cells)} cells: "
                    "each cell becomes one rule, unless you say that this separates rules."
                )


def _doubts(reader: _RowReader) -> Iterator[RuleDoubt]:
    found: dict[int, list[tuple[int, str]]] = {}
    for row in reader.table.rows:
        for place, text in reader.rule_texts(row):
            if _seems(text, _other(reader.roles[place])):
                found.setdefault(place, []).append((row.line, text))
    for place, rules in sorted(found.items()):
        where = _rows(list(dict.fromkeys(row for row, _ in rules)))
        yield RuleDoubt(place, _other(reader.roles[place]), len(rules), where, rules[0][1])


def _other(role: ColumnRole) -> Kind:
    """The kind of rule that a column of this role does not hold."""
    return "regex" if RULES[role][1] == "fixed" else "fixed"


_SIGNS = re.compile(r"\||^\^|\\\W")
"""Signs that hardly stand in a translation: alternatives, a beginning, a sign that is escaped."""


def _seems(text: str, kind: Kind) -> bool:
    """Whether a rule in a column of the other kind is rather of this one."""
    try:
        pattern(text, "regex")
    except DataError:
        return kind == "fixed"
    return kind == "regex" and (looks_like_regex(text) or _SIGNS.search(text) is not None)


SHOWN = 5
"""Rows that are named; of more, the number is told."""


def _rows(rows: Sequence[int]) -> str:
    """The rows as a person would say them.

    >>> _rows([2]), _rows([2, 5]), _rows([1, 2, 3, 4, 5, 6, 7])
    ('row 2', 'rows 2 and 5', 'rows 1, 2, 3, 4, 5 and 2 more')
    """
    if len(rows) == 1:
        return f"row {rows[0]}"
    named = [str(row) for row in rows[:SHOWN]]
    last = f"{len(rows) - SHOWN} more" if len(rows) > SHOWN else named.pop()
    return f"rows {', '.join(named)} and {last}"
