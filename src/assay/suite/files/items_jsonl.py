"""Items as JSON Lines: the objects of items.json, one a line."""

from __future__ import annotations

from typing import Any

from assay.io.files import FilePath, write_whole
from assay.io.lines import read_lines
from assay.suite.files.fields import fields_of, gather
from assay.suite.files.items_json import head_of, name_of, placed_item
from assay.suite.files.json_text import dump_json, parse_json
from assay.suite.model import Suite

__all__ = ["read_items_jsonl", "write_items_jsonl"]


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
    write_whole(path, "".join(dump_json(path, each) + "\n" for each in records))


def _is_head(value: Any) -> bool:
    return isinstance(value, dict) and list(value) == ["suite"] and isinstance(value["suite"], dict)
