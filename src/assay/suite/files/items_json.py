"""The public items.json: one object with the list of all items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.data import DataError
from assay.io.files import FilePath, label, write_whole
from assay.io.lines import read_text
from assay.suite.files.fields import Placed, fields_of, gather, item_of
from assay.suite.files.json_text import dump_json, lines_of_list, parse_json, refuse_halves
from assay.suite.model import Suite

__all__ = ["head_of", "read_items_json", "write_items_json"]


def read_items_json(path: FilePath) -> Suite:
    """The suite of an items.json: `{"items": [{"id": ..., "langpair": ..., ...}, ...]}`."""
    text = read_text(path)
    whole = parse_json(path, text)
    if not isinstance(whole, dict) or not isinstance(whole.get("items"), list):
        raise DataError(
            f'{label(path)}: the items are missing. Write one object, {{"items": [...]}}.'
        )
    placed = list(_placed(path, whole["items"], lines_of_list(text, "items")))
    extra = {key: value for key, value in whole.items() if key not in ("items", "name")}
    return gather(path, placed, name=name_of(path, whole), extra=extra)


def write_items_json(path: FilePath, suite: Suite) -> None:
    """Write an items.json; `read_items_json` gives the same suite back."""
    items = [fields_of(item) for item in suite.items]
    whole = {**head_of(path, suite), "items": items}
    write_whole(path, dump_json(path, whole, indent=2) + "\n")


def name_of(path: FilePath, head: dict[str, Any]) -> str:
    """The suite's name, "" where it has none."""
    name = head.get("name", "")
    if not isinstance(name, str):
        raise DataError(f"{label(path)}: the suite's 'name' must be a text.")
    refuse_halves(head)
    return name


def head_of(path: FilePath, suite: Suite) -> dict[str, Any]:
    """What a file says of the suite as a whole, where there is something to say."""
    taken = next((key for key in suite.extra if key in ("items", "name")), None)
    if taken is not None:
        raise DataError(f"{path}: a further field cannot be called {taken!r}. Rename it.")
    return ({"name": suite.name} if suite.name else {}) | dict(suite.extra)


def placed_item(path: FilePath, line: int, fields: Any) -> Placed:
    """The item whose fields begin on this line of the file."""
    try:
        if not isinstance(fields, dict):
            raise DataError('not an item; each is one object: {"id": ..., "category": ...}')
        refuse_halves(fields)
        return Placed(line, item_of(fields))
    except DataError as error:
        raise DataError(f"{label(path)}, line {line}: {error}") from None


def _placed(path: FilePath, items: list[Any], lines: list[int]) -> Iterator[Placed]:
    for line, fields in zip(lines, items, strict=True):
        yield placed_item(path, line, fields)
