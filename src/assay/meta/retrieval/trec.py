"""Documents and topics in TREC's XML: `<doc>` with a `<docno>`, `<top>` with a `<num>`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.data import DataError
from assay.io.files import FilePath, label
from assay.io.lines import read_text

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["is_trec", "read_trec_documents", "read_trec_queries"]

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
    found: dict[str, str] = {}
    for element in _parse(path).iter():
        if element.tag.lower() != tag:
            continue
        texts = {child.tag.lower(): _text(child) for child in element}
        number = re.sub(r"^number:\s*", "", texts.pop(key, ""), flags=re.IGNORECASE)
        if not number:
            raise DataError(f"{label(path)}: <{tag}> number {len(found) + 1} has no <{key}>.")
        if number in found:
            raise DataError(f"{label(path)}: <{key}> {number} is there twice. Rename one.")
        chosen = [texts[part] for part in parts if part in texts]
        found[number] = " ".join(chosen or texts.values())
    if not found:
        raise DataError(f"{label(path)} has no <{tag}>. Is it TREC's XML?")
    return found


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
    return root


def _text(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())
