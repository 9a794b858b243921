"""People's tags of words: which are wrong, a line per segment and a tag per word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.bmx.explaining import Side
from assay.data import DataError
from assay.io.files import FilePath, label
from assay.io.lines import read_lines

__all__ = ["WordTags", "read_word_tags"]

WordTags: TypeAlias = Mapping[tuple[str, Side], Sequence[NDArray[np.bool_]]]
"""Which words people tagged as wrong: for a system and a side, an array per segment."""

_MEANINGS = {"0": False, "OK": False, "1": True, "BAD": True}


def read_word_tags(
    path: FilePath, texts: Sequence[str], *, text: str = "the text"
) -> list[NDArray[np.bool_]]:
    """Whether each white-space token of each text is wrong, from a file with a line per text.

    Tags are 0 and 1, as in Eval4NLP, or OK and BAD, as in WMT: 1 and BAD are wrong. `text` says in
    messages what the tags belong to.
    """
    lines, where = read_lines(path), label(path)
    if len(lines) != len(texts):
        raise DataError(
            f"{where}: {len(lines)} lines, but there are {len(texts)} segments. "
            "A tag file needs one line of tags per segment; blank lines count."
        )
    pairs = enumerate(zip(lines, texts, strict=True), 1)
    return [_tags(line, each, f"{where}, line {number}", text) for number, (line, each) in pairs]


def _tags(line: str, text: str, where: str, name: str) -> NDArray[np.bool_]:
    tags, tokens = line.split(), text.split()
    if len(tags) != len(tokens):
        raise DataError(
            f"{where}: {len(tags)} tags for the {len(tokens)} words of {name}. "
            "Each line needs one tag per white-space token of its segment."
        )
    for tag in tags:
        if tag not in _MEANINGS:
            raise DataError(
                f"{where}: {tag!r} is no tag. Give 1 or BAD for a wrong word, else 0 or OK."
            )
    return np.array([_MEANINGS[tag] for tag in tags], bool)
