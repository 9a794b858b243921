"""File formats that hold a whole dataset, by the ending of their names; open to plug-ins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from assay.data import Dataset
from assay.io.columns import ColumnChoice
from assay.io.files import FilePath, suffix
from assay.io.records import read_records
from assay.io.wmt import read_wmt_xml
from assay.registry import Registry

__all__ = ["READERS", "DatasetReader", "is_table", "reader_of"]


class DatasetReader(ABC):
    """Reads the files of one format.

    Its `name` is the ending of the files without the dot: files `a.xliff` (and `a.xliff.gz`, whose
    bytes `assay.io.files.read_bytes` unpacks) go to the reader called `xliff`. A package offers its
    own under the entry point group `assay.readers`.
    """

    name: ClassVar[str]

    @abstractmethod
    def read(self, path: FilePath, columns: Mapping[str, ColumnChoice] | None = None) -> Dataset:
        """The dataset of a file; `columns` says what its columns hold, where it has any."""


class RecordsReader(DatasetReader):
    """Tables with a column for each part: TSV, CSV, JSON Lines, Parquet."""

    name = "tsv"

    def read(self, path: FilePath, columns: Mapping[str, ColumnChoice] | None = None) -> Dataset:
        """As `read_records`."""
        return read_records(path, columns)


class XmlReader(DatasetReader):
    """WMT's XML."""

    name = "xml"

    def read(self, path: FilePath, columns: Mapping[str, ColumnChoice] | None = None) -> Dataset:
        """As `read_wmt_xml`; there are no columns."""
        return read_wmt_xml(path)


READERS: Registry[DatasetReader] = Registry(
    "file format",
    "assay.readers",
    {
        **dict.fromkeys(("tsv", "csv", "jsonl", "parquet"), "assay.io.readers:RecordsReader"),
        "xml": "assay.io.readers:XmlReader",
    },
    base=DatasetReader,
)
"""Readers by the ending of files."""

_TEXTS = ("", ".txt", ".sgm", ".sgml")
"""Endings of files with one text per segment, for which nobody needs to look up plug-ins."""


def is_table(path: FilePath) -> bool:
    """Whether a file's ending says that it can hold a whole dataset."""
    ending = suffix(path)
    return ending not in _TEXTS and ending[1:] in READERS and not Path(path).is_dir()


def reader_of(path: FilePath) -> DatasetReader:
    """The reader of a file for which `is_table` holds."""
    return READERS.parse(suffix(path)[1:])
