"""What each phenomenon is: definitions and examples, which go with the suite into its files."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select

from assay.data import DataError
from assay.suites.store.history import add_change, sent_before
from assay.suites.store.records import Change, Phenomenon
from assay.suites.store.tables import changes, check_text, facts, items

__all__ = ["FIELD", "all_phenomena", "define", "phenomenon_named", "take_back_definition"]

FIELD = "phenomena"
"""The field of a suite's file that holds the definitions, a list of objects."""

LONGEST = 10_000
"""Characters of a definition, and of its examples together."""


def all_phenomena(connection: Connection) -> list[Phenomenon]:
    """All phenomena in the order of items, with what people wrote on them."""
    known = {_key(entry): entry for entry in _entries(connection)}
    columns = items.c.category, items.c.phenomenon
    asked = select(*columns, func.count()).group_by(*columns).order_by(func.min(items.c.position))
    return [
        _phenomenon(category, name, known.get((category, name), {}), count)
        for category, name, count in connection.execute(asked)
    ]


def phenomenon_named(connection: Connection, category: str, name: str) -> Phenomenon:
    """One phenomenon, with an empty definition where nobody wrote one."""
    known = {_key(entry): entry for entry in _entries(connection)}
    return _phenomenon(category, name, known.get((category, name), {}))


def define(
    connection: Connection,
    person: int,
    category: str,
    name: str,
    *,
    definition: str,
    examples: str = "",
    key: str | None = None,
) -> Change:
    """Write what a phenomenon is, and examples, one a line; it is a change in the history.

    `key` is the page's own name for the request: sent once more, it changes nothing.
    """
    if done := sent_before(connection, person, key, "phenomenon"):
        return done
    there = select(items.c.id).where(items.c.category == category, items.c.phenomenon == name)
    if connection.execute(there.limit(1)).first() is None:
        raise DataError(f"no item is of {category!r}, {name!r}.")
    before = phenomenon_named(connection, category, name)
    after = Phenomenon(category, name, _checked(definition), tuple(_checked(examples).splitlines()))
    if (before.definition, before.examples) == (after.definition, after.examples):
        raise DataError("Nothing has changed, so nothing was saved.")
    _write(connection, after)
    told = f"defined {category} › {name}: {_told(after)}"
    if before.definition or before.examples:
        told += f" (before: {_told(before)})"
    data = {"before": _entry(before)}
    return add_change(connection, person, None, "phenomenon", told, data=data, key=key)


def _told(phenomenon: Phenomenon) -> str:
    """A definition and its examples in a line."""
    examples = f" (examples: {' / '.join(phenomenon.examples)})" if phenomenon.examples else ""
    return (phenomenon.definition or "no definition") + examples


def take_back_definition(connection: Connection, change: int) -> None:
    """Let a phenomenon be defined as it was before a change."""
    data = connection.execute(select(changes.c.data).where(changes.c.id == change)).scalar_one()
    before = json.loads(data)["before"]
    _write(connection, _phenomenon(before["category"], before["phenomenon"], before))


def _entries(connection: Connection) -> list[dict[str, Any]]:
    """What the suite says of phenomena; what has another form is left alone."""
    found = _extra(connection).get(FIELD, [])
    if not isinstance(found, list):
        return []
    return [entry for entry in found if isinstance(entry, dict) and all(map(str, _key(entry)))]


def _extra(connection: Connection) -> dict[str, Any]:
    stored = connection.execute(select(facts.c.value).where(facts.c.name == "extra")).scalar()
    found: dict[str, Any] = json.loads(stored or "{}")
    return found


def _write(connection: Connection, wanted: Phenomenon) -> None:
    """Put one phenomenon's definition into the suite's fields, or take it out if it is empty."""
    extra = _extra(connection)
    if not isinstance(extra.get(FIELD, []), list):
        raise DataError(f"the suite's field {FIELD!r} holds something else; rename it in its file.")
    key = wanted.category, wanted.name
    entries = [entry for entry in _entries(connection) if _key(entry) != key]
    if wanted.definition or wanted.examples:
        entries.append(_entry(wanted))
    extra = {name: value for name, value in extra.items() if name != FIELD}
    if entries:
        extra[FIELD] = sorted(entries, key=_key)
    connection.execute(delete(facts).where(facts.c.name == "extra"))
    connection.execute(insert(facts).values(name="extra", value=json.dumps(extra)))


def _key(entry: dict[str, Any]) -> tuple[str, str]:
    return str(entry.get("category", "")), str(entry.get("phenomenon", ""))


def _entry(phenomenon: Phenomenon) -> dict[str, Any]:
    return {
        "category": phenomenon.category,
        "phenomenon": phenomenon.name,
        "definition": phenomenon.definition,
        "examples": list(phenomenon.examples),
    }


def _phenomenon(category: str, name: str, entry: dict[str, Any], count: int = 0) -> Phenomenon:
    examples = entry.get("examples", [])
    lines = examples if isinstance(examples, list) else [examples]
    return Phenomenon(
        category, name, str(entry.get("definition", "")), tuple(map(str, lines)), count
    )


def _checked(text: str) -> str:
    check_text(text, "the text")
    text = text.replace("\r\n", "\n").strip()
    if len(text) > LONGEST:
        raise DataError(f"the text has {len(text)} characters; at most {LONGEST} are kept.")
    return text
