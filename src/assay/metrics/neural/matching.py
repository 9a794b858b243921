"""Every piece of a text beside the most similar piece of another (Zhang et al., 2020)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError
from assay.metrics.neural.encoders import Encoder, Pieces
from assay.statistics.arrays import Array

__all__ = [
    "EncodedText",
    "Matched",
    "PieceCosines",
    "Places",
    "Rarity",
    "Stretches",
    "best_and_worst",
    "match",
    "one_set",
    "pair_of",
    "rarity_of",
    "read_texts",
    "texts_of",
]


@dataclass(frozen=True)
class Rarity:
    """By piece, the logarithm of how seldom a text has it."""

    values: Mapping[int, float]
    unseen: float

    def weights(self, pieces: Pieces) -> Array:
        """One weight per piece; those that stand for no text weigh nothing."""
        values = [self.values.get(each, self.unseen) for each in pieces.ids]
        return np.where(pieces.special, 0.0, values)


def rarity_of(encoder: Encoder, texts: Mapping[str, int]) -> Rarity:
    """From texts and how often there is each."""
    counts: Counter[int] = Counter()
    for pieces, times in zip(encoder.pieces(list(texts)), texts.values(), strict=True):
        counts.update(dict.fromkeys(pieces.ids, times))
    total = sum(texts.values()) + 1
    return Rarity(
        {each: math.log(total / (count + 1)) for each, count in counts.items()}, math.log(total)
    )


def one_set(references: Sequence[tuple[str, ...]]) -> Counter[str]:
    """The texts of one reference set, where the segments of several systems have it each."""
    tuples = Counter(references)
    systems = math.gcd(*tuples.values())
    counts: Counter[str] = Counter()
    for texts, times in tuples.items():
        for text in texts:
            counts[text] += times // systems
    return counts


def read_texts(path: str) -> Counter[str]:
    """The lines of a file."""
    try:
        lines: Iterable[str] = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise DataError(
            f"idf={path}: the texts to count words in cannot be read ({reason}). "
            "Write idf=yes to count in the references, or name a file of texts."
        ) from None
    return Counter(lines)


Stretches: TypeAlias = Sequence[tuple[int, int]]
"""Letters of a text, from and to."""


class EncodedText(NamedTuple):
    """A text's pieces as vectors of length 1, where they stand, and how much each weighs."""

    vectors: NDArray[np.float32]
    weights: Array
    pieces: Pieces

    def within(self, stretches: Stretches) -> NDArray[np.bool_]:
        """The pieces that have letters of the stretches."""
        first, last = self.pieces.spans.T
        found = np.zeros(len(first), bool)
        for start, end in stretches:
            found |= (first < end) & (last > start)
        return found & ~self.pieces.special


class PieceCosines(NamedTuple):
    """The cosine of every piece of an output with every piece of another text."""

    cosines: Array
    output: EncodedText
    other: EncodedText


class Matched(NamedTuple):
    """How much of the output is in the other text, how much of that is in the output, and F1."""

    precision: float
    recall: float
    f1: float


class Places(NamedTuple):
    """Where one of several segments has something; one list of stretches per reference."""

    number: int
    hypothesis: Stretches
    references: Sequence[Stretches]


def texts_of(
    encoder: Encoder, lines: Sequence[str], rarity: Rarity | None
) -> dict[str, EncodedText]:
    """The texts encoded; without a rarity, all pieces but the special ones weigh the same."""
    texts = {}
    for line, pieces, states in zip(
        lines, encoder.pieces(lines), encoder.states(lines), strict=True
    ):
        weights = rarity.weights(pieces) if rarity else (~pieces.special).astype(float)
        vectors = states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-12)
        texts[line] = EncodedText(vectors, weights, pieces)
    return texts


def pair_of(output: EncodedText, other: EncodedText) -> PieceCosines:
    """Two texts, compared."""
    return PieceCosines((output.vectors @ other.vectors.T).astype(float), output, other)


def match(cosines: Array, output: EncodedText, other: EncodedText) -> Matched:
    """Precision, recall and F1 of the best matches.

    As in bert_score, they are 0 without text on either side, and where all of it weighs nothing.
    """
    if output.pieces.is_empty or other.pieces.is_empty:
        return Matched(0.0, 0.0, 0.0)
    precision = _weighed(cosines.max(axis=1), output.weights)
    recall = _weighed(cosines.max(axis=0), other.weights)
    total = precision + recall
    return Matched(precision, recall, 2 * precision * recall / total if total else 0.0)


def best_and_worst(
    cosines: Array, output: NDArray[np.bool_], other: NDArray[np.bool_]
) -> tuple[Array, Array]:
    """The cosines as if the marked pieces were all right, and as if all were wrong.

    Right, a marked piece of one side is equal to those of the other; wrong, it is like none
    (Karidi et al., 2023, appendix C).
    """
    best, worst = cosines.copy(), cosines.copy()
    best[np.ix_(output, other)] = 1.0
    worst[output, :] = 0.0
    worst[:, other] = 0.0
    return best, worst


def _weighed(values: Array, weights: Array) -> float:
    total = weights.sum()
    return float(values @ weights / total) if total > 0 else 0.0
