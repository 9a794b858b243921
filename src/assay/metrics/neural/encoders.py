"""Encoders by name: what turns texts into vectors, and a cache of vectors made before."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError
from assay.extras import cache_folder, chosen_folder
from assay.progress import current_track

__all__ = [
    "DiskCache",
    "Encoder",
    "Identity",
    "MemoryCache",
    "Pieces",
    "Precision",
    "States",
    "encoder_named",
    "encoding_anew",
]

ROOM = 2**29
"""Bytes of vectors that one encoder keeps in memory: about 10,000 sentences of MiniLM's states."""


class MemoryCache:
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


class DiskCache:
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
                "Set ASSAY_CACHE to a folder where you may write, or to nothing."
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
                "Make room, or set ASSAY_CACHE to another folder or to nothing."
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


States: TypeAlias = NDArray[np.float32]
"""(pieces, width): one vector per piece of a text. Sentence vectors are (texts, width)."""

Precision = Literal["float32", "float16", "bfloat16"]

BLOCK = 2048
"""Texts that are encoded between two visits to what is kept: what a crash can lose."""


CUT = 50_000
"""Texts whose pieces are kept in memory, about a kilobyte each."""


class Identity(NamedTuple):
    """Which model it is: its name, the version or commit, and the SHA-256 of its weights."""

    name: str
    revision: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.name}@{self.revision or 'local'}#{self.sha256[:12]}"


class Pieces(NamedTuple):
    """How a tokenizer cuts one text.

    `special` marks pieces that stand for no text (the beginning, the end); `spans` says from which
    letter to which letter of the text each piece goes, (n, 2).
    """

    ids: tuple[int, ...]
    special: NDArray[np.bool_]
    spans: NDArray[np.intp]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing but special pieces."""
        return bool(self.special.all())


class Encoder(ABC):
    """Vectors of texts. Every distinct text is encoded once, and kept as long as there is room."""

    layer: int | None = None
    """The layer whose states it gives, where there are layers."""

    _lock = threading.RLock()
    """One for all: an encoder uses all cores by itself."""

    _start: ClassVar[int] = 0
    """How often vectors have been forgotten, by all encoders."""

    _anew: ClassVar[int] = 0
    """How many times `encoding_anew` has been entered and not left."""

    def __init__(self, folder: str | None = None) -> None:
        self._memory = MemoryCache()
        self._started = Encoder._start
        self._cut: dict[str, Pieces] = {}
        self._disk = DiskCache(folder, f"{self.identity} {self.variant}") if folder else None

    @property
    @abstractmethod
    def identity(self) -> Identity:
        """The model, for signatures."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many numbers a vector has."""

    @property
    def variant(self) -> str:
        """Besides the model, what decides the numbers: the layer, the precision."""
        return ""

    @abstractmethod
    def cut(self, texts: Sequence[str]) -> list[Pieces]:
        """The pieces of every text, made anew."""

    @abstractmethod
    def encode_states(self, texts: Sequence[str]) -> Iterator[tuple[str, States]]:
        """The vectors of the pieces of every text, in any order."""

    @abstractmethod
    def encode_vectors(self, texts: Sequence[str]) -> Iterator[tuple[str, States]]:
        """The vector of every text, (width,), in any order."""

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """How the tokenizer cuts each text."""
        with self._lock:
            missing = [text for text in dict.fromkeys(texts) if text not in self._cut]
            made = dict(zip(missing, self.cut(missing), strict=True))
            found = {text: made.get(text) or self._cut[text] for text in texts}
            self._cut = dict(list((self._cut | made).items())[-CUT:]) if made else self._cut
        return [found[text] for text in texts]

    def states(self, texts: Sequence[str]) -> list[States]:
        """The vectors of every text's pieces, special ones too, in order."""
        return self._all("states", texts, self.encode_states)

    def vectors(self, texts: Sequence[str]) -> States:
        """One vector per text, (texts, width)."""
        found = self._all("vectors", texts, self.encode_vectors)
        return np.array(found, np.float32).reshape(len(texts), -1 if texts else self.width)

    def _all(
        self,
        kind: Literal["states", "vectors"],
        texts: Sequence[str],
        encode: Callable[[Sequence[str]], Iterator[tuple[str, States]]],
    ) -> list[States]:
        with self._lock:
            if self._started != Encoder._start:
                self._memory, self._started = MemoryCache(self._memory.room), Encoder._start
            found = self._memory.read(kind, dict.fromkeys(texts))
            missing = [text for text in dict.fromkeys(texts) if text not in found]
            if missing and (disk := self._kept):
                read = disk.read(kind, missing)
                self._memory.write(kind, read)
                found |= read
                missing = [text for text in missing if text not in found]
            steps = self._made(kind, missing, encode)
            found |= dict(current_track()(steps, total=len(missing)) if missing else ())
        return [found[text] for text in texts]

    def _made(
        self,
        kind: Literal["states", "vectors"],
        texts: Sequence[str],
        encode: Callable[[Sequence[str]], Iterator[tuple[str, States]]],
    ) -> Iterator[tuple[str, States]]:
        """Encode, and keep what has been encoded also where the rest fails."""
        # Texts of about the same length together: none waits for a longer one to be worked off.
        ordered = sorted(texts, key=len, reverse=True)
        for at in range(0, len(ordered), BLOCK):
            made: dict[str, States] = {}
            try:
                for text, values in encode(ordered[at : at + BLOCK]):
                    made[text] = values
                    yield text, values
            finally:
                self._memory.write(kind, made)
                if disk := self._kept:
                    disk.write(kind, made)

    @property
    def _kept(self) -> DiskCache | None:
        """The vectors on disk, unless vectors are to be made anew."""
        return None if Encoder._anew else self._disk


