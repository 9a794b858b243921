"""Word-level human labels, and how well importances find the words labelled as wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError
from assay.explanation.importances import SegmentSide
from assay.io.files import FilePath, label, read_lines
from assay.statistics.arrays import Array, divide

__all__ = [
    "Detection",
    "DetectionQuality",
    "Labels",
    "WordLabels",
    "area",
    "average_precision",
    "check_labels",
    "detection",
    "mean_quality",
    "read_word_labels",
    "recall_at_top",
]

Labels: TypeAlias = NDArray[np.bool_]
"""Which words of a text people labelled as wrong, (tokens,)."""

WordLabels: TypeAlias = Mapping[tuple[str, SegmentSide], Sequence[Labels]]
"""The labels of every segment, by system and side."""

_MEANINGS = {"0": False, "OK": False, "1": True, "BAD": True}


def read_word_labels(
    path: FilePath, texts: Sequence[str], *, text: str = "the text"
) -> list[Labels]:
    """Whether each white-space token of each text is wrong, from a file with a line per text.

    Labels are 0 and 1, as in Eval4NLP, or OK and BAD, as in WMT: 1 and BAD are wrong. `text` says
    in messages what the labels belong to.
    """
    lines, where = read_lines(path), label(path)
    if len(lines) != len(texts):
        raise DataError(
            f"{where}: {len(lines)} lines, but there are {len(texts)} segments. "
            "A tag file needs one line of tags per segment; blank lines count."
        )
    pairs = enumerate(zip(lines, texts, strict=True), 1)
    return [
        _read_labels(line.split(), own, f"{where}, line {number}", text)
        for number, (line, own) in pairs
    ]


def check_labels(
    labels: Sequence[Sequence[int]], texts: Sequence[str], text: str = "the text"
) -> list[Labels]:
    """The same from 0 and 1 (wrong) for every word of every text."""
    if len(labels) != len(texts):
        raise DataError(
            f"tags of {text}: {len(labels)} lists, but there are {len(texts)} segments. "
            "Give one list of tags per segment."
        )
    pairs = enumerate(zip(labels, texts, strict=True), 1)
    return [
        _read_labels([str(int(tag)) for tag in own], line, f"tags, segment {number}", text)
        for number, (own, line) in pairs
    ]


def _read_labels(tags: Sequence[str], line: str, where: str, text: str) -> Labels:
    tokens = line.split()
    if len(tags) != len(tokens):
        raise DataError(
            f"{where}: {len(tags)} tags for the {len(tokens)} words of {text}. "
            "Each line needs one tag per white-space token of its segment."
        )
    for tag in tags:
        if tag not in _MEANINGS:
            raise DataError(
                f"{where}: {tag!r} is no tag. Give 1 or BAD for a wrong word, else 0 or OK."
            )
    return np.array([_MEANINGS[tag] for tag in tags], bool)


class Detection(NamedTuple):
    """How well the wrong words of one text are found, all from 0 to 1; `nan` is undefined.

    `tagged` is the share of words labelled as wrong: what guessing gets as recall, on average.
    """

    area: float
    precision: float
    recall: float
    tagged: float


@dataclass(frozen=True)
class DetectionQuality:
    """Means over texts: those that have words of both kinds and known importances.

    `alike` counts the texts that are left out because people tagged all words or none, `unknown`
    those whose importances nobody knows.
    """

    texts: int
    alike: int
    unknown: int
    mean: Detection


def detection(suspicions: Array, tags: Labels, *, top: int | None = None) -> Detection:
    """How well the tagged words of one text are found by suspicions, one per word.

    The more suspect a word is, the higher its suspicion: an importance with its sign turned.
    Undefined where a suspicion is unknown, or where all words are tagged or none.
    """
    if len(suspicions) != len(tags):
        raise DataError(f"{len(suspicions)} words, but {len(tags)} tags: give one tag per word.")
    if _alike(tags) or np.isnan(suspicions).any():
        return Detection(np.nan, np.nan, np.nan, float(tags.mean()) if len(tags) else np.nan)
    return Detection(
        area(suspicions, tags),
        average_precision(suspicions, tags),
        recall_at_top(suspicions, tags, top),
        float(tags.mean()),
    )


def mean_quality(
    suspicions: Sequence[Array], tags: Sequence[Labels], *, top: int | None = None
) -> DetectionQuality:
    """The quality of the importances of many texts, every text counting alike."""
    alike = [_alike(labels) for labels in tags]
    detections = [
        detection(scores, labels, top=top)
        for scores, labels, same in zip(suspicions, tags, alike, strict=True)
        if not same
    ]
    known = [text for text in detections if not np.isnan(text.area)]
    means = np.mean(known, axis=0).tolist() if known else [np.nan] * len(Detection._fields)
    unknown = len(detections) - len(known)
    return DetectionQuality(len(known), sum(alike), unknown, Detection(*means))


def area(suspicions: Array, tags: Labels) -> float:
    """The area under the ROC curve: how often a tagged word is more suspect than another word.

    >>> area(np.array([3.0, 1.0, 2.0]), np.array([True, False, True]))
    1.0
    """
    tagged, others = suspicions[tags][:, None], suspicions[~tags]
    return float(np.mean((tagged > others) + 0.5 * (tagged == others)))


def average_precision(suspicions: Array, tags: Labels) -> float:
    """The mean, over the tagged words, of the precision of all words as suspect as that one.

    >>> average_precision(np.array([3.0, 2.0, 1.0]), np.array([True, False, True]))
    0.8333333333333333
    """
    at_least = suspicions >= suspicions[tags][:, None]
    return float(np.mean(divide((at_least & tags).sum(axis=1), at_least.sum(axis=1))))


def recall_at_top(suspicions: Array, tags: Labels, top: int | None = None) -> float:
    """The share of tagged words among the `top` most suspect, by default as many as are tagged.

    Words that are as suspect as the last one of these share the places that are left: the recall
    is what any order among them gives on average.

    >>> recall_at_top(np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, False, True, False]))
    0.75
    """
    if top is not None and top < 1:
        raise DataError(f"recall at the top {top} words says nothing: ask for at least 1.")
    count = min(int(tags.sum()) if top is None else top, len(tags))
    last = np.sort(suspicions)[::-1][count - 1]
    above, level = suspicions > last, suspicions == last
    share = (count - above.sum()) / level.sum()
    return float((tags[above].sum() + share * tags[level].sum()) / tags.sum())


def _alike(tags: Labels) -> bool:
    return bool(tags.all() or not tags.any())
