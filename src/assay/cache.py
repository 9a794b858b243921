"""Where results of slow work are kept between runs: one place, one variable."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from assay.data import DataError

__all__ = ["VARIABLE", "cache_folder", "chosen_folder"]

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
