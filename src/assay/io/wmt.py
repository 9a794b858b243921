"""The formats of the WMT campaigns: SGML until 2020, XML since."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from assay.data import DataError, Dataset
from assay.io.files import FilePath, label, read_bytes, read_text

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["SgmTexts", "check_nesting", "is_sgm", "parse_sgm", "read_sgm", "read_wmt_xml"]

_TAG = re.compile(r"<(/?)(doc|seg)\b((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>", re.IGNORECASE)
# Words are tried once each, from their start: a long one without "=" takes no long time.
_ATTRIBUTE = re.compile(r"(?<![\w-])([\w-]++)\s*+=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]*);")
_SET = re.compile(r"<(?:src|ref|tst)set\b", re.IGNORECASE)


class SgmTexts(NamedTuple):
    """The segments of an SGML file and, for each, the id of its document."""

    lines: tuple[str, ...]
    documents: tuple[str, ...]


def is_sgm(text: str) -> bool:
    """Whether a text is WMT's SGML: a set of sources, references or translations."""
    head = text[:2000].lstrip()
    return head.startswith("<") and bool(_SET.search(head))


def read_sgm(path: FilePath) -> SgmTexts:
    """The segments of an SGML file, in the file's order.

    Entities are resolved, blanks at the ends dropped and line breaks inside made blanks.
    """
    return parse_sgm(path, read_text(path))


def parse_sgm(path: FilePath, text: str) -> SgmTexts:
    """The segments in the text of this file."""
    segments = list(_segments(path, text))
    if not segments:
        raise DataError(f"{label(path)} has no <seg> ... </seg>. Is it WMT's SGML format?")
    seen: set[tuple[str, str]] = set()
    for document, number, _ in segments:
        if number and (document, number) in seen:
            raise DataError(
                f"{label(path)}: document {document!r} has segment {number} twice. "
                "Put each reference or system into a file of its own."
            )
        seen.add((document, number))
    return SgmTexts(tuple(line for *_, line in segments), tuple(doc for doc, *_ in segments))


def _segments(path: FilePath, text: str) -> Iterator[tuple[str, str, str]]:
    """Document, number and text of every segment."""
    document, number, start = "", "", None
    for tag in _TAG.finditer(text):
        closing, name = bool(tag[1]), tag[2].lower()
        if name == "doc":
            document = "" if closing else _attributes(tag[3]).get("docid", "")
        elif closing and start is not None:
            yield document, number, _clean(_resolve(text[start : tag.start()]))
            start = None
        elif closing or start is not None:
            line = text.count("\n", 0, tag.start()) + 1
            raise DataError(f"{label(path)}, line {line}: <seg> and </seg> do not pair up.")
        else:
            number, start = _attributes(tag[3]).get("id", ""), tag.end()
    if start is not None:
        line = text.count("\n", 0, start) + 1
        raise DataError(f"{label(path)}, line {line}: this <seg> is never closed by </seg>.")


def _attributes(text: str) -> dict[str, str]:
    found = _ATTRIBUTE.findall(text)
    return {name.lower(): _resolve(one or two or three) for name, one, two, three in found}


def _resolve(text: str) -> str:
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


def _clean(text: str) -> str:
    """The text on one line."""
    lines = (line.strip(" \t") for line in re.split(r"[\r\n]", text))
    return " ".join(filter(None, lines))


def read_wmt_xml(path: FilePath) -> Dataset:
    """The sources, references, systems and documents of a WMT XML file.

    As in sacreBLEU, documents of test suites are left out, and so are segments without any
    reference where others have one.
    """
    root = _parse(path)
    documents = [doc for doc in root.iter("doc") if "testsuite" not in doc.attrib]
    translators = _names(documents, "ref", "translator")
    systems = _names(documents, "hyp", "system")
    rows = [row for doc in documents for row in _rows(path, doc, translators, systems)]
    if translators:
        rows = [row for row in rows if any(row.references)]
    if not rows:
        raise DataError(f"{label(path)} has no segments. Is it WMT's XML format?")
    return Dataset(
        systems={name: tuple(row.systems[i] for row in rows) for i, name in enumerate(systems)},
        references=tuple(tuple(r for r in row.references if r is not None) for row in rows),
        sources=tuple(row.source or "" for row in rows) if rows[0].source is not None else (),
        documents=tuple(row.document for row in rows),
        name=root.get("id", ""),
        languages=_languages(root),
        reference_names=tuple(translators) if all(translators) else (),
    )


