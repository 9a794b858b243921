"""Weights of segments: bootstrap resamples, random swaps, membership of groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Groups", "groups", "membership", "resamples", "swaps"]

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


def resamples(
    length: int, count: int, *, rng: np.random.Generator
) -> Iterator[NDArray[np.float64]]:
    """Blocks (b, length) of how often each segment is drawn; every row sums to `length`.

    The draws are those of `rng.choice(length, size=(count, length))`, as in sacreBLEU, so one
    seed gives one set of resamples, however it is cut into blocks.
    """
    step = max(1, BLOCK // max(1, length))
    for at in range(0, count, step):
        rows = min(step, count - at)
        draws = rng.integers(0, length, size=(rows, length))
        draws += length * np.arange(rows)[:, None]
        counts = np.bincount(draws.ravel(), minlength=draws.size)
        yield counts.reshape(draws.shape).astype(float)


def swaps(length: int, count: int, *, rng: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    """Blocks (b, length) of 1 (keep the segment) or 0 (swap it), each with chance one half.

    The draws are those of `rng.integers(2, size=(count, length), dtype=bool)`, as in sacreBLEU.
    """
    step = max(1, BLOCK // max(1, length))
    # What is left of a word at the end of a call is lost, so every call but the last draws whole
    # words: the number of its rows is a multiple of 32.
    drawn = max(WORD, step // WORD * WORD)
    for at in range(0, count, drawn):
        keep = rng.integers(2, size=(min(drawn, count - at), length), dtype=bool)
        for start in range(0, len(keep), step):
            yield keep[start : start + step].astype(float)


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
