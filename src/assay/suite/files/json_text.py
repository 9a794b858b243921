"""JSON in and out without loss: nothing is skipped, and an error says where it is."""

from __future__ import annotations

import json
from typing import Any

from assay.data import DataError
from assay.io.files import FilePath, label
from assay.io.lines import SURROGATE

__all__ = ["dump_json", "lines_of_list", "parse_json"]


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
