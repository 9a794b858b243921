"""What every word does to the score of its segment, and whether that finds the wrong words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError, Dataset, MissingInput
from assay.explanation.explainers import EXPLAINERS, Explainer
from assay.explanation.importances import (
    SegmentSide,
    Sides,
    explain_systems,
    sides_of,
    worst_segments,
)
from assay.explanation.quality import WordLabels, check_labels, read_word_labels
from assay.explanation.report import ExplainResult
from assay.io.files import FilePath
from assay.metrics.base import Metric
from assay.metrics.registry import select_metrics
from assay.progress import Track, untracked
from assay.settings import SEED

__all__ = ["SHOWN", "explain"]

SHOWN = 10
"""Tables show so many segments, the worst, where none are asked for."""


def explain(
    data: Dataset,
    metric: str | Metric = "chrf",
    explainer: str | Explainer = "lime",
    *,
    worst: int | None = None,
    only: Sequence[int] = (),
    sides: Sides = "both",
    tags: Sequence[FilePath] | Mapping[str, Sequence[Sequence[int]]] = (),
    source_tags: Sequence[FilePath] | Mapping[str, Sequence[Sequence[int]]] = (),
    top: int | None = None,
    seed: int = SEED,
    track: Track = untracked,
) -> ExplainResult:
    """What every word does to the score of its segment, by any metric and explainer.

    The hypothesis and what it is compared with (the reference, or the source) are explained one
    by one, the other held fixed; `sides="hypothesis"` leaves the other out. All segments are
    explained and tables show the worst, unless `worst` asks for so many segments with the worst
    scores, or `only` names segments by their numbers, which count from 1.

    `tags` and `source_tags` are word-level human labels of the systems' outputs and of the source:
    a file per system, or 0 and 1 (wrong) for every word of every segment by system. With them the
    result says how well wrong words are found, with recall at the `top` most suspect words of a
    text, or at as many as are wrong.

    >>> from assay.demo import read_demo
    >>> result = explain(read_demo(), "chrf", "erasure", worst=1)
    >>> record = max(result.records(), key=lambda record: record["importance"])
    >>> record["segment"], record["system"], record["token"]
    (67, 'birch', 'everyone')
    """
    explainer = EXPLAINERS.parse(explainer)
    selection = select_metrics([metric], data)
    [metric] = selection.metrics
    explained = sides_of(metric, hypothesis_only=sides == "hypothesis")
    labels = _labels(data, explained, tags, source_tags, top)
    explanations = explain_systems(
        data,
        metric,
        explainer,
        positions=_positions(data, metric, worst, only),
        sides=explained,
        seed=seed,
        track=track,
    )
    shown = None if worst or only else tuple(worst_segments(data, metric, SHOWN))
    return ExplainResult(explanations, shown, labels, top, tuple(selection.notes))


def _positions(
    data: Dataset, metric: Metric, worst: int | None, only: Sequence[int]
) -> list[int] | None:
    """Positions of the segments that are asked for, or None for all."""
    if worst is not None and only:
        raise DataError(f"worst={worst} chooses segments itself: leave only= out.")
    if worst is not None:
        if worst < 1:
            raise DataError(f"{worst} segments are nothing to explain: ask for at least 1.")
        return worst_segments(data, metric, worst)
    return list(dict.fromkeys(number - 1 for number in only)) or None


def _labels(
    data: Dataset,
    sides: Sequence[SegmentSide],
    tags: Sequence[FilePath] | Mapping[str, Sequence[Sequence[int]]],
    source_tags: Sequence[FilePath] | Mapping[str, Sequence[Sequence[int]]],
    top: int | None,
) -> WordLabels:
    """Word-level human labels by system and side."""
    if source_tags and "source" not in sides:
        raise DataError(
            "source tags belong to words of the source, which is not explained here: choose a "
            "metric that reads the source, as embed:against=source."
        )
    if top is not None and not (tags or source_tags):
        raise MissingInput("tags", f"top={top} counts among words that people tagged")
    outputs = _by_system(data, "tags", tags, data.systems)
    sources = _by_system(
        data, "source tags", source_tags, dict.fromkeys(data.systems, data.sources)
    )
    labels: dict[tuple[str, SegmentSide], Sequence[NDArray[np.bool_]]] = {}
    labels |= {(system, "hypothesis"): own for system, own in outputs.items()}
    labels |= {(system, "source"): own for system, own in sources.items()}
    return labels


def _by_system(
    data: Dataset,
    name: str,
    tags: Sequence[FilePath] | Mapping[str, Sequence[Sequence[int]]],
    texts: Mapping[str, Sequence[str]],
) -> dict[str, list[NDArray[np.bool_]]]:
    if isinstance(tags, Mapping):
        return {system: check_labels(own, texts[system], system) for system, own in tags.items()}
    if tags and len(tags) != len(data.systems):
        raise DataError(
            f"{name}: {len(tags)} files, but there are {len(data.systems)} systems: "
            "give one for each, in the same order."
        )
    label = "the source" if name == "source tags" else ""
    return {
        system: read_word_labels(path, texts[system], text=label or system)
        for system, path in zip(data.systems, tags, strict=False)
    }
