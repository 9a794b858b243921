"""Batches are halved where memory ends, whatever is done with them."""

import pytest

from assay.data import DataError
from assay.metrics.neural.base import in_batches


def limited(most, error):
    """Work that fails with more items than `most`, and the sizes that it was given."""
    sizes = []

    def work(batch):
        sizes.append(len(batch))
        if len(batch) > most:
            raise error
        return [2 * item for item in batch]

    return work, sizes


MEMORY = [
    MemoryError(),
    RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
    RuntimeError("CUDA out of memory. Tried to allocate 20 MiB"),
    RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes"),
]


@pytest.mark.parametrize("error", MEMORY, ids=str)
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("most", [1, 2, 3, 7, 100])
def test_everything_is_done_once_and_in_order(error, workers, most):
    work, _ = limited(most, error)
    done = list(in_batches(range(50), work, size=16, workers=workers))
    assert [item for batch, _ in done for item in batch] == list(range(50))
    assert [item for _, made in done for item in made] == list(range(0, 100, 2))
    assert all(len(batch) <= most for batch, _ in done)


def test_a_batch_that_was_halved_stays_so():
    work, sizes = limited(5, MemoryError())
    list(in_batches(range(20), work, size=16))
    assert sizes == [16, 8, 4, 4, 4, 4, 4]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_single_item_without_memory_is_told(workers):
    work, _ = limited(0, MemoryError("no room"))
    with pytest.raises(DataError, match=r"out of memory with a single text in a batch .no room"):
        list(in_batches(range(5), work, size=4, workers=workers))


@pytest.mark.parametrize("workers", [1, 2])
def test_other_errors_are_not_taken_for_memory(workers):
    work, _ = limited(2, RuntimeError("shapes do not fit"))
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        list(in_batches(range(5), work, size=4, workers=workers))


def test_nothing_makes_no_batch():
    assert list(in_batches([], len, size=4)) == []
