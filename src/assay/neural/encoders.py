"""Encoders by name: what turns texts into vectors, and what says which model that was."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError
from assay.neural.kept import Kept, KeptOnDisk
from assay.tracking import Track, untracked

__all__ = [
    "Encoder",
    "Identity",
    "Pieces",
    "Precision",
    "States",
    "encoder_named",
    "tracked",
]

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


class _Tracking:
    """Who is shown how far encoding is; the same for all threads."""

    track: Track = staticmethod(untracked)


@contextmanager
def tracked(track: Track) -> Iterator[None]:
    """Within it, encoding shows how far it is; a step is a text.

    The command line passes `partial(assay.cli.progress.track, label="Encoding")`.
    """
    before, _Tracking.track = _Tracking.track, staticmethod(track)
    try:
        yield
    finally:
        _Tracking.track = before


class Encoder(ABC):
    """Vectors of texts. Every distinct text is encoded once, and kept as long as there is room."""

    layer: int | None = None
    """The layer whose states it gives, where there are layers."""

    _lock = threading.RLock()
    """One for all: an encoder uses all cores by itself."""

    def __init__(self, folder: str | None = None) -> None:
        self._kept = Kept()
        self._cut: dict[str, Pieces] = {}
        self._on_disk = KeptOnDisk(folder, f"{self.identity} {self.variant}") if folder else None

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
            found = self._kept.read(kind, dict.fromkeys(texts))
            missing = [text for text in dict.fromkeys(texts) if text not in found]
            if missing and self._on_disk:
                read = self._on_disk.read(kind, missing)
                self._kept.write(kind, read)
                found |= read
                missing = [text for text in missing if text not in found]
            steps = self._made(kind, missing, encode)
            found |= dict(_Tracking.track(steps, total=len(missing)) if missing else ())
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
                self._kept.write(kind, made)
                if self._on_disk:
                    self._on_disk.write(kind, made)


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

    With `ASSAY_EMBEDDINGS=folder` in the environment, vectors are kept in that folder.
    """
    folder = os.environ.get("ASSAY_EMBEDDINGS") or None
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
        from assay.neural.use import USEncoder

        return USEncoder(folder=folder, layer=layer)
    from assay.neural.transformer import TransformerEncoder

    return TransformerEncoder.named(
        name, layer=layer, device=device, precision=precision, batch=batch, folder=folder
    )
