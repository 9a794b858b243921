"""References as `corpus_score` takes them, which are kept for the next call."""

from __future__ import annotations

import atexit
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from threading import Lock
from typing import NamedTuple

from assay import kernel
from assay.data import reference_tuples

__all__ = ["KnownReferences", "known_references", "new_references", "reference_count"]

MOST_KEPT = 2**19
"""References of at most so many characters are kept between calls.

What is prepared of them takes about 16 bytes a character, and up to 150 of very long lines.
"""

METRICS_KEPT = 4
"""So many metrics have their last references kept."""


class KnownReferences(NamedTuple):
    """Reference sets as they were given, one tuple of them per segment, and their number.

    `prepared` is where the kernel keeps what it makes of them.
    """

    sets: tuple[tuple[str | None, ...], ...]
    tuples: tuple[tuple[str, ...], ...]
    number: int | str
    prepared: kernel.ReferenceIndex | None = None


def reference_count(references: Iterable[tuple[str, ...]]) -> int | str:
    """The number of references of every segment, or "var" where it varies."""
    counts = set(map(len, references))
    return counts.pop() if len(counts) == 1 else "var"


_KEPT: OrderedDict[Hashable, KnownReferences] = OrderedDict()
"""The last references of a metric, by its settings; the metric that was used last is at the end."""

# Modules may outlive the kernel as Python ends, which then says that something of its is left over.
atexit.register(_KEPT.clear)

_LOCK = Lock()


def known_references(
    metric: Hashable,
    references: Sequence[Sequence[str | None]] | Mapping[str, Sequence[str | None]],
    length: int,
) -> KnownReferences:
    """The references of `length` segments; those of the metric's last call where they are the same.

    People score one system after the other against the same references. Texts are compared, not
    lists, which may have been changed.
    """
    plain = isinstance(references, list | tuple) and all(
        isinstance(lines, list | tuple) and set(map(type, lines)) <= {str, type(None)}
        for lines in references
    )
    if not plain:
        return new_references(references, length)
    sets = tuple(map(tuple, references))
    with _LOCK:
        known = _KEPT.get(metric)
        if known is not None and known.sets == sets and len(known.tuples) == length:
            _KEPT.move_to_end(metric)
            return known
    known = new_references(sets, length)
    if sum(sum(map(len, lines)) for lines in known.tuples) > MOST_KEPT:
        return known
    known = known._replace(sets=sets, prepared=kernel.ReferenceIndex(known.tuples))
    with _LOCK:
        _KEPT[metric] = known
        _KEPT.move_to_end(metric)
        if len(_KEPT) > METRICS_KEPT:
            _KEPT.popitem(last=False)
    return known


def new_references(
    references: Sequence[Sequence[str | None]] | Mapping[str, Sequence[str | None]], length: int
) -> KnownReferences:
    """The references of `length` segments, of which nothing is kept."""
    tuples = reference_tuples(references, length)
    return KnownReferences((), tuples, reference_count(tuples))
