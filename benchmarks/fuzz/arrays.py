"""Checks of the kernel's functions on arrays and lists of texts; `fuzz.kernel` draws from them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np


def pairs_of_texts(
    rng: random.Random, kernel: Any, text: Callable[[random.Random, int], str]
) -> None:
    """Every hypothesis with every reference: the rows of these pairs as segments."""
    lists = [
        [[text(rng, 40) for _ in range(rng.randrange(1, 4))] for _ in range(rng.randrange(1, 4))]
        for _ in range(2)
    ]
    hypotheses, references = lists[0], (lists[1] * 3)[: len(lists[0])]
    pairs = [
        (one, (other,))
        for ours, theirs in zip(hypotheses, references, strict=True)
        for one in ours
        for other in theirs
    ]
    order, threads = rng.choice((1, 4, 6)), rng.choice((0, 1, 3))
    found = kernel.word_pairs(hypotheses, references, "none", b"", order, threads)
    assert found.tolist() == kernel.word_ngrams(pairs, "none", b"", order).tolist(), lists
    blanks = rng.random() < 0.5
    found = kernel.character_pairs(hypotheses, references, order, 2, blanks, False, threads)
    slow = kernel.character_ngrams(pairs, order, 2, 4.0, blanks, True, False)
    assert found.tolist() == slow.tolist(), lists


def counted_lines(
    rng: random.Random, kernel: Any, text: Callable[[random.Random, int], str]
) -> None:
    """Empty lines, those that end like tokenized ones, and words that the sources have too."""
    lines = tuple(text(rng, 60) + rng.choice(("", " .")) for _ in range(rng.randrange(5)))
    wanted = sum(not line.strip() for line in lines), sum(line.endswith(" .") for line in lines)
    assert kernel.count_lines(lines) == wanted, lines
    letters = bytes(rng.choice((0, 1, 2)) for _ in range(rng.choice((0, 1, 128, 0x3000, 0x110000))))
    places = tuple(rng.choice((0, 0, 1, 1, 2)) for _ in lines)
    try:
        found = kernel.word_overlaps(lines, places, tuple(text(rng, 60) for _ in "ab"), letters)
    except (TypeError, ValueError):
        assert not {0, 1}.issuperset(places)
        return
    words, in_source, in_sources = found.T
    assert ((in_source <= in_sources) & (in_sources <= words)).all(), (lines, found)


def windows(rng: random.Random, kernel: Any) -> None:
    """Pairs of scores by the size of their difference, against a loop over all pairs."""
    draws = np.random.default_rng(rng.randrange(2**32))
    sizes = draws.integers(0, 12, size=rng.randrange(1, 4))
    values = np.concatenate([np.sort(draws.integers(0, 9, size) / 3) for size in sizes])
    human = draws.integers(-2, 3, len(values)).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    edges = np.array([-1.0, 0.0, 0.4, 1.0, np.inf])[: rng.randrange(1, 6)]
    rows = draws.integers(0, 6, len(values)).astype(np.int32)
    bits = draws.integers(0, 2**63, size=(6, 1)).astype(np.uint64)
    trials, threads = rng.choice((0, 1, 63, 64)), rng.choice((0, 1, 3))
    if rng.random() < 0.4:
        _spoil(rng, values, human, starts, edges, rows)
        trials = rng.choice((1, 65, 10**6))
        for call in (
            lambda: kernel.pair_windows(values, human, starts, edges, threads),
            lambda: kernel.pairs_within(values, human, starts, edges[:2]),
            lambda: kernel.swapped_windows(
                values, human, starts, edges, rows, bits, trials, threads
            ),
        ):
            _refused_or_done(call)
        return
    counts, _ = kernel.pair_windows(values, human, starts, edges, threads)
    swapped, degrees = kernel.swapped_windows(
        values, human, starts, edges, rows, bits, trials, threads
    )
    slow = np.zeros((len(edges) - 1, 2), int)
    sides = np.zeros((len(edges) - 1, 2, trials), int)
    for p, q, size, kind in _all_pairs(values, human, starts):
        inside = [at for at, (low, high) in enumerate(pairwise(edges)) if low < size <= high]
        for at in inside:
            slow[at, kind] += 1
            both = int(bits[rows[p], 0] & bits[rows[q], 0])
            if rows[p] ^ rows[q] != 1:
                sides[at, kind] += np.array([both >> trial & 1 for trial in range(trials)], int)
    assert counts.tolist() == slow.tolist(), (values, human, starts, edges)
    assert swapped.tolist() == sides.tolist(), (values, human, starts, edges, rows, bits, trials)
    assert (degrees >= 0).all()


def _all_pairs(values: Any, human: Any, starts: Any) -> Any:
    """Pairs that people tie (0) or order alike (1), with the size of their difference."""
    for start, end in pairwise(starts):
        for p, q in combinations(range(start, end), 2):
            size = values[q] - values[p]
            if human[p] == human[q]:
                yield p, q, size, 0
            elif human[q] > human[p] and size > 0:
                yield p, q, size, 1


def concordance(rng: random.Random, kernel: Any) -> None:
    """Concordant pairs after swaps, against a loop over all pairs."""
    draws = np.random.default_rng(rng.randrange(2**32))
    size, levels, units, trials = (int(draws.integers(1, high)) for high in (25, 9, 6, 5))
    first, second = draws.integers(levels, size=(2, size)).astype(np.int32)
    human = draws.integers(4, size=size).astype(np.int32)
    unit = draws.integers(units, size=size).astype(np.int32)
    swaps, threads = draws.random((trials, units)) < 0.5, rng.choice((0, 1, 3))
    if rng.random() < 0.4:
        _spoil(rng, first, second, human, unit)
        limit = rng.choice((levels, 0, 1))
        _refused_or_done(
            lambda: kernel.swapped_concordance(first, second, human, unit, swaps, limit, threads)
        )
        return
    found = kernel.swapped_concordance(first, second, human, unit, swaps, levels, threads)
    for trial, moved in enumerate(swaps[:, unit]):
        keys = np.where(moved, second, first), np.where(moved, first, second)
        slow = [_concordant(each, human) for each in keys]
        assert found[trial].tolist() == slow, (first, second, human, unit, swaps)


def _concordant(keys: Any, human: Any) -> list[int]:
    found = np.zeros(5, int)
    for i, j in combinations(range(len(keys)), 2):
        own, theirs = np.sign(keys[i] - keys[j]), np.sign(human[i] - human[j])
        ties = theirs == 0, own == 0, own == 0 and theirs == 0
        found += [own * theirs > 0, own * theirs < 0, *ties]
    return [int(count) for count in found]


def swapped_types(rng: random.Random, kernel: Any) -> None:
    """Counts of types that change places between systems: never a crash, whoever counts."""
    draws = np.random.default_rng(rng.randrange(2**32))
    systems, segments, types, trials = (int(draws.integers(1, high)) for high in (4, 9, 8, 70))
    chosen = [np.flatnonzero(draws.random(types) < 0.5) for _ in range(systems * segments)]
    starts = np.cumsum([0, *(3 * len(each) for each in chosen)]).astype(np.int64)
    columns = np.concatenate([(3 * each[:, None] + [0, 1, 2]).ravel() for each in chosen])
    columns = columns.astype(np.int32)
    counts = draws.integers(0, 5, len(columns)).astype(np.int32)
    pairs = draws.integers(systems, size=(rng.randrange(4), 2)).astype(np.int64)
    keep = draws.random((trials, segments)) < 0.5
    if rng.random() < 0.4:
        _spoil(rng, starts, columns, pairs.ravel())
    options = (3 * types, 1.0, rng.random() < 0.5, 0.0)

    def call(threads: int) -> Any:
        return kernel.type_swaps(keep, pairs, starts, columns, counts, *options, threads)

    first = _refused_or_done(lambda: call(1))
    if first is not None:
        assert first.shape == (len(pairs), trials)
        assert first.tolist() == call(3).tolist()
        assert not first[pairs[:, 0] == pairs[:, 1]].any()


def _spoil(rng: random.Random, *arrays: Any) -> None:
    """Put a number that makes no sense into one of the arrays."""
    array = rng.choice(arrays)
    if len(array):
        numbers: Sequence[float] = (-1, 0, 1, 2, 7, 10**6, 2**31 - 1)
        if array.dtype == float:
            numbers = (-1.0, np.nan, np.inf, -np.inf, 1e308)
        array[rng.randrange(len(array))] = rng.choice(numbers)


def _refused_or_done(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except (TypeError, ValueError):
        return None
