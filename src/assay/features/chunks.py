"""Spans from one label per token: BIO, BIOES, BILOU, or the bare name on every token."""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.features.annotation import TokenSpan

__all__ = ["CHUNK", "chunks"]

CHUNK = re.compile(r"([BIESLU])-(.+)")
"""B begins, I goes on, E and L end, S and U stand alone."""

_NONE = frozenset(("", "O", "_"))


def chunks(labelled: Iterable[TokenSpan]) -> tuple[TokenSpan, ...]:
    """The names in tokens labelled one by one, in order.

    What goes on without a beginning begins; a name without a prefix begins or goes on.

    >>> chunks([TokenSpan(0, 1, "B-PER"), TokenSpan(1, 2, "I-PER"), TokenSpan(2, 3, "O")])
    (TokenSpan(start=0, end=2, label='PER'),)
    """
    found: list[TokenSpan] = []
    is_open = False
    for start, end, tag in labelled:
        if tag in _NONE:
            is_open = False
            continue
        match = CHUNK.fullmatch(tag)
        position, name = match.groups() if match else ("I", tag)
        if is_open and position in "IEL" and found[-1].label == name and found[-1].end == start:
            found[-1] = found[-1]._replace(end=end)
        else:
            found.append(TokenSpan(start, end, name))
        is_open = position in "BI"
    return tuple(found)
