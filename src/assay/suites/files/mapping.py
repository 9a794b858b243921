"""Items from tables with any column names, and what is wrong with their rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from assay.data import DataError
from assay.io.files import label
from assay.io.tables import TableRow
from assay.suites.check import pattern
from assay.suites.files.columns import GROUPS, RULES, ColumnRole, ItemTable
from assay.suites.files.items import PUBLIC, checked_id, refuse_halves
from assay.suites.model import Item, Rule, Suite, rule_id

__all__ = ["MappedItems", "RowProblem", "map_items", "suite_of_table"]


class RowProblem(NamedTuple):
    """What is wrong with a row; its number is that of the file."""

    row: int
    text: str


@dataclass(frozen=True)
class MappedItems:
    """The items of a table.

    What is in `problems` has to be mended in the table, and keeps its row's item away. `notes` are
    worth knowing.
    """

    items: tuple[Item, ...]
    problems: tuple[RowProblem, ...] = ()
    notes: tuple[str, ...] = ()


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
) -> MappedItems:
    """The items of a table, one per row, with what each column holds.

    - Rules in one cell stand on lines of their own, or with the `separator` between them. Blanks
      around them are left out, and so is a rule that the item has already.
    - Without a column of ids, items are numbered; one whose source and phenomenon an item of
      `known` has gets that item's id.
    - An empty category or phenomenon is that of the row above. Where no column holds the
      categories, they are the phenomena, and the other way round.
    - `languages` are those of items whose row has none.
    """
    _check_roles(table, roles)
    reader = _RowReader(table, tuple(roles), separator, languages)
    reader.names = _Names(known, len(table.rows))
    items = [item for row in table.rows if (item := reader.item(row))]
    return MappedItems(tuple(items), tuple(reader.problems), tuple(_notes(reader, items)))


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
    names: _Names = field(default_factory=lambda: _Names((), 0))
    problems: list[RowProblem] = field(default_factory=list)
    filled: Counter[str] = field(default_factory=Counter)
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
            self.filled[role] += 1
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
        for role, cell in zip(self.roles, row.cells, strict=True):
            if role not in RULES:
                continue
            polarity, kind = RULES[role]
            for text in self._cut(cell):
                if (polarity, kind, text) in seen:
                    continue
                seen.add((polarity, kind, text))
                pattern(text, kind)
                counts[polarity] += 1
                yield Rule(rule_id(item, polarity, counts[polarity]), polarity, kind, text)

    def _cut(self, cell: str) -> list[str]:
        lines = re.split(r"\r\n|\n|\r", cell)
        parts = [part for line in lines for part in self._parts(line)]
        return [part.strip() for part in parts if part.strip()]

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
    for role, count in reader.filled.items():
        rows = "1 row has" if count == 1 else f"{count} rows have"
        yield f"{rows} no {role}: taken from the row above."
    bare = sum(not item.rules for item in items)
    if bare:
        what = "1 item has" if bare == 1 else f"{bare} items have"
        yield f"{what} no rules: all outputs will be warnings until there are some."
    seen: dict[tuple[str, str], str] = {}
    for item in items:
        first = seen.setdefault((item.source, item.phenomenon), item.id)
        if first != item.id:
            yield f"items {first} and {item.id} have the same source and phenomenon."
