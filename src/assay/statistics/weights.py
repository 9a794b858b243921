"""Weights of segments: bootstrap resamples, random swaps, membership of groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Drawn",
    "Groups",
    "Resamples",
    "Swaps",
    "groups",
    "membership",
    "resample_pieces",
    "resamples",
    "swap_pieces",
    "swaps",
]

BLOCK = 2**22
"""A block of weights holds at most so many numbers (32 MB), or one row where that is longer."""

WORD = 32
"""A generator cuts each of its 32-bit words into so many truth values."""


class Groups(NamedTuple):
    """The groups that segments belong to.

    `names` stand in order of first appearance; `weights` is a csr_array (groups, segments) of
    ones, so that `statistics.score(weights)` gives one score per group.
    """

    names: tuple[str, ...]
    weights: Any


class Drawn(ABC):
    """Random numbers (rows, length) and the weights that they stand for.

    To another process only the generator's state is sent, and the same numbers are drawn there.
    """

    def __init__(self, rng: np.random.Generator, rows: int, length: int) -> None:
        self._before, self._shape = deepcopy(rng), (rows, length)
        self._draws = self._draw(rng, self._shape)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._before, *self._shape)

    @staticmethod
    @abstractmethod
    def _draw(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[Any]: ...

    @abstractmethod
    def blocks(self) -> Iterator[NDArray[np.float64]]:
        """The weights, in blocks (b, length)."""


class Resamples(Drawn):
    """How often each segment is drawn; every row sums to `length`."""

    @staticmethod
    def _draw(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.int64]:
        return rng.integers(0, shape[1], size=shape)

    def blocks(self) -> Iterator[NDArray[np.float64]]:
        """The weights, in one block."""
        rows, length = self._shape
        numbers = self._draws + length * np.arange(rows)[:, None]
        counts = np.bincount(numbers.ravel(), minlength=numbers.size)
        yield counts.reshape(self._shape).astype(float)


class Swaps(Drawn):
    """1 (keep the segment) or 0 (swap it), each with chance one half."""

    @staticmethod
    def _draw(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.bool_]:
        return rng.integers(2, size=shape, dtype=bool)

    def blocks(self) -> Iterator[NDArray[np.float64]]:
        """The weights, in blocks of at most `BLOCK` numbers."""
        step = _step(self._shape[1])
        for start in range(0, len(self._draws), step):
            yield self._draws[start : start + step].astype(float)


def resamples(
    length: int, count: int, *, rng: np.random.Generator
) -> Iterator[NDArray[np.float64]]:
    """Blocks (b, length) of how often each segment is drawn; every row sums to `length`.

    The draws are those of `rng.choice(length, size=(count, length))`, as in sacreBLEU, so one
    seed gives one set of resamples, however it is cut into blocks.
    """
    for piece in resample_pieces(length, count, rng=rng):
        yield from piece.blocks()


def swaps(length: int, count: int, *, rng: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    """Blocks (b, length) of 1 (keep the segment) or 0 (swap it), each with chance one half.

    The draws are those of `rng.integers(2, size=(count, length), dtype=bool)`, as in sacreBLEU.
    """
    for piece in swap_pieces(length, count, rng=rng):
        yield from piece.blocks()


def resample_pieces(length: int, count: int, *, rng: np.random.Generator) -> Iterator[Resamples]:
    """The same resamples in pieces, for other processes."""
    step = _step(length)
    for at in range(0, count, step):
        yield Resamples(rng, min(step, count - at), length)


def swap_pieces(length: int, count: int, *, rng: np.random.Generator) -> Iterator[Swaps]:
    """The same swaps in pieces, for other processes."""
    # What is left of a word at the end of a call is lost, so every call but the last draws whole
    # words: the number of its rows is a multiple of 32.
    drawn = max(WORD, _step(length) // WORD * WORD)
    for at in range(0, count, drawn):
        yield Swaps(rng, min(drawn, count - at), length)


def _step(length: int) -> int:
    """The rows of one block."""
    return max(1, BLOCK // max(1, length))


def groups(labels: Sequence[str]) -> Groups:
    """The groups named by one label per segment: documents, domains, length buckets.

    >>> groups(["news", "chat", "news"]).names
    ('news', 'chat')
    >>> groups(["news", "chat", "news"]).weights.toarray()
    array([[1., 0., 1.],
           [0., 1., 0.]])
    """
    from scipy.sparse import csr_array

    numbers: dict[str, int] = {}
    members = [numbers.setdefault(label, len(numbers)) for label in labels]
    shape = (len(numbers), len(members))
    ones = np.ones(len(members))
    return Groups(tuple(numbers), csr_array((ones, (members, range(len(members)))), shape=shape))


def membership(places: Sequence[Sequence[int] | NDArray[np.intp]], length: int) -> Any:
    """The weights of groups that may overlap: a csr_array (groups, length) of ones.

    `places` has the positions of each group's segments.

    >>> membership([[0, 2], [2]], 3).toarray()
    array([[1., 0., 1.],
           [0., 0., 1.]])
    """
    from scipy.sparse import csr_array

    sizes = [len(group) for group in places]
    rows = np.repeat(np.arange(len(sizes)), sizes)
    columns = np.concatenate([np.zeros(0, np.intp), *(np.asarray(group) for group in places)])
    return csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(sizes), length))
