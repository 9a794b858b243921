"""`compare`: which system is better, where, why, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from assay.comparison.slices import label_slices, score_slices, text_slices
from assay.comparison.words import Vocabulary, class_counts, form_classes, frequency_bins
from assay.data import Dataset
from assay.features.annotation import Annotator
from assay.features.select import annotate_dataset
from assay.io.files import FilePath
from assay.metrics.base import Metric, Statistics, system_statistics
from assay.progress import Track, untracked
from assay.reports.probes import (
    SegmentProbe,
    SumProbe,
    Tested,
    Whole,
    bin_probe,
    class_probe,
    contributions,
    phrase_tests,
    rare_word_tests,
)

__all__ = ["DEFAULT_METRICS", "compare"]

DEFAULT_METRICS = ("chrf", "bleu", "macrof")
DEFAULT_FEATURES = ("upos", "ner", "morph")


def tests_of(
    data: Dataset,
    statistics: Sequence[Statistics],
    pairs: Sequence[tuple[int, int]],
    *,
    features: Sequence[str] = (),
    annotator: str | Annotator | None = None,
    pipeline: str = "",
    tags: Sequence[FilePath] = (),
    cache: bool = True,
    column_labels: Mapping[str, Sequence[str]],
    frequencies: Mapping[str, int] | None = None,
    faults: Sequence[Metric] = (),
    track: Track = untracked,
) -> list[Tested]:
    metric = statistics[0].metric
    title = metric.title
    weights = np.array([max(1, len(lines[0]) if lines else 1) for lines in data.references], float)
    wholes = {
        pair: Whole(contributions(statistics[pair[0]], statistics[pair[1]]), weights)
        for pair in pairs
    }
    scores = np.array([metric.oriented(each.segments()) for each in statistics])
    parts = [*text_slices(data), *label_slices(data, column_labels), *score_slices(scores)]
    probes: list = [SegmentProbe.of(part, statistics, title) for part in parts]
    words, pairs_of_words = Vocabulary.of(data), Vocabulary.of(data, order=2)
    everything = words.counts(np.ones(len(words.types), bool))
    classes = form_classes(data, words)
    if features:
        annotated = annotate_dataset(
            data, features, annotator=annotator, pipeline=pipeline, tags=tags, cache=cache,
            track=partial(track, label="Tagging"),
        )  # fmt: skip
        classes += class_counts(annotated.systems, annotated.references, annotated.features)
    probes += [class_probe("words", part, everything) for part in classes]
    probes += [bin_probe(part, words) for part in frequency_bins(words, frequencies)]
    for fault in faults:
        rows = np.stack([each.rows for each in system_statistics(data, fault)])
        probes.append(SumProbe("fault", fault.kind, "segments", "%", False, False, rows, fault.aggregate))
    found: list[Tested] = []
    for pair in pairs:
        found += [probe.test(*pair, wholes[pair]) for probe in probes]
        found += phrase_tests(words, *pair) + phrase_tests(pairs_of_words, *pair)
        found += rare_word_tests(data, words, *pair)
    return found
