"""Items in JSON and JSON Lines, without loss: an error says where it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from assay.data import DataError
from assay.io.files import SURROGATE, FilePath, label, read_lines, read_text, write_whole
from assay.suites.files.fields import Placed, fields_of, gather, item_of
from assay.suites.model import Suite

__all__ = [
    "dump_json",
    "head_of",
    "lines_of_list",
    "parse_json",
    "read_items_json",
    "read_items_jsonl",
    "write_items_json",
    "write_items_jsonl",
]


def parse_json(path: FilePath, text: str, *, line: int = 1, cell: str = "") -> Any:
    """The value of a JSON text that begins on this line of a file, perhaps in a cell of a table.

    A key that stands twice in an object, NaN and half characters are errors, since none of them
    would come out again.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        at = f"line {line + error.lineno - 1}, column {error.colno}" + f" of {cell}" * bool(cell)
        raise DataError(f"{label(path)}, {at}: not JSON ({error.msg}).") from None
    except (DataError, ValueError, RecursionError) as error:
        raise DataError(f"{label(path)}, from line {line}: {error}") from None
    return value


def dump_json(path: FilePath, value: Any, *, indent: int | None = None) -> str:
    """The value as JSON text with its characters as they are."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: a field that JSON cannot hold ({error}).") from None
    return text


def refuse_halves(value: Any) -> None:
    """Raise a `DataError` where a text has half a character."""
    if SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise DataError("a text has half a character (a lone surrogate escape). Repair it.")


def lines_of_list(text: str, key: str) -> list[int]:
    """The line where each element begins of the list under a key of the outermost object.

    The text must have gone through `parse_json`.
    """
    decoder = json.JSONDecoder()
    name, at = None, text.index("{")
    while name != key:
        name, at = decoder.raw_decode(text, _after(text, at))
        at = _after(text, at)
        if name != key:
            _, at = decoder.raw_decode(text, at)
            at = _blanks(text, at)
    lines, line, counted = [], 1, 0
    while text[(at := _after(text, at))] != "]":
        line, counted = line + text.count("\n", counted, at), at
        lines.append(line)
        _, at = decoder.raw_decode(text, at)
        at = _blanks(text, at)
        if text[at] == "]":
            break
    return lines


def _after(text: str, at: int) -> int:
    """Where the next value begins, behind a bracket, a colon or a comma."""
    return _blanks(text, _blanks(text, at) + 1)


def _blanks(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        owner = f" of {found['id']!r}" if isinstance(found.get("id"), str) else ""
        raise DataError(f"the key {twice!r}{owner} stands twice in one object. Remove one.")
    return found


def _refuse(constant: str) -> Any:
    raise DataError(f"{constant} is not JSON. Write null for unknown.")


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


def read_items_jsonl(path: FilePath) -> Suite:
    """The suite of a file with one item a line; blank lines are left out.

    The first line may speak of the suite as a whole: `{"suite": {"name": ...}}`.
    """
    values = [
        (number, parse_json(path, line, line=number))
        for number, line in enumerate(read_lines(path), 1)
        if line.strip()
    ]
    head: dict[str, Any] = {}
    if values and _is_head(values[0][1]):
        head = values.pop(0)[1]["suite"]
    placed = [placed_item(path, number, fields) for number, fields in values]
    extra = {key: value for key, value in head.items() if key != "name"}
    return gather(path, placed, name=name_of(path, head), extra=extra)


def write_items_jsonl(path: FilePath, suite: Suite) -> None:
    """Write one item a line; `read_items_jsonl` gives the same suite back."""
    head = head_of(path, suite)
    records = [{"suite": head}] if head else []
    records += [fields_of(item) for item in suite.items]
    write_whole(path, "".join(dump_json(path, record) + "\n" for record in records))


def _is_head(value: Any) -> bool:
    return isinstance(value, dict) and list(value) == ["suite"] and isinstance(value["suite"], dict)
