"""What a machine has besides this package: optional packages, memory, a folder for caches."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from assay.data import DataError

__all__ = [
    "VARIABLE",
    "cache_folder",
    "chosen_folder",
    "install_line",
    "is_installed",
    "lacks_memory",
    "missing",
    "require",
]

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
            if lacks_memory(error):
                raise
            is_absent = isinstance(error, ModuleNotFoundError) and error.name == module
            broken = "" if is_absent else f" ({error})"
            raise missing(extra, reason or f"{module} is not installed", broken) from None
    return loaded[0]


_NO_MEMORY = (
    "out of memory",  # torch on a card; on a processor the next three, as a plain RuntimeError
    "not enough memory",
    "can't allocate memory",
    "cannot allocate memory",  # also the system, where a library is loaded
    "failed to map segment",
    "can't start new thread",  # every thread needs room for its stack
    "error return without exception set",  # a module in C that failed to allocate
)


def lacks_memory(error: BaseException) -> bool:
    """Whether an error says that there is too little memory, in whoever's words.

    >>> lacks_memory(ImportError("libm.so: failed to map segment from shared object"))
    True
    >>> lacks_memory(ImportError("no module named libm"))
    False
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    if not isinstance(error, ImportError | OSError | RuntimeError | SystemError):
        return False
    said = str(error).lower()
    return any(saying in said for saying in _NO_MEMORY)


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


VARIABLE = "ASSAY_CACHE"
"""The environment variable that names the folder."""


def cache_folder(
    part: str = "", environment: Mapping[str, str] | None = None, platform: str = sys.platform
) -> Path:
    """The folder `$ASSAY_CACHE`, or else the user's folder for caches; `part` is a folder in it.

    >>> str(cache_folder("vectors", {"ASSAY_CACHE": "/tmp/kept"}))
    '/tmp/kept/vectors'
    >>> str(cache_folder("vectors", {"HOME": "/home/ada"}, "linux"))
    '/home/ada/.cache/assay/vectors'
    """
    given = os.environ if environment is None else environment
    return (chosen_folder(given) or _usual_folder(given, platform)) / part


def chosen_folder(environment: Mapping[str, str] | None = None) -> Path | None:
    """The folder that the user chose with `ASSAY_CACHE`, or None."""
    given = os.environ if environment is None else environment
    return Path(chosen) if (chosen := given.get(VARIABLE)) else None


def _usual_folder(environment: Mapping[str, str], platform: str) -> Path:
    """The place that the operating system's convention has for caches."""
    if platform == "win32" and (local := environment.get("LOCALAPPDATA")):
        return Path(local) / "assay" / "cache"
    if platform == "darwin":
        return _home(environment) / "Library" / "Caches" / "assay"
    shared = Path(environment.get("XDG_CACHE_HOME", ""))
    # The standard says to ignore a relative path.
    return (shared if shared.is_absolute() else _home(environment) / ".cache") / "assay"


def _home(environment: Mapping[str, str]) -> Path:
    try:
        return Path(environment.get("HOME") or Path.home())
    except RuntimeError:
        raise DataError(f"your home folder is not known: set {VARIABLE} to a folder.") from None
