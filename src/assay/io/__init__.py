"""Reading and writing files: `read` finds out what it is given."""

from assay.data import language_pair
from assay.io.datasets import (
    READERS,
    TESTSET,
    DatasetReader,
    is_table,
    read,
    read_dataset,
    read_documents,
    read_groups,
    read_labels,
    read_testset,
    read_texts,
)
from assay.io.files import (
    FilePath,
    digest,
    read_lines,
    system_name,
    write_lines,
    write_whole,
)
from assay.io.folders import (
    folder_files,
    folder_names,
    read_folder,
    read_folder_scores,
    write_folder,
)
from assay.io.records import read_records, write_jsonl, write_tsv
from assay.io.scores import read_scores, write_scores
from assay.io.wmt import SgmTexts, read_sgm, read_wmt_xml

__all__ = [
    "READERS",
    "TESTSET",
    "DatasetReader",
    "FilePath",
    "SgmTexts",
    "digest",
    "folder_files",
    "folder_names",
    "is_table",
    "language_pair",
    "read",
    "read_dataset",
    "read_documents",
    "read_folder",
    "read_folder_scores",
    "read_groups",
    "read_labels",
    "read_lines",
    "read_records",
    "read_scores",
    "read_sgm",
    "read_testset",
    "read_texts",
    "read_wmt_xml",
    "system_name",
    "write_folder",
    "write_jsonl",
    "write_lines",
    "write_scores",
    "write_tsv",
    "write_whole",
]
