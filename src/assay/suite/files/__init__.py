"""Suites and outputs in files: items.json, TSV and JSON Lines."""

from assay.suite.files.formats import read_suite, write_suite

__all__ = ["read_suite", "write_suite"]
