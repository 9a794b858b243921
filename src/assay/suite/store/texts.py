"""Texts and numbers on their way into the database."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from assay.data import DataError

__all__ = ["batches", "check_text", "digest"]

T = TypeVar("T")


def check_text(text: str, what: str) -> None:
    """Raise a `DataError` for what no database can hold: U+0000 and halves of characters."""
    if "\0" in text:
        raise DataError(f"{what} has a character U+0000, which cannot be stored; take it out.")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            code = ord(text[error.start])
            raise DataError(f"{what} has U+{code:04X}, which is half a character.") from None


def digest(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def batches(values: Iterable[T], size: int = 5000) -> Iterator[list[T]]:
    """The values in lists that fit into one question to a database.

    >>> list(batches([1, 2, 3], 2))
    [[1, 2], [3]]
    """
    rest = iter(values)
    while batch := list(islice(rest, size)):
        yield batch
