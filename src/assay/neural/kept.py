"""Vectors that were made before: the latest in memory, and all of them in a folder on request."""

from __future__ import annotations

import hashlib
import json
import os
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError

__all__ = ["Kept", "KeptOnDisk"]

ROOM = 2**29
"""Bytes of vectors that one encoder keeps in memory: about 10,000 sentences of MiniLM's states."""


class Kept:
    """The vectors that were asked for last, up to `room` bytes."""

    def __init__(self, room: int = ROOM) -> None:
        self.room = room
        self.size = 0
        self._values: OrderedDict[tuple[str, str], NDArray[np.float32]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def read(self, kind: str, texts: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """Those that are there, by text."""
        found = {}
        for text in texts:
            if (kind, text) in self._values:
                self._values.move_to_end((kind, text))
                found[text] = self._values[kind, text]
        return found

    def write(self, kind: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Keep these; where there is no room, those that were not asked for longest go."""
        for text, values in vectors.items():
            self._drop((kind, text))
            self._values[kind, text] = values
            self.size += values.nbytes
        while self.size > self.room:
            self._drop(next(iter(self._values)))

    def _drop(self, key: tuple[str, str]) -> None:
        if key in self._values:
            self.size -= self._values.pop(key).nbytes


class _Place(NamedTuple):
    """Rows of a file."""

    path: Path
    start: int
    end: int


class KeptOnDisk:
    """Vectors of one encoder in a folder: arrays without pickles, each with an index beside it.

    An index names texts by their SHA-256 and says how many rows each has in the array of the same
    name. Several processes may write at once, each its own files; a damaged file counts as absent.
    """

    def __init__(self, folder: Path | str, identity: str) -> None:
        # The texts of one encoder are no use to another.
        digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
        self.folder = Path(folder) / digest
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / "encoder.txt").write_text(identity + "\n", "utf-8")
        except OSError as error:
            raise DataError(
                f"{folder}: vectors cannot be kept there ({error.strerror}). "
                "Set ASSAY_EMBEDDINGS to a folder where you may write, or to nothing."
            ) from None
        self._indexed: set[Path] = set()
        self._places: dict[str, _Place] = {}

    def read(self, kind: str, texts: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """Those that are there, by text."""
        self._look()
        arrays: dict[Path, NDArray[np.float32] | None] = {}
        found = {}
        for text in texts:
            place = self._places.get(_key(kind, text))
            if place is None:
                continue
            if place.path not in arrays:
                arrays[place.path] = _array(place.path)
            array = arrays[place.path]
            if array is not None and place.end <= len(array):
                rows = np.array(array[place.start : place.end], np.float32)
                found[text] = rows[0] if kind == "vectors" else rows
        return found

    def write(self, kind: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Keep these in a file of their own: the array first, so that no index is without one."""
        if not vectors:
            return
        path = self.folder / f"{kind}-{uuid4().hex}.npy"
        blocks = [np.atleast_2d(values) for values in vectors.values()]
        lengths = [len(block) for block in blocks]
        index = {"keys": [_key(kind, text) for text in vectors], "rows": lengths}
        try:
            np.save(path, np.concatenate(blocks), allow_pickle=False)
            draft = path.with_suffix(".draft")
            draft.write_text(json.dumps(index), "utf-8")
            os.replace(draft, path.with_suffix(".json"))  # noqa: PTH105  (one step, also there)
        except OSError as error:
            raise DataError(
                f"{path}: vectors cannot be kept ({error.strerror}). "
                "Make room, or set ASSAY_EMBEDDINGS to another folder or to nothing."
            ) from None

    def _look(self) -> None:
        """Read the indices that have come since."""
        for path in sorted(set(self.folder.glob("*.json")) - self._indexed):
            self._indexed.add(path)
            with suppress(OSError, ValueError, KeyError, TypeError):
                self._places.update(_places(path, json.loads(path.read_text("utf-8"))))


def _places(path: Path, index: Any) -> Iterator[tuple[str, _Place]]:
    start = 0
    for key, rows in zip(index["keys"], index["rows"], strict=True):
        yield key, _Place(path.with_suffix(".npy"), start, start := start + rows)


def _array(path: Path) -> NDArray[np.float32] | None:
    with suppress(OSError, EOFError, ValueError):
        array: NDArray[np.float32] = np.load(path, mmap_mode="r", allow_pickle=False)
        return array if array.ndim == 2 else None
    return None


def _key(kind: str, text: str) -> str:
    return hashlib.sha256(f"{kind}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()
