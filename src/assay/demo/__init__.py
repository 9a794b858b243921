"""A small German-English test set of our own making, for demonstrations."""

from __future__ import annotations

from importlib.resources import as_file, files

from assay.data import Dataset
from assay.io import read_folder

__all__ = ["read_demo"]


def read_demo() -> Dataset:
    """The 120 segments with two references and three invented systems."""
    with as_file(files("assay") / "demo") as folder:
        return read_folder(folder, "de-en", references=["all"])
