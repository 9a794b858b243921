"""The fields of an item as the public files name them, whatever the format around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from assay.data import DataError
from assay.io.files import FilePath, label
from assay.suite.files.rule_fields import (
    PATTERNS,
    checked_id,
    described,
    public_patterns,
    rules_of,
    standard_rules,
    text_of,
)
from assay.suite.model import Item, Suite

__all__ = ["PUBLIC", "Placed", "fields_of", "gather", "item_of"]

PUBLIC = ("id", "langpair", "category", "phenomenon", "source_sentence", *PATTERNS)
"""The fields that the public items.json has, in the order in which they are written."""


class Placed(NamedTuple):
    """An item, and the line of its file where it begins."""

    line: int
    item: Item


def item_of(fields: Mapping[str, Any]) -> Item:
    """The item that these fields describe; a `DataError` names the item and the field.

    `rules` says more than the public fields can (ids, authors, order) and is preferred, but must
    agree with those of them that are there. Fields that nobody knows are kept in `extra`.
    """
    name = checked_id("item", text_of(fields, "id"))
    try:
        extra = {key: fields[key] for key in fields if key not in (*PUBLIC, "rules")}
        return Item(
            id=name,
            languages=text_of(fields, "langpair", default=""),
            category=text_of(fields, "category"),
            phenomenon=text_of(fields, "phenomenon"),
            source=text_of(fields, "source_sentence"),
            rules=rules_of(name, fields),
            **({"extra": extra} if extra else {}),
        )
    except DataError as error:
        raise DataError(f"item {name}: {error}") from None


def fields_of(item: Item) -> dict[str, Any]:
    """The item's fields, from which `item_of` makes the same item.

    `rules` is among them only where the public fields do not say it all.
    """
    taken = next((key for key in item.extra if key in (*PUBLIC, "rules")), None)
    if taken is not None:
        raise DataError(f"item {item.id}: a further field cannot be called {taken!r}. Rename it.")
    for what, name in [("item", item.id), *(("rule", rule.id) for rule in item.rules)]:
        checked_id(what, name)
    public = {
        "id": item.id,
        "langpair": item.languages,
        "category": item.category,
        "phenomenon": item.phenomenon,
        "source_sentence": item.source,
        **public_patterns(item.rules),
    }
    if standard_rules(item.id, public) != item.rules:
        public["rules"] = [described(rule) for rule in item.rules]
    return public | dict(item.extra)


def gather(
    path: FilePath, placed: Sequence[Placed], *, name: str = "", extra: Mapping[str, Any]
) -> Suite:
    """The suite of these items of a file; an id that stands twice is an error with both lines."""
    if not placed:
        raise DataError(f"{label(path)} has no items. A suite needs at least one.")
    _refuse_twice(path, "item", ((each.item.id, each.line) for each in placed))
    rules = ((rule.id, each.line) for each in placed for rule in each.item.rules)
    _refuse_twice(path, "rule", rules)
    return Suite(tuple(each.item for each in placed), name, **({"extra": extra} if extra else {}))


def _refuse_twice(path: FilePath, what: str, places: Iterator[tuple[str, int]]) -> None:
    seen: dict[str, int] = {}
    for name, line in places:
        if name in seen:
            raise DataError(
                f"{label(path)}, line {line}: {what} {name} stands on line {seen[name]} already; "
                f"every {what} needs its own id."
            )
        seen[name] = line
