"""Work in batches: where one does not fit into memory, it is halved, and the rest with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from assay.data import DataError

__all__ = ["in_batches"]

Item = TypeVar("Item")
Made = TypeVar("Made")

AHEAD = 4
"""Batches per worker that are worked on before the first is handed on."""

_SAYINGS = ("out of memory", "not enough memory", "can't allocate memory", "cannot allocate memory")
"""What torch says on a processor or a card, as a plain RuntimeError."""


def in_batches(
    items: Sequence[Item],
    work: Callable[[Sequence[Item]], Made],
    *,
    size: int,
    workers: int = 1,
) -> Iterator[tuple[Sequence[Item], Made]]:
    """What `work` makes of so many items at a time, with the items; `workers` batches at once.

    A batch for which there is no memory is halved, as often as need be, and later batches are no
    larger; a single item for which there is none is a `DataError`.
    """
    at = 0
    with ThreadPoolExecutor(workers) as pool:
        while at < len(items):
            ahead = range(at, min(at + size * workers * AHEAD, len(items)), size)
            batches = [items[start : start + size] for start in ahead]
            done = map if workers == 1 else pool.map
            for batch, made in zip(batches, done(partial(_tried, work), batches), strict=True):
                if isinstance(made, _NoMemory):
                    size = len(batch) // 2
                    break
                yield batch, made
                at += len(batch)


class _NoMemory:
    """Instead of a result."""


def _tried(work: Callable[[Sequence[Item]], Made], batch: Sequence[Item]) -> Made | _NoMemory:
    try:
        return work(batch)
    except (RuntimeError, MemoryError) as error:
        if not _is_memory(error):
            raise
        if len(batch) == 1:
            raise DataError(
                f"out of memory with a single text in a batch ({error}). "
                "Take a smaller model, or another device: device=cpu."
            ) from None
    return _NoMemory()


def _is_memory(error: Exception) -> bool:
    # torch.OutOfMemoryError is a RuntimeError with this name; torch need not be there to ask.
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or any(saying in str(error).lower() for saying in _SAYINGS)
    )