class _Segment(NamedTuple):
    document: str
    source: str | None
    references: list[str | None]
    systems: list[str]


def _parse(path: FilePath) -> Element:
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    try:
        root: Element = fromstring(read_bytes(path))
    except ParseError as error:
        line = error.position[0]
        raise DataError(f"{label(path)}, line {line}: not well-formed XML ({error}).") from None
    except DefusedXmlException:
        raise DataError(
            f"{label(path)} declares XML entities, which are refused because they can be used to "
            "attack a reader. Write the characters themselves."
        ) from None
    except (LookupError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{label(path)}: not readable as XML ({error}). Save it as UTF-8."
        ) from None
    check_nesting(path, root, ("doc", "src", "ref", "hyp", "seg"))
    return root


def check_nesting(path: FilePath, root: Element, tags: Sequence[str]) -> None:
    """Raise a `DataError` where an element of one of these tags stands inside another of it.

    To read such a file would take time that grows with the square of its size.
    """
    stack: list[tuple[Element, frozenset[str]]] = [(root, frozenset())]
    while stack:
        element, around = stack.pop()
        tag = element.tag.lower()
        if tag in around:
            raise DataError(f"{label(path)}: a <{tag}> stands inside another one. Mend the file.")
        inside = around | {tag} if tag in tags else around
        stack.extend((child, inside) for child in element)


def _names(documents: Sequence[Element], tag: str, attribute: str) -> list[str]:
    """The names of translators or systems, in order of appearance."""
    found = (each.get(attribute, "") for doc in documents for each in doc.iter(tag))
    return list(dict.fromkeys(found))


def _rows(
    path: FilePath, doc: Element, translators: Sequence[str], systems: Sequence[str]
) -> Iterator[_Segment]:
    name = doc.get("id", "")
    where = f"{label(path)}, document {name!r}"
    sources = _texts(where, doc, "src", "lang")
    references = _texts(where, doc, "ref", "translator")
    outputs = _texts(where, doc, "hyp", "system")
    source = next(iter(sources.values()), None)
    for number in _numbers([*sources.values(), *references.values(), *outputs.values()]):
        for system in systems:
            if number not in outputs.get(system, {}):
                raise DataError(f"{where}: system {system!r} has no segment {number}.")
        yield _Segment(
            name,
            source[number] if source is not None else None,
            # An empty reference is none, as in sacreBLEU.
            [references.get(translator, {}).get(number) or None for translator in translators],
            [outputs[system][number] for system in systems],
        )


def _texts(where: str, doc: Element, tag: str, attribute: str) -> dict[str, dict[str, str]]:
    """Per translator or system, the texts by their segments' numbers."""
    found: dict[str, dict[str, str]] = {}
    for each in doc.iter(tag):
        texts = found.setdefault(each.get(attribute, ""), {})
        for segment in each.iter("seg"):
            number = segment.get("id", str(len(texts) + 1))
            if number in texts:
                raise DataError(f"{where}: <{tag}> has segment {number} twice. Remove one.")
            texts[number] = _clean("".join(segment.itertext()))
    return found


def _numbers(sides: Sequence[dict[str, str]]) -> list[str]:
    """The segments' numbers: those of the source, or else of the first text there is."""
    numbers = list(sides[0]) if sides else []
    if all(number.isascii() and number.isdigit() for number in numbers):
        return sorted(numbers, key=lambda number: (len(number.lstrip("0")), number.lstrip("0")))
    return numbers


def _languages(root: Element) -> tuple[str, str] | None:
    sources = {each.get("lang", "") for each in root.iter("src")}
    targets = {each.get("lang", "") for tag in ("ref", "hyp") for each in root.iter(tag)} - {""}
    if len(sources) == len(targets) == 1 and all(sources):
        return sources.pop(), targets.pop()
    return None
