"""Pairs of scores and swapped types in the kernel, against loops over all pairs."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from assay import kernel
from assay.metrics.base import Metric, parse
from tests.corpora import texts


def ranked(values):
    return np.unique(values, return_inverse=True)[1].astype(np.int32)


def counts_of(keys, human):
    """Pairs that agree, disagree, and are tied by people, by the metric and by both."""
    found = np.zeros(5, int)
    for i, j in combinations(range(len(keys)), 2):
        own, theirs = np.sign(keys[i] - keys[j]), np.sign(human[i] - human[j])
        found += [
            own * theirs > 0,
            own * theirs < 0,
            theirs == 0,
            own == 0,
            own == 0 and theirs == 0,
        ]
    return found


@pytest.mark.parametrize("levels", [3, 40])
def test_concordance_after_swaps_equals_looking_at_every_pair(levels):
    rng = np.random.default_rng(levels)
    first, second = rng.integers(levels, size=(2, 50)).astype(np.int32)
    human, unit = rng.integers(5, size=50).astype(np.int32), (np.arange(50) % 7).astype(np.int32)
    swaps = rng.random((9, 7)) < 0.5
    ours = kernel.swapped_concordance(first, second, human, unit, swaps, levels)
    for trial, swap in enumerate(swaps):
        moved = swap[unit]
        for side, keys in enumerate(
            [np.where(moved, second, first), np.where(moved, first, second)]
        ):
            assert ours[trial, side].tolist() == counts_of(keys, human).tolist()


def groups_of(seed, sizes, distinct=None):
    rng = np.random.default_rng(seed)
    values = [rng.normal(size=size) for size in sizes]
    if distinct:
        values = [rng.integers(distinct, size=size) / 3 for size in sizes]
    values = np.concatenate([np.sort(each) for each in values]).astype(float)
    human = rng.integers(4, size=len(values)).astype(np.int32)
    return values, human, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def all_pairs(values, human, starts):
    """The size of every pair, 1 where people tie it and -1 where they order it alike."""
    for start, end in pairwise(starts):
        for p, q in combinations(range(start, end), 2):
            size = values[q] - values[p]
            if human[p] == human[q]:
                yield p, q, size, 1
            elif human[q] > human[p] and size > 0:
                yield p, q, size, -1


EDGES = np.array([-1.0, 0.0, 0.2, 0.5, 1.0, 1.7, np.inf])


@pytest.mark.parametrize("distinct", [None, 6])
def test_windows_hold_the_pairs_of_their_sizes(distinct):
    values, human, starts = groups_of(1, (20, 1, 33), distinct)
    counts, sizes = kernel.pair_windows(values, human, starts, EDGES)
    pairs = list(all_pairs(values, human, starts))
    for window, (low, high) in enumerate(pairwise(EDGES)):
        inside = [(size, gain) for _, _, size, gain in pairs if low < size <= high]
        assert counts[window].tolist() == [
            sum(gain == sign for _, gain in inside) for sign in (1, -1)
        ]
        if inside:
            assert sizes[window, 0] <= min(inside)[0] <= max(inside)[0] <= sizes[window, 1]
        listed = kernel.pairs_within(values, human, starts, np.array([low, high]))
        assert sorted(zip(*map(np.ndarray.tolist, listed), strict=True)) == sorted(inside)


@pytest.mark.parametrize("trials", [3, 64, 150])
def test_windows_after_swaps_count_the_pairs_on_the_first_side(trials):
    values, human, starts = groups_of(2, (90, 41))
    rng = np.random.default_rng(trials)
    units = 12
    rows = rng.integers(2 * units, size=len(values)).astype(np.int32)
    swaps = rng.random((trials, units)) < 0.5
    sides = np.stack([~swaps.T, swaps.T], axis=1).reshape(2 * units, trials)
    packed = np.packbits(sides, axis=1, bitorder="little")
    padded = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    bits = np.ascontiguousarray(padded).view(np.uint64)
    counts, degrees = kernel.swapped_windows(values, human, starts, EDGES, rows, bits, trials)
    expected, partners = np.zeros_like(counts), np.zeros_like(degrees)
    for p, q, size, gain in all_pairs(values, human, starts):
        if rows[p] ^ rows[q] == 1:
            continue
        window, kind = np.searchsorted(EDGES, size) - 1, int(gain < 0)
        expected[window, kind] += sides[rows[p]] & sides[rows[q]]
        for row in (rows[p], rows[q]):
            partners[window, kind, row] += 1
    assert (counts == expected).all()
    assert (degrees == partners).all()
    # A window of 70,000 scores has more pairs than 32 bits can count.
    assert counts.dtype == np.int64


def test_one_thread_counts_as_many_do():
    values, human, starts = groups_of(3, (400,))
    edges = np.concatenate([[-1.0], np.linspace(0, 5, 200)])
    rows = (np.arange(400) % 20).astype(np.int32)
    bits = np.random.default_rng(1).integers(2**63, size=(20, 1)).astype(np.uint64)
    for work in (
        lambda threads: kernel.pair_windows(values, human, starts, edges, threads)[0],
        lambda threads: kernel.swapped_windows(
            values, human, starts, edges, rows, bits, 64, threads
        )[0],
    ):
        assert (work(1) == work(4)).all()


@pytest.mark.parametrize("name", ["macrof", "microf", "macrof:beta=2", "microf:k=0,max_order=2"])
def test_types_that_change_places_are_scored_as_stacked_rows_are(name):
    metric, n = parse(name), 40
    outputs = [texts(n, system=system).segments() for system in ("atlas", "birch", "cedar")]
    outputs.append([(*outputs[0], *outputs[1])[at + n * (at % 2)] for at in range(n)])
    together = metric.statistics([segment for segments in outputs for segment in segments])
    rows = [together[at * n : (at + 1) * n].rows for at in range(4)]
    keep = np.random.default_rng(1).integers(2, size=(70, n)).astype(float)
    keep[0], keep[1] = 0, 1
    pairs = [(0, 1), (2, 0), (3, 3), (1, 2)]
    ours = list(metric.swapped(rows, pairs, keep))
    for found, expected in zip(ours, Metric.swapped(metric, rows, pairs, keep), strict=True):
        assert found == pytest.approx(expected, abs=1e-10)
    assert ours[2].tolist() == [0.0] * len(keep)


def test_arrays_that_do_not_fit_are_refused():
    values, human, starts = groups_of(4, (10,))
    none = np.zeros(10, np.int32)
    with pytest.raises(ValueError, match="sorted scores"):
        kernel.pair_windows(values, human[1:], starts, EDGES)
    with pytest.raises(ValueError, match="sorted scores"):
        kernel.pair_windows(values, human, starts + 1, EDGES)
    with pytest.raises(ValueError, match="one window"):
        kernel.pairs_within(values, human, starts, EDGES)
    with pytest.raises(ValueError, match="two rows of bits"):
        kernel.swapped_windows(values, human, starts, EDGES, none, np.zeros((2, 1), np.uint64), 65)
    with pytest.raises(ValueError, match="right range"):
        kernel.swapped_windows(
            values, human, starts, EDGES, none + 2, np.zeros((2, 1), np.uint64), 3
        )
    with pytest.raises(ValueError, match="right range"):
        kernel.swapped_concordance(none, none + 5, none, none, np.zeros((1, 1), bool), 5)
    with pytest.raises(ValueError, match="rows of all systems"):
        kernel.type_swaps(
            np.ones((1, 3), bool), np.array([[0, 1]]), np.zeros(5, np.int64), none[:0], none[:0],
            3, 1.0, False, 0.0,
        )  # fmt: skip
    with pytest.raises(ValueError, match="positions of systems"):
        kernel.type_swaps(
            np.ones((1, 2), bool), np.array([[0, 2]]), np.zeros(5, np.int64), none[:0], none[:0],
            3, 1.0, False, 0.0,
        )  # fmt: skip
