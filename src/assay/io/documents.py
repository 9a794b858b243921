"""Which document each segment belongs to."""

from __future__ import annotations

from collections.abc import Sequence

from assay.data import DataError
from assay.io.files import FilePath, label, suffix
from assay.io.lines import read_lines
from assay.io.tables import TextTable, parse_table, whole_number
from assay.io.wmt import read_sgm, read_wmt_xml

__all__ = ["read_documents"]


def read_documents(path: FilePath) -> tuple[str, ...]:
    """One document id per segment.

    From a table with a column `doc_id` (and perhaps `line`), from lines `domain<TAB>id` as in
    mt-metrics-eval, from one id per line, or from WMT's SGML or XML.
    """
    match suffix(path):
        case ".sgm" | ".sgml":
            return read_sgm(path).documents
        case ".xml":
            return read_wmt_xml(path).documents
    lines = read_lines(path)
    if suffix(path) == ".docs":
        return _from_pairs(path, lines)
    if {"doc_id", "doc"} & set(lines[0].lower().split("\t")):
        return _from_table(parse_table(path, lines))
    return _from_pairs(path, lines) if "\t" in lines[0] else lines


def _from_table(table: TextTable) -> tuple[str, ...]:
    documents, place = table.column("doc_id", "doc"), table.find("line")
    if place is None:
        return tuple(documents)
    by_line: dict[int, str] = {}
    for row, document in zip(table.rows, documents, strict=True):
        line = whole_number(table.path, row.line, row.cells[place])
        if line in by_line or line > len(table.rows):
            raise DataError(
                f"{label(table.path)}, line {row.line}: the column 'line' must hold every number "
                f"from 1 to {len(table.rows)} once, and {line} is too much."
            )
        by_line[line] = document
    return tuple(by_line[line] for line in sorted(by_line))


def _from_pairs(path: FilePath, lines: Sequence[str]) -> tuple[str, ...]:
    pairs = [line.split("\t") for line in lines]
    for number, cells in enumerate(pairs, 1):
        if len(cells) != 2:
            raise DataError(
                f"{label(path)}, line {number}: {len(cells)} cells. Write domain<TAB>document, "
                "or a header that names a column doc_id."
            )
    return tuple(document for _, document in pairs)
