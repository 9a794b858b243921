"""Weights are the very draws that sacreBLEU makes, and memory stays bounded."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.metrics.mean import Mean
from assay.statistics import weights


def blocks_of(numbers, monkeypatch):
    monkeypatch.setattr(weights, "BLOCK", numbers)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 33, 64])
@pytest.mark.parametrize("numbers", [1, 50, 10_000])
def test_resamples_are_the_draws_of_one_call_however_they_are_cut(length, numbers, monkeypatch):
    blocks_of(numbers, monkeypatch)
    found = np.concatenate(list(weights.resamples(length, 41, rng=np.random.default_rng(12345))))
    draws = np.random.default_rng(12345).choice(length, size=(41, length), replace=True)
    assert found.dtype == np.float64
    assert found.tolist() == [np.bincount(row, minlength=length).tolist() for row in draws]


@pytest.mark.parametrize("length", [1, 2, 3, 7, 33, 64])
@pytest.mark.parametrize("numbers", [1, 500, 10_000])
def test_swaps_are_the_draws_of_one_call_however_they_are_cut(length, numbers, monkeypatch):
    blocks_of(numbers, monkeypatch)
    found = np.concatenate(list(weights.swaps(length, 150, rng=np.random.default_rng(12345))))
    draws = np.random.default_rng(12345).integers(2, size=(150, length), dtype=bool)
    assert found.dtype == np.float64
    assert (found == draws).all()


@pytest.mark.parametrize("draw", [weights.resamples, weights.swaps])
def test_blocks_hold_no_more_numbers_than_allowed(draw, monkeypatch):
    blocks_of(100, monkeypatch)
    blocks = list(draw(30, 100, rng=np.random.default_rng(0)))
    assert {len(block) for block in blocks} <= {1, 2, 3}
    assert sum(map(len, blocks)) == 100


@pytest.mark.parametrize("draw", [weights.resamples, weights.swaps])
def test_a_row_longer_than_a_block_comes_alone(draw, monkeypatch):
    blocks_of(10, monkeypatch)
    assert [block.shape for block in draw(30, 2, rng=np.random.default_rng(0))] == [(1, 30)] * 2


@pytest.mark.parametrize("draw", [weights.resamples, weights.swaps])
def test_no_rows_are_no_blocks(draw):
    assert list(draw(5, 0, rng=np.random.default_rng(0))) == []


@pytest.mark.parametrize("draw", [weights.resamples, weights.swaps])
def test_memory_stays_bounded_for_a_million_segments(draw):
    tracemalloc.start()
    rows = sum(len(block) for block in draw(1_000_000, 30, rng=np.random.default_rng(0)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows == 30
    assert peak < 170e6, "one array of all the weights is 240 MB"


@given(st.integers(1, 40), st.integers(0, 60), st.integers(0, 2**32))
def test_every_resample_has_as_many_segments_as_the_corpus(length, count, seed):
    blocks = list(weights.resamples(length, count, rng=np.random.default_rng(seed)))
    sums = [total for block in blocks for total in block.sum(axis=1)]
    assert sums == [length] * count


def test_groups_are_named_in_order_of_first_appearance():
    found = weights.groups(["b", "a", "b", "c", "a"])
    assert found.names == ("b", "a", "c")
    assert found.weights.toarray().tolist() == [[1, 0, 1, 0, 0], [0, 1, 0, 0, 1], [0, 0, 0, 1, 0]]


def test_groups_of_nothing_are_none():
    found = weights.groups([])
    assert found.names == ()
    assert found.weights.shape == (0, 0)


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.floats(-9, 9)), min_size=1))
def test_group_scores_are_the_scores_of_their_segments(labelled):
    labels = [label for label, _ in labelled]
    values = np.array([value for _, value in labelled])
    names, member = weights.groups(labels)
    slow = [values[np.array(labels) == name].mean() for name in names]
    assert Mean("x").of(values).score(member) == pytest.approx(slow, abs=1e-12)
