"""What is searched, what is asked, and what is known to be relevant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from assay.data import DataError
from assay.io.files import FilePath, label
from assay.io.lines import read_lines
from assay.io.tables import parse_table
from assay.meta.retrieval.trec import is_trec, read_trec_queries

__all__ = ["Collection", "Judgements", "Queries", "collect", "read_judgements", "read_queries"]

Collection: TypeAlias = Mapping[str, str]
"""The text of every document, by its id."""

Queries: TypeAlias = Mapping[str, str]
"""The words of every query, by its id."""

Judgements: TypeAlias = Mapping[str, Mapping[str, int]]
"""Per query, how relevant each judged document is; 0 and less is not at all."""

_IDS = ("id", "query_id", "qid", "num", "number", "topic")
_TEXTS = ("text", "query", "title", "words")


def collect(lines: Sequence[str], documents: Sequence[str]) -> dict[str, str]:
    """The text of every document, from lines and the document that each belongs to.

    >>> collect(["a", "b", "c"], ["x", "y", "x"])
    {'x': 'a c', 'y': 'b'}
    """
    found: dict[str, list[str]] = {}
    for line, document in zip(lines, documents, strict=True):
        found.setdefault(document, []).append(line)
    return {document: " ".join(each) for document, each in found.items()}


def read_queries(path: FilePath, *, numbered: bool = False) -> dict[str, str]:
    """The queries of a file: `id<TAB>text` with or without a header, or TREC's topics.

    When `numbered`, they are called 1, 2, 3 ... in the file's order, whatever it calls them.
    """
    queries = read_trec_queries(path) if is_trec(path) else _from_lines(path)
    if numbered:
        return {str(number): text for number, text in enumerate(queries.values(), 1)}
    return queries


def read_judgements(path: FilePath) -> dict[str, dict[str, int]]:
    """TREC's judgements: query, iteration (ignored), document and relevance, blanks between."""
    found: dict[str, dict[str, int]] = {}
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        where, cells = f"{label(path)}, line {number}", line.split()
        if len(cells) != 4:
            raise DataError(
                f"{where}: {len(cells)} cells. A judgement has four, as in TREC: "
                "query, iteration, document, relevance."
            )
        query, _, document, relevance = cells
        if not re.fullmatch(r"[+-]?[0-9]{1,9}", relevance):
            raise DataError(f"{where}: relevance {relevance!r} is not a whole number.")
        judged = found.setdefault(query, {})
        if document in judged:
            raise DataError(
                f"{where}: document {document} is judged for query {query} a second time. "
                "Keep one of the two."
            )
        judged[document] = int(relevance)
    if not found:
        raise DataError(f"{label(path)} has no judgements.")
    return found


class _Query(NamedTuple):
    line: int
    id: str
    text: str


def _from_lines(path: FilePath) -> dict[str, str]:
    found: dict[str, str] = {}
    for line, name, text in _cells(path, read_lines(path)):
        where = f"{label(path)}, line {line}"
        if not name or not text:
            raise DataError(f"{where}: a query needs both an id and words.")
        if name in found:
            raise DataError(f"{where}: the query {name} is there twice. Rename one.")
        found[name] = text
    return found


def _cells(path: FilePath, lines: Sequence[str]) -> Iterator[_Query]:
    """The line, id and text of every query."""
    if _is_header(lines[0]):
        table = parse_table(path, lines)
        names, texts = table.column(*_IDS), table.column(*_TEXTS)
        for row, name, text in zip(table.rows, names, texts, strict=True):
            yield _Query(row.line, name.strip(), text.strip())
        return
    for number, line in enumerate(lines, 1):
        cells = line.split("\t")
        if line.strip() and len(cells) != 2:
            raise DataError(
                f"{label(path)}, line {number}: {len(cells)} cells. Write id<TAB>words of the "
                "query, or a header that names the columns id and text."
            )
        if line.strip():
            yield _Query(number, cells[0].strip(), cells[1].strip())


def _is_header(line: str) -> bool:
    cells = {cell.strip().lower() for cell in line.split("\t")}
    return bool(cells & set(_IDS)) and bool(cells & set(_TEXTS))
