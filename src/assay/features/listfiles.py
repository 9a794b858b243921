"""Files with one's own words and regular expressions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from assay.data import DataError
from assay.features.wordlists import compiled
from assay.io.files import FilePath, label
from assay.io.lines import read_lines

__all__ = ["read_patterns", "read_word_lists"]


def read_word_lists(path: FilePath) -> dict[str, tuple[str, ...]]:
    """The words of each label, from rows of `word<TAB>label`; `he<TAB>Masc`, for one.

    Blank lines, and lines with # in front and no tab, are left out.
    """
    lists: dict[str, list[str]] = {}
    for row in _rows(path, "word<TAB>label"):
        lists.setdefault(_label(path, row.number, row.second), []).append(row.first)
    return {name: tuple(dict.fromkeys(words)) for name, words in lists.items()}


def read_patterns(path: FilePath) -> dict[str, tuple[str, ...]]:
    r"""The regular expressions of each label, from rows of `label<TAB>expression`.

    Blank lines, and lines with # in front and no tab, are left out.
    """
    patterns: dict[str, list[str]] = {}
    for row in _rows(path, "label<TAB>expression"):
        try:
            compiled(row.second)
        except DataError as error:
            raise DataError(f"{label(path)}, line {row.number}: {error}") from None
        patterns.setdefault(_label(path, row.number, row.first), []).append(row.second)
    return {name: tuple(dict.fromkeys(each)) for name, each in patterns.items()}


class _Row(NamedTuple):
    number: int
    first: str
    second: str


def _rows(path: FilePath, form: str) -> Iterator[_Row]:
    count = 0
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip() or (line.startswith("#") and "\t" not in line):
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 2 or not all(cells):
            raise DataError(
                f"{label(path)}, line {number}: {_shown(line)} is not {form}. "
                "Put both on one line with one tab between them."
            )
        count += 1
        yield _Row(number, *cells)
    if not count:
        raise DataError(f"{label(path)} has no rows; it needs lines of {form}.")


def _label(path: FilePath, number: int, text: str) -> str:
    if len(text.split()) > 1:
        raise DataError(
            f"{label(path)}, line {number}: the label {text!r} has a blank inside. "
            f"Write {'_'.join(text.split())!r}."
        )
    return text


def _shown(line: str) -> str:
    return repr(line if len(line) <= 60 else line[:59] + "…")
