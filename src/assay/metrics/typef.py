"""MacroF and MicroF (Gowda et al., 2021): translation as classification into word types."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay import kernel
from assay.data import Array, DataError, Segment, divide
from assay.metrics.base import LONGEST_NGRAM, Metric, NamedRows, Rows
from assay.registry import setting
from assay.text import check_tokenizer, prepare

__all__ = ["MacroF", "MicroF", "TypeCounts", "TypeF"]


class TypeCounts(NamedTuple):
    """Per-type counts of every segment, and the names of the types in alphabetical order."""

    rows: Rows
    types: list[str]


class Terms(NamedTuple):
    """What each type adds above and below the fraction bar."""

    numerator: Array
    denominator: Array


@dataclass(frozen=True)
class TypeF(Metric):
    """A weighted mean of the F score of every type, 0-100.

    A type is a word, or an n-gram of words or characters from `min_order` to `max_order`. Of
    several references, the largest count of a type in a segment stands.

    Rows are sparse with three columns per type: predicted, wanted, matched. All three are stored
    wherever one is not zero, so `data.reshape(-1, 3)` has an entry per type in each segment.
    """

    # A resample repeats some segments and loses the rare types of others, so replicates are
    # off-centre, and their spread is too small. What a segment adds to the score is known from
    # leaving it out, so the jackknife holds where the bootstrap does not (docs/significance.md).
    interval_method = "jackknife"

    lowercase: bool = setting(False, key="case", values={"yes": "lc", "no": "mixed"})
    tokenize: str = setting("13a", short="tok", key="tok")
    unit: Literal["word", "char"] = setting("word")
    min_order: int = setting(1)
    max_order: int = setting(1, key="ngram")
    beta: float = setting(1)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_tokenizer(self.tokenize)
        if not 1 <= self.min_order <= self.max_order <= LONGEST_NGRAM:
            raise DataError(
                f"{self.name}: 1 <= min_order <= max_order <= {LONGEST_NGRAM} must hold."
            )
        if self.beta <= 0:
            raise DataError(f"{self.name}:beta is a number above 0.")

    @property
    def mask_policy(self) -> Literal["word", "length", "type"]:
        """Types count, of words or of characters."""
        return "type" if self.unit == "word" else "length"

    @property
    @abstractmethod
    def frequency_weight(self) -> tuple[bool, float]:
        """Whether a type weighs by how often it is wanted plus k, or else 1; and k."""

    def count(self, segments: Sequence[Segment]) -> TypeCounts:
        """The rows together with the types that their columns stand for."""
        from scipy.sparse import csr_array

        ready = prepare(segments, self.tokenize, lowercase=self.lowercase)
        starts, columns, counts, names = kernel.type_counts(
            *ready, self.unit == "char", self.min_order, self.max_order
        )
        shape = (len(segments), 3 * len(names))
        return TypeCounts(csr_array((counts, columns, starts), shape=shape), names)

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """Predicted, wanted and matched occurrences of every type, (n, 3 V), sparse."""
        return self.count(segments).rows

    def named_rows(self, segments: Sequence[Segment]) -> NamedRows:
        """The rows, with the types: three columns each."""
        return NamedRows(*self.count(segments))

    def f_scores(self, counts: Array) -> Array:
        """The F score of each type from its (..., 3) counts; 0 outside the intersection."""
        predicted, wanted, matched = np.moveaxis(counts, -1, 0)
        factor = self.beta**2
        return divide((1 + factor) * matched, factor * wanted + predicted)

    def terms(self, counts: Array) -> Terms:
        """What each type adds, from its (..., 3) counts; a type that is not there adds nothing."""
        there = (counts[..., 0] > 0) | (counts[..., 1] > 0)
        by_frequency, k = self.frequency_weight
        weights = np.where(there, counts[..., 1] + k if by_frequency else 1.0, 0.0)
        return Terms(weights * self.f_scores(counts), weights)

    def aggregate(self, sums: Array) -> Array:
        """The weighted mean of F over types, in percent."""
        terms = self.terms(sums.reshape(len(sums), sums.shape[1] // 3, 3))
        return 100 * divide(terms.numerator.sum(axis=1), terms.denominator.sum(axis=1))

    def weighted(self, weights: Any, rows: Rows) -> Array:
        """Sums and means in one go, on all cores; nothing of the width of all types is kept."""
        if not isinstance(weights, np.ndarray):
            return super().weighted(weights, rows)
        return 100 * kernel.type_scores(
            np.ascontiguousarray(weights, float),
            *_stored(rows),
            rows.shape[1],
            float(self.beta**2),
            *self.frequency_weight,
        )

    def swapped(
        self, rows: Sequence[Rows], pairs: Sequence[tuple[int, int]], keep: Array
    ) -> Iterator[Array]:
        """All pairs in one go, on all cores, looking only at what two systems do not share."""
        from scipy.sparse import vstack

        together = vstack(rows, format="csr")
        yield from 100 * kernel.type_swaps(
            np.ascontiguousarray(keep, bool),
            np.array(pairs, np.int64).reshape(-1, 2),
            *_stored(together),
            together.shape[1],
            float(self.beta**2),
            *self.frequency_weight,
        )

    def contributions(self, rows: Rows, others: Rows) -> Array:
        """As for every metric, type by type: only the types in which a segment differs change."""
        count = rows.shape[1] // 3
        sides = [
            _segment_of_each_entry(part) * count + part.indices[::3] // 3 for part in (rows, others)
        ]
        keys, places = np.unique(np.concatenate(sides), return_inverse=True)
        change = np.zeros((len(keys), 3))
        change[places[: len(sides[0])]] += rows.data.reshape(-1, 3) / 2
        change[places[len(sides[0]) :]] -= others.data.reshape(-1, 3) / 2
        middle = np.asarray(rows.sum(axis=0) + others.sum(axis=0), float).reshape(-1, 3) / 2
        whole = self.terms(middle)
        total, weight = whole.numerator.sum(), whole.denominator.sum()
        own = middle[keys % count]
        up, down = self.terms(own + change), self.terms(own - change)
        moved = up.numerator - down.numerator
        moved -= divide(total, weight) * (up.denominator - down.denominator)
        return 100 * divide(_sum_by(keys // count, moved, rows.shape[0]), weight)

    def each(self, rows: Rows) -> Array:
        """Looks only at the types that a segment has."""
        terms = self.terms(rows.data.reshape(-1, 3).astype(float))
        segments = _segment_of_each_entry(rows)
        return 100 * divide(*(_sum_by(segments, part, rows.shape[0]) for part in terms))

    def without_each(self, rows: Rows) -> Array:
        """Only the types of the segment that is left out change: the price of one scoring."""
        totals = np.asarray(rows.sum(axis=0), float).reshape(-1, 3)
        types = rows.indices[::3] // 3
        before, after = self.terms(totals), self.terms(totals[types] - rows.data.reshape(-1, 3))
        segments = _segment_of_each_entry(rows)
        # Differences of sums are not exact: they must not fall below 0 where nothing is left ...
        parts = (
            np.maximum(0, whole.sum() + _sum_by(segments, less - whole[types], rows.shape[0]))
            for whole, less in zip(before, after, strict=True)
        )
        # ... and where no type is left, only their rounding would be divided.
        gone = (after.denominator == 0) & (before.denominator[types] > 0)
        left = np.count_nonzero(before.denominator) - _sum_by(segments, gone, rows.shape[0])
        return np.where(left > 0, 100 * divide(*parts), 0.0)


@dataclass(frozen=True)
class MacroF(TypeF):
    """Every type counts alike: rare words matter as much as frequent ones."""

    name: ClassVar[str] = "macrof"

    @property
    def title(self) -> str:
        """MacroF1, MacroF2 ..."""
        return f"MacroF{self.beta:g}"

    @property
    def frequency_weight(self) -> tuple[bool, float]:
        """One each."""
        return False, 0.0


@dataclass(frozen=True)
class MicroF(TypeF):
    """Types count by their frequency in the reference plus k."""

    name: ClassVar[str] = "microf"

    k: float = setting(1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k < 0:
            raise DataError("microf:k cannot be negative.")

    @property
    def title(self) -> str:
        """MicroF1, MicroF2 ..."""
        return f"MicroF{self.beta:g}"

    @property
    def frequency_weight(self) -> tuple[bool, float]:
        """REFS(c) + k."""
        return True, float(self.k)


def _stored(rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Row starts, columns and counts, as the kernel takes them."""
    return (
        rows.indptr.astype(np.int64),
        rows.indices.astype(np.int32),
        rows.data.astype(np.int32),
    )


def _segment_of_each_entry(rows: Rows) -> NDArray[np.intp]:
    return np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr) // 3)


def _sum_by(segments: NDArray[np.intp], values: Array, count: int) -> Array:
    return np.bincount(segments, values, minlength=count).astype(float)
