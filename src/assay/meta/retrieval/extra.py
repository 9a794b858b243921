"""The packages of the extra `ir`, loaded when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from assay.data import DataError

__all__ = ["load"]


def load(name: str) -> Any:
    """The package of that name; a `DataError` says how to install it where it is missing."""
    try:
        return import_module(name)
    except ImportError as error:
        raise DataError(f"retrieval needs: pip install 'assay-mt[ir]' ({error})") from None
