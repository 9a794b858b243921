"""The formats that results are written in, by name and by the ending of a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from assay.data import DataError
from assay.io.files import FilePath, suffix, write_whole
from assay.io.packed import PACKED
from assay.registry import Registry, did_you_mean
from assay.results import Result

__all__ = ["FORMATS", "OutputFormat", "endings", "format_of", "render", "save"]


class OutputFormat(ABC):
    """A format of results; `endings` are those of its files, with their dots.

    A format that is `binary` gives bytes, which no terminal can show.
    """

    name: ClassVar[str]
    endings: ClassVar[tuple[str, ...]]
    binary: ClassVar[bool] = False

    @abstractmethod
    def render(self, result: Result, *, digits: int = 2) -> str | bytes:
        """The result in this format, scores in tables with so many decimals."""


FORMATS: Registry[OutputFormat] = Registry(
    "format",
    "assay.formats",
    {
        "text": "assay.rendering.text:TextFormat",
        "markdown": "assay.rendering.text:MarkdownFormat",
        "csv": "assay.rendering.exports:CSVFormat",
        "tsv": "assay.rendering.exports:TSVFormat",
        "json": "assay.rendering.exports:JSONFormat",
        "jsonl": "assay.rendering.exports:JSONLinesFormat",
        "latex": "assay.rendering.latex:LaTeXFormat",
        "html": "assay.rendering.html:HTMLFormat",
        "xlsx": "assay.rendering.exports:ExcelFormat",
        "parquet": "assay.rendering.exports:ParquetFormat",
    },
    base=OutputFormat,
)
"""Formats by name, for `--format`; other packages offer theirs as classes."""


def render(result: Result, format: str | OutputFormat, *, digits: int = 2) -> str | bytes:
    """The result in one of the formats."""
    return FORMATS.parse(format).render(result, digits=digits)


def save(result: Result, path: FilePath, *, digits: int = 2) -> None:
    """Write the result to a file, in the format that its ending says."""
    write_whole(path, render(result, format_of(path), digits=digits))


def format_of(path: FilePath) -> OutputFormat:
    """The format that the ending of a file says; a name without an ending is text."""
    ending, known = suffix(path), endings()
    if ending and ending not in known:
        raise DataError(
            f"{path}: no format has the ending {ending}{did_you_mean(ending, known)}. "
            f"Known are {', '.join(known)}."
        )
    chosen = FORMATS.parse(known.get(ending, "text"))
    packing = Path(path).suffix.lower()
    if chosen.binary and packing in PACKED:
        raise DataError(f"{path}: {ending} files are compressed already; leave {packing} out.")
    return chosen


def endings() -> dict[str, str]:
    """The endings of files, and the name of the format that each stands for."""
    names = FORMATS.names()
    return {ending: name for name in names for ending in FORMATS.get(name).endings}
