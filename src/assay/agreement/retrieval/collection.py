"""What is searched, what is asked, what is known to be relevant; and the search, by BM25."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from assay.data import Array, DataError, Dataset, MissingInput, human_outputs, is_human
from assay.extras import require
from assay.io.files import FilePath, label, read_lines, read_text, system_name
from assay.io.tables import TableRow, has_header, parse_table, read_rows
from assay.io.wmt import check_nesting
from assay.registry import Settings, setting

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = [
    "BM25",
    "Collection",
    "Judgements",
    "Queries",
    "Ranking",
    "Run",
    "Translations",
    "collect",
    "human_files",
    "is_trec",
    "read_judgements",
    "read_queries",
    "read_trec_documents",
    "read_trec_queries",
    "translations",
    "words",
]


_DECLARATION = re.compile(r"<\?xml[^>]*\?>")
_TREC = re.compile(r"<(?:docno|top)\b", re.IGNORECASE)
_HEAD = 10_000

_DOCUMENT = ("title", "headline", "text")
_TOPIC = ("title", "query", "text")
"""Where the words are; authors, sources and descriptions are not searched."""


def is_trec(path: FilePath) -> bool:
    """Whether a file holds TREC's documents or topics."""
    head = read_text(path)[:_HEAD].lstrip()
    return head.startswith("<") and _TREC.search(head) is not None


def read_trec_documents(path: FilePath) -> dict[str, str]:
    """The title and text of every document, by its number."""
    return _read(path, "doc", "docno", _DOCUMENT)


def read_trec_queries(path: FilePath) -> dict[str, str]:
    """The title of every topic, by its number."""
    return _read(path, "top", "num", _TOPIC)


def _read(path: FilePath, tag: str, key: str, parts: Sequence[str]) -> dict[str, str]:
    texts_by_number: dict[str, str] = {}
    for element in _parse(path).iter():
        if element.tag.lower() != tag:
            continue
        texts = {child.tag.lower(): _text(child) for child in element}
        number = re.sub(r"^number:\s*", "", texts.pop(key, ""), flags=re.IGNORECASE)
        if not number:
            raise DataError(
                f"{label(path)}: <{tag}> number {len(texts_by_number) + 1} has no <{key}>."
            )
        if number in texts_by_number:
            raise DataError(f"{label(path)}: <{key}> {number} is there twice. Rename one.")
        chosen = [texts[part] for part in parts if part in texts]
        texts_by_number[number] = " ".join(chosen or texts.values())
    if not texts_by_number:
        raise DataError(f"{label(path)} has no <{tag}>. Is it TREC's XML?")
    return texts_by_number


def _parse(path: FilePath) -> Element:
    from defusedxml.ElementTree import ParseError, fromstring

    # One element around all, on the same line: TREC's files often have none. Inside an element
    # nothing can be declared, so entities that attack a reader are errors, too.
    text = f"<all>{_DECLARATION.sub('', read_text(path), count=1)}</all>"
    try:
        root: Element = fromstring(text)
    except ParseError as error:
        line = error.position[0]
        raise DataError(f"{label(path)}, line {line}: not well-formed XML ({error}).") from None
    check_nesting(path, root, ("doc", "top"))
    return root


