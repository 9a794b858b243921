"""How rare the pieces of texts are: inverse document frequencies, as bert_score counts them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.data import DataError
from assay.metrics.base import Array
from assay.neural.encoders import Encoder, Pieces

__all__ = ["Rarity", "one_set", "rarity_of", "read_texts"]


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
