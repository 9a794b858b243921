"""How much of what the reference has is in the output as well, and how much more there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from assay.data import Segment
from assay.metrics.base import Array, divide
from assay.tasks.tagging import Item, Tagged

__all__ = ["Bag", "Overlap", "overlap_rows", "overlaps_by_label", "share"]

Bag: TypeAlias = Mapping[Item, int]
"""How often each item is in a text, times its weight; whole numbers, so that sums are exact."""


class Overlap(NamedTuple):
    """Items of the output, items of the reference, and those that both have."""

    predicted: float
    wanted: float
    matched: float


class _Best(NamedTuple):
    """An output beside the reference that it is closest to."""

    output: Bag
    reference: Bag
    overlap: Overlap


def overlap_rows(
    segments: Sequence[Segment], texts: Mapping[str, Tagged], bag: Callable[[Tagged], Bag]
) -> Array:
    """Predicted, wanted and matched items and one to count the segment, (n, 4).

    Of several references, the one with the best F1 counts.
    """
    rows = [(*each.overlap, 1) for each in _best(segments, texts, bag)]
    return np.array(rows, float).reshape(-1, 4)


def overlaps_by_label(
    segments: Sequence[Segment], texts: Mapping[str, Tagged], bag: Callable[[Tagged], Bag]
) -> dict[str, Overlap]:
    """The same sums apart by label, in order of the alphabet."""
    sums: dict[str, Overlap] = {}
    for best in _best(segments, texts, bag):
        for item in {**best.output, **best.reference}:
            given, wanted = best.output.get(item, 0), best.reference.get(item, 0)
            before = sums.get(item.label, Overlap(0, 0, 0))
            new = Overlap(given, wanted, min(given, wanted))
            sums[item.label] = Overlap(*map(sum, zip(before, new, strict=True)))
    return dict(sorted(sums.items()))


def share(sums: Array, measure: Literal["f1", "precision", "recall"]) -> Array:
    """F1, precision or recall in percent, from (b, 4) sums.

    With nothing that could be wrong, all is right: 100, as long as there is a segment at all.
    """
    predicted, wanted, matched, segments = sums.T
    above, below = {
        "f1": (2 * matched, predicted + wanted),
        "precision": (matched, predicted),
        "recall": (matched, wanted),
    }[measure]
    return 100 * np.where(below > 0, divide(above, below), segments > 0)


def _best(
    segments: Sequence[Segment], texts: Mapping[str, Tagged], bag: Callable[[Tagged], Bag]
) -> Iterator[_Best]:
    bags = {line: bag(text) for line, text in texts.items()}
    sizes = {line: sum(each.values()) for line, each in bags.items()}
    for hypothesis, references, *_ in segments:
        output, size = bags[hypothesis], sizes[hypothesis]
        found = []
        for line in references:
            matched = _matched(output, bags[line])
            found.append(_Best(output, bags[line], Overlap(size, sizes[line], matched)))
        yield max(found, key=_closeness)


def _matched(a: Bag, b: Bag) -> int:
    return sum(min(count, b[item]) for item, count in a.items() if item in b)


def _closeness(best: _Best) -> tuple[float, float]:
    """F1, and matches among references with the same F1, so that their order does not matter."""
    predicted, wanted, matched = best.overlap
    total = predicted + wanted
    return (2 * matched / total if total else 1.0, matched)