@contextmanager
def encoding_anew() -> Iterator[None]:
    """Within it, no vectors from before are used, and no other thread encodes.

    A vector depends on the texts that are encoded together with it, in the seventh digit. So
    scores that are computed within it depend on their own texts alone. Its vectors are forgotten
    as well, in memory and on disk, so that what comes after it does not depend on where it was
    done.
    """
    with Encoder._lock:
        Encoder._start += 1
        Encoder._anew += 1
        try:
            yield
        finally:
            Encoder._start += 1
            Encoder._anew -= 1


def encoder_named(
    name: str,
    *,
    layer: int | None = None,
    device: str | None = None,
    precision: Precision | None = None,
    batch: int | None = None,
) -> Encoder:
    """The encoder of a name: `minilm`, `use`, a Hugging Face name or a folder.

    Nothing is ever fetched: a model that is not there is a `DataError` with the command that
    fetches it. `layer` is counted from 1, the last one by default; `device` is a name of torch's,
    a graphics card by default where there is one; `precision` is float32 by default. `batch` is
    how many texts are encoded at once; where they do not fit into memory, it is halved.

    With `ASSAY_CACHE=folder` in the environment, vectors are kept there, in `vectors/`; without
    it they are not, since they take much room.
    """
    folder = str(cache_folder("vectors")) if chosen_folder() else None
    return _encoder_named(name, layer, device, precision, batch, folder)


@lru_cache(maxsize=4)
def _encoder_named(
    name: str,
    layer: int | None,
    device: str | None,
    precision: Precision | None,
    batch: int | None,
    folder: str | None,
) -> Encoder:
    if batch is not None and batch < 1:
        raise DataError(f"batch={batch}: at least one text is encoded at a time.")
    if name == "use":
        from assay.metrics.neural.embed import USEncoder

        return USEncoder(folder=folder, layer=layer)
    from assay.metrics.neural.transformer import TransformerEncoder

    return TransformerEncoder.named(
        name, layer=layer, device=device, precision=precision, batch=batch, folder=folder
    )