def _text(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


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
    texts: dict[str, list[str]] = {}
    for line, document in zip(lines, documents, strict=True):
        texts.setdefault(document, []).append(line)
    return {document: " ".join(parts) for document, parts in texts.items()}


def read_queries(path: FilePath, *, numbered: bool = False) -> dict[str, str]:
    """The queries of a file: `id<TAB>text` with or without a header, or TREC's topics.

    When `numbered`, they are called 1, 2, 3 ... in the file's order, whatever it calls them.
    """
    queries = read_trec_queries(path) if is_trec(path) else _read_table(path)
    if numbered:
        return {str(number): text for number, text in enumerate(queries.values(), 1)}
    return queries


def read_judgements(path: FilePath) -> dict[str, dict[str, int]]:
    """TREC's judgements: query, iteration (ignored), document and relevance, blanks between."""
    judgements: dict[str, dict[str, int]] = {}
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
        judged = judgements.setdefault(query, {})
        if document in judged:
            raise DataError(
                f"{where}: document {document} is judged for query {query} a second time. "
                "Keep one of the two."
            )
        judged[document] = int(relevance)
    if not judgements:
        raise DataError(f"{label(path)} has no judgements.")
    return judgements


class _Query(NamedTuple):
    line: int
    id: str
    text: str


def _read_table(path: FilePath) -> dict[str, str]:
    """The queries of a table, with or without a header."""
    queries: dict[str, str] = {}
    for line, name, text in _cells(path, read_rows(path)):
        where = f"{label(path)}, line {line}"
        if not name or not text:
            raise DataError(f"{where}: a query needs both an id and words.")
        if name in queries:
            raise DataError(f"{where}: the query {name} is there twice. Rename one.")
        queries[name] = text
    return queries


def _cells(path: FilePath, rows: Sequence[TableRow]) -> Iterator[_Query]:
    """The line, id and text of every query."""
    if has_header(rows, *_IDS) and has_header(rows, *_TEXTS):
        table = parse_table(path, rows)
        names, texts = table.column(*_IDS), table.column(*_TEXTS)
        for row, name, text in zip(table.rows, names, texts, strict=True):
            yield _Query(row.line, name.strip(), text.strip())
        return
    for line, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != 2:
            raise DataError(
                f"{label(path)}, line {line}: {len(cells)} cells. Write id<TAB>words of the "
                "query, or a header that names the columns id and text."
            )
        yield _Query(line, cells[0].strip(), cells[1].strip())


_REFERENCE = re.compile(r"ref(?:erence)?[-_.]", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Translations:
    """The documents of every system, machines first, and which of them are people's.

    `truth` is the name of the human translation whose ranking counts, if there is one. `machines`
    is the dataset without the human outputs.
    """

    collections: Mapping[str, Collection]
    humans: tuple[str, ...]
    truth: str | None
    machines: Dataset

    @classmethod
    def alone(cls, collections: Mapping[str, Collection]) -> Translations:
        """Collections that are searched as they are: nobody translated them."""
        return cls(collections, (), None, Dataset({}, ()))


def human_files(paths: Sequence[FilePath]) -> list[FilePath]:
    """The files that hold a human translation, by their names: ref.txt, ref.A.txt, human-B.txt.

    >>> human_files(["systems/refine.txt", "ref.txt", "data/ref.en.txt"])
    ['ref.txt', 'data/ref.en.txt']
    """
    names = {path: system_name(path) for path in paths}
    return [path for path in paths if is_human(names[path]) or _REFERENCE.match(names[path])]


def translations(dataset: Dataset) -> Translations:
    """The collection as each system and each reference has it.

    A human output among the systems is no machine. The first reference is the truth.
    """
    if not dataset.documents:
        raise MissingInput("documents", "retrieval searches documents, not segments")
    people = human_outputs(dataset)
    machines = {name: lines for name, lines in dataset.systems.items() if name not in people}
    humans = {name: dataset.systems[name] for name in people}
    truth = None
    for name, lines in _references(dataset).items():
        same = next((known for known, text in humans.items() if text == lines), None)
        label = same or (name if name not in dataset.systems else f"{name} (reference)")
        humans[label] = lines
        truth = truth or label
    return Translations(
        {name: collect(lines, dataset.documents) for name, lines in (machines | humans).items()},
        tuple(humans),
        truth,
        replace(dataset, systems=machines),
    )


def _references(dataset: Dataset) -> dict[str, tuple[str, ...]]:
    """The references that have a line for every segment, by name."""
    count = min(map(len, dataset.references), default=0)
    given = dataset.reference_names if len(dataset.reference_names) == count else ()
    names = given or tuple(f"reference {at}" if count > 1 else "reference"
                           for at in range(1, count + 1))  # fmt: skip
    return {
        name: tuple(references[at] for references in dataset.references)
        for at, name in enumerate(names)
    }


_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")


class Ranking(NamedTuple):
    """The documents found for a query, the best first, and their scores."""

    documents: tuple[str, ...]
    scores: Array


Run: TypeAlias = Mapping[str, Ranking]
"""What was found for every query."""


@dataclass(frozen=True)
class BM25(Settings):
    """BM25 as in Lucene: `k1` tames repeated words, `b` long documents.

    Of each query the best `depth` documents are kept, never one without a word of the query. No
    stemming and no stop words. Of equal scores, the document with the greater id stands first, as
    in trec_eval.
    """

    name: ClassVar[str] = "bm25"

    k1: float = setting(1.5, key="k1")
    b: float = setting(0.75, key="b")
    depth: int = setting(1000, key="depth")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k1 < 0 or not 0 <= self.b <= 1 or self.depth < 1:
            raise DataError(f"{self}: k1 is at least 0, b from 0 to 1, depth at least 1.")

    def search(self, collection: Collection, queries: Queries) -> dict[str, Ranking]:
        """The documents that each query finds, in order."""
        index = self._index(collection)
        # The greatest id first; sorting by score is stable and keeps it so.
        names = np.array(list(collection), object)
        by_id = np.array(sorted(range(len(names)), key=names.__getitem__, reverse=True))
        return {
            query: _ranking(_scores(index, text)[by_id], names[by_id], self.depth)
            for query, text in queries.items()
        }

    def _index(self, collection: Collection) -> Any:
        texts = [words(text) for text in collection.values()]
        if not any(texts):
            raise DataError("the documents have no words at all: there is nothing to search.")
        index = require("ir", "bm25s").BM25(k1=self.k1, b=self.b, method="lucene", dtype="float64")
        index.index(texts, show_progress=False)
        return index


def words(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation; Han and kana one by one.

    >>> words("It's 日本, U.N.!")
    ['it', 's', '日', '本', 'u', 'n']
    """
    return _WORD.findall(text.lower())


def _scores(index: Any, query: str) -> Array:
    """The score of every document; 0 where it has no word of the query."""
    known = [word for word in words(query) if word in index.vocab_dict]
    if not known:
        return np.zeros(index.scores["num_docs"])
    scores: Array = index.get_scores(known)
    return scores


def _ranking(scores: Array, names: Any, depth: int) -> Ranking:
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > 0][:depth]
    return Ranking(tuple(names[order]), scores[order])
