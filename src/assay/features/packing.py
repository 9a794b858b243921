"""Annotations as JSON values, for the cache and for other processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from assay.features.annotation import Annotation, TokenSpan

__all__ = ["pack", "shared_span", "unpack"]


@lru_cache(maxsize=1 << 16)
def shared_span(start: int, end: int, label: str) -> TokenSpan:
    """The span; equal ones are one object, which saves most of the memory of a large corpus."""
    return TokenSpan(start, end, label)


def pack(annotation: Annotation) -> list[Any]:
    """The annotation as lists, each layer as the columns of its spans.

    >>> pack(Annotation(("a", "b"), {"upos": (TokenSpan(0, 1, "DET"), TokenSpan(1, 2, "NOUN"))}))
    [['a', 'b'], {'upos': [[0, 1], [1, 2], ['DET', 'NOUN']]}]
    """
    layers = {
        name: [list(column) for column in zip(*spans, strict=True)]
        for name, spans in annotation.layers.items()
    }
    return [list(annotation.tokens), layers]


def unpack(value: Any) -> Annotation:
    """The annotation that was packed; a `ValueError` where the value is none."""
    try:
        tokens, layers = value
        found = {name: tuple(_spans(*columns)) for name, columns in layers.items()}
        if not all(isinstance(token, str) for token in tokens):
            raise TypeError("tokens are texts")
    except (TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"not an annotation ({error})") from None
    return Annotation(tuple(tokens), found)


def _spans(
    starts: Sequence[int] = (), ends: Sequence[int] = (), labels: Sequence[str] = ()
) -> Iterator[TokenSpan]:
    """The spans of one layer; a layer without any has no columns."""
    if not len(starts) == len(ends) == len(labels):
        raise ValueError("columns of different lengths")
    return map(shared_span, starts, ends, labels)
