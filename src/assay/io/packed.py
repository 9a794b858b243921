"""Packed files (.gz and .xz), unpacked as a stream that may not grow beyond a limit."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Protocol

from assay.data import DataError

__all__ = ["ALWAYS", "EXPANSION", "PACKED", "VARIABLE", "Expansion", "pack", "packing", "unpack"]

PACKED = (".gz", ".xz")
"""The endings of packed files."""

EXPANSION = 100
"""How many times as large as its packed form a file may become; ordinary text is 3 to 10 times."""

ALWAYS = 64 * 2**20
"""Bytes that a packed file may have in any case, however small it was."""

VARIABLE = "ASSAY_EXPANSION"
"""The environment variable that sets another expansion."""

_PIECE = 2**20


class Readable(Protocol):
    """What can be read from."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most so many."""


class Expansion:
    """A limit of what one file is unpacked to, for whoever unpacks something.

    >>> Expansion("small.gz").check(packed=1000, unpacked=100_000)
    """

    def __init__(self, name: object, environment: Mapping[str, str] | None = None) -> None:
        self._name = name
        self._times = _times(os.environ if environment is None else environment)

    def check(self, *, packed: int, unpacked: int) -> None:
        """Raise a `DataError` where so many packed bytes have become too many."""
        if unpacked <= ALWAYS + self._times * packed:
            return
        raise DataError(
            f"{self._name} becomes more than {self._times:,} times as large when it is unpacked. "
            "If you trust it, unpack it yourself, or allow more: "
            f"{VARIABLE}={self._times * 10}"
        )


def packing(path: Path | str) -> str:
    """The ending that says how a file is packed, or nothing."""
    ending = "" if str(path) == "-" else Path(path).suffix.lower()
    return ending if ending in PACKED else ""


def unpack(path: Path | str, file: Readable) -> bytes:
    """What a packed file holds; damaged and overlarge ones are a `DataError` that names it.

    No more than the limit is ever held in memory, beside one piece of the packed file.
    """
    counted, limit = _Counted(file), Expansion(path)
    unpacked = io.BytesIO()
    try:
        with _OPENERS[packing(path)](counted) as stream:
            while piece := stream.read(_PIECE):
                unpacked.write(piece)
                limit.check(packed=counted.bytes, unpacked=unpacked.tell())
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise DataError(
            f"{path}: damaged or not {Path(path).suffix[1:]} data ({error}). "
            "Copy it again, or rename it if it is not compressed."
        ) from None
    return unpacked.getvalue()


def pack(path: Path | str, data: bytes) -> bytes:
    """The data packed as the file's name says, always to the same bytes."""
    match packing(path):
        case ".gz":
            return gzip.compress(data, mtime=0)
        case ".xz":
            return lzma.compress(data)
    return data


class _Counted(io.RawIOBase):
    """A file that counts the bytes that were read of it."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        self.bytes = 0

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read(size)
        self.bytes += len(data)
        return data

    def readable(self) -> bool:
        return True


def _gz(file: _Counted) -> IO[bytes]:
    return gzip.GzipFile(fileobj=file, mode="rb")  # type: ignore[return-value]


def _xz(file: _Counted) -> IO[bytes]:
    return lzma.LZMAFile(file)  # type: ignore[arg-type]


_OPENERS: dict[str, Callable[[_Counted], IO[bytes]]] = {".gz": _gz, ".xz": _xz}


def _times(environment: Mapping[str, str]) -> int:
    text = environment.get(VARIABLE, "").strip() or str(EXPANSION)
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:20]) <= 10**9:
        raise DataError(
            f"{VARIABLE}={text[:40]}: give a whole number from 1 to 1000000000; the limit is so "
            f"many times the packed size (default: {EXPANSION})."
        )
    return int(text)
