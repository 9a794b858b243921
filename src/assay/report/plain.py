"""Records for machines: JSON and tab-separated lines, at full precision."""

from __future__ import annotations

import json as standard_json
import math
import re
from collections.abc import Mapping
from typing import Any

from assay.report.cells import visible
from assay.results import Result
from assay.version import __version__

__all__ = ["json", "plain", "tsv"]

# Legal in JSON, but a lone surrogate cannot be written as UTF-8 and the rest upsets terminals.
_AWKWARD = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def json(result: Result, *, header: Mapping[str, Any]) -> str:
    """One object: version, command, seed, inputs and the records, one record per line.

    `nan` and infinities become null.
    """
    head = {
        "assay": __version__,
        "command": header.get("command"),
        "seed": header.get("seed"),
        "inputs": header.get("inputs", []),
    }
    fields = [f"{_dump(key)}: {_dump(value)}" for key, value in head.items()]
    records = ",\n".join(f"  {_dump(record)}" for record in result.records())
    fields.append(f'"records": [\n{records}\n]' if records else '"records": []')
    return "{" + ",\n".join(fields) + "}\n"


def tsv(result: Result) -> str:
    r"""The records as lines under a line of names; nothing at all where there are no records.

    Unknown values are empty fields. Within texts, backslash, tab and line breaks are written
    `\\`, `\t`, `\n` and so on; quotation marks have no meaning, so read it with quoting off.
    """
    records = result.records()
    names = list(dict.fromkeys(name for record in records for name in record))
    lines = [[_field(name) for name in names]]
    lines += [[_field(record.get(name)) for name in names] for record in records]
    return "".join("\t".join(line) + "\n" for line in lines) if names else ""


def plain(value: Any) -> Any:
    """The value in JSON's own types: NumPy's unwrapped, `nan` and infinities None.

    >>> plain({"score": float("nan"), "systems": ("A", "B")})
    {'score': None, 'systems': ['A', 'B']}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _dump(value: Any) -> str:
    text = standard_json.dumps(plain(value), ensure_ascii=False, allow_nan=False)
    return _AWKWARD.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _field(value: Any) -> str:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return repr(float(value))
    return visible((value if isinstance(value, str) else _dump(value)).replace("\\", "\\\\"))
