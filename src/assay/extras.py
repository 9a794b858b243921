"""Optional packages: imported where they are needed, with the line that installs them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from assay.data import DataError

__all__ = ["install_line", "is_installed", "missing", "require"]

_ELSEWHERE = {
    "comet": "unbabel-comet",
    "ja": "'sacrebleu[ja]'",
    "ko": "'sacrebleu[ko]'",
    "spm": "sentencepiece",
}
"""What is no extra of this package: COMET pins other versions, sacreBLEU has extras of its own."""


def require(extra: str, *modules: str, reason: str = "") -> Any:
    """Import these modules and return the first; a `DataError` says how to install them.

    `reason` begins the message: "tagging needs spaCy".

    >>> require("neural", "math").floor(2.5)
    2
    >>> require("ir", "bm26s")
    Traceback (most recent call last):
    assay.data.DataError: bm26s is not installed: pip install 'assay-mt[ir]'
    """
    loaded = []
    for module in modules:
        try:
            loaded.append(import_module(module))
        except ImportError as error:
            is_absent = isinstance(error, ModuleNotFoundError) and error.name == module
            broken = "" if is_absent else f" ({error})"
            raise missing(extra, reason or f"{module} is not installed", broken) from None
    return loaded[0]


def missing(extra: str, reason: str, detail: str = "") -> DataError:
    """The error of a package that is not there: the reason, and the line that installs it."""
    return DataError(f"{reason}: {install_line(extra)}{detail}")


def install_line(extra: str, *options: str) -> str:
    """The command that installs an extra, with these options of pip's.

    >>> install_line("neural")
    "pip install 'assay-mt[neural]'"
    """
    package = _ELSEWHERE.get(extra, f"'assay-mt[{extra}]'")
    return " ".join(("pip install", *options, package))


def is_installed(*modules: str) -> bool:
    """Whether all of these modules can be found; nothing is imported."""
    try:
        return all(find_spec(module) is not None for module in modules)
    except (ImportError, ValueError):
        return False
