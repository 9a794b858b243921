"""Arrays and texts as checked bytes, and the digests by which content is found again.

What is read may come from anybody: nothing in it is ever executed, and what is damaged is noticed.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.data import Dataset

__all__ = [
    "DamagedError",
    "dataset_digest",
    "lines_digest",
    "pack",
    "pack_lines",
    "unpack",
    "unpack_lines",
]

Arrays = Mapping[str, NDArray[Any]]

CHECKSUM = "sha256"
"""The array with the digest of all others."""


class DamagedError(ValueError):
    """Bytes that are not what was once written."""


def pack(arrays: Arrays) -> bytes:
    """Arrays as the bytes of a compressed .npz file, which `numpy.load` reads, with a checksum."""
    file = io.BytesIO()
    members: dict[str, Any] = {**arrays, CHECKSUM: np.frombuffer(_checksum(arrays), np.uint8)}
    np.savez_compressed(file, **members)
    return file.getvalue()


def unpack(data: bytes, *, most: int) -> dict[str, NDArray[Any]]:
    """The arrays of `pack`; a `DamagedError` where they are others, or larger than `most` bytes."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > most:
            raise DamagedError(f"{size} bytes are more than there can be")
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: np.asarray(file[name]) for name in file.files}
    except DamagedError:
        raise
    except Exception as error:  # NumPy and zipfile have many words for bytes that make no sense
        raise DamagedError(str(error) or type(error).__name__) from None
    checksum = arrays.pop(CHECKSUM, np.zeros(0, np.uint8))
    if checksum.tobytes() != _checksum(arrays):
        raise DamagedError("its checksum is another")
    return arrays


def _checksum(arrays: Arrays) -> bytes:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()


def pack_lines(lines: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Texts as arrays: the bytes of all of them, and how many each has."""
    encoded = [line.encode("utf-8", "surrogatepass") for line in lines]
    return {
        "text": np.frombuffer(b"".join(encoded), np.uint8),
        "lengths": np.array([len(line) for line in encoded], np.int64),
    }


def unpack_lines(arrays: Arrays) -> tuple[str, ...]:
    """The texts of `pack_lines`."""
    try:
        text, lengths = arrays["text"].tobytes(), arrays["lengths"]
        if lengths.dtype.kind != "i" or lengths.ndim != 1 or (lengths < 0).any():
            raise DamagedError("its lengths are none")
        if int(lengths.sum()) != len(text):
            raise DamagedError("its text is of another length")
        ends = np.cumsum(lengths).tolist()
        starts = [0, *ends][: len(ends)]
        return tuple(
            text[start:end].decode("utf-8", "surrogatepass")
            for start, end in zip(starts, ends, strict=True)
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError(f"no texts in it ({error})") from None


def lines_digest(lines: Sequence[str]) -> str:
    """The SHA-256 of texts in their order, in hexadecimal.

    >>> lines_digest(["a b", "c"]) == lines_digest(["a", "b c"])
    False
    """
    return _digest(pack_lines(lines))


def dataset_digest(dataset: Dataset) -> str:
    """The SHA-256 of what the systems of a test set are compared with: references and source."""
    references = [line for lines in dataset.references for line in lines]
    counts = np.array([len(lines) for lines in dataset.references], np.int64)
    sources = pack_lines(dataset.sources)
    return _digest(
        {"counts": counts, **pack_lines(references)}
        | {f"source {name}": array for name, array in sources.items()}
    )


def _digest(arrays: Arrays) -> str:
    return _checksum(arrays).hex()
