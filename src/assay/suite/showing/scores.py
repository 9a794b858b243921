"""Scores of whole systems from elsewhere, BLEU above all, to stand below a table of accuracies."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.data import DataError
from assay.io.files import FilePath, label, suffix
from assay.io.lines import read_text, split_lines
from assay.io.tables import TextTable, parse_table

__all__ = ["SystemScores", "read_system_scores"]

_PARTS = ("document", "group", "segment", "line", "other")
"""What makes a record of `assay score` one of less than a whole system."""

_HOW = (
    "Give the json or tsv of `assay score`, or a table with a column `system` and one per metric."
)


@dataclass(frozen=True)
class SystemScores:
    """One metric's score of each system, by name; `note` tells its settings."""

    name: str
    values: Mapping[str, float]
    note: str = ""

    def of(self, system: str) -> float:
        """The score of a system, `nan` where there is none."""
        return self.values.get(system, math.nan)


def read_system_scores(path: FilePath, systems: Sequence[str]) -> tuple[SystemScores, ...]:
    """The scores in the output of `assay score` (json, tsv), or in a table, a metric per column.

    Other systems in the file are left aside, but one of these must be there.
    """
    text = read_text(path)
    if suffix(path) == ".json" or text.lstrip().startswith("{"):
        found = _of_records(path, _records(path, text))
    else:
        table = parse_table(path, split_lines(text))
        long = {"metric", "score"} <= set(table.columns)
        found = _of_records(path, _rows(table)) if long else _of_columns(table)
    names = list(dict.fromkeys(name for scores in found for name in scores.values))
    if not set(names) & set(systems):
        raise DataError(
            f"{label(path)}: none of the systems {', '.join(systems)[:200]} has a score there; "
            f"it has {', '.join(names)[:200] or 'none at all'}. {_HOW}"
        )
    return tuple(found)


def _records(path: FilePath, text: str) -> list[Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{label(path)}: not JSON ({error}). {_HOW}") from None
    records = content.get("records") if isinstance(content, dict) else None
    if not isinstance(records, list):
        raise DataError(f"{label(path)}: no list of records. {_HOW}")
    return records


def _rows(table: TextTable) -> list[dict[str, str]]:
    return [dict(zip(table.columns, row.cells, strict=True)) for row in table.rows]


def _of_records(path: FilePath, records: Iterable[Any]) -> list[SystemScores]:
    by_metric: dict[str, dict[str, float]] = {}
    signatures: dict[str, str] = {}
    for record in records:
        if not isinstance(record, dict) or not {"system", "metric", "score"} <= record.keys():
            raise DataError(f"{label(path)}: a record without system, metric and score. {_HOW}")
        if any(record.get(part) not in (None, "") for part in _PARTS):
            continue
        metric = str(record["metric"])
        value = _number(path, record["score"], str(record["system"]))
        by_metric.setdefault(metric, {}).setdefault(str(record["system"]), value)
        signatures.setdefault(metric, str(record.get("signature") or ""))
    heads = {metric: text.partition("|")[0] or metric for metric, text in signatures.items()}
    same = {head for head in heads.values() if list(heads.values()).count(head) > 1}
    return [
        SystemScores(metric if heads[metric] in same else heads[metric], values, signatures[metric])
        for metric, values in by_metric.items()
    ]


def _of_columns(table: TextTable) -> list[SystemScores]:
    names = table.column("system")
    place = table.find("system")
    return [
        SystemScores(column, _column(table, at, names))
        for at, column in enumerate(table.columns)
        if at != place
    ]


def _column(table: TextTable, at: int, names: Sequence[str]) -> dict[str, float]:
    values: dict[str, float] = {}
    for name, row in zip(names, table.rows, strict=True):
        if name in values:
            where = f"{label(table.path)}, line {row.line}"
            raise DataError(f"{where}: {name!r} has its scores on an earlier line. Keep one.")
        values[name] = _number(table.path, row.cells[at], name)
    return values


def _number(path: FilePath, value: Any, system: str) -> float:
    if value is None or value == "":
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        raise DataError(
            f"{label(path)}: {value!r} for system {system!r} is not a number. {_HOW}"
        ) from None
