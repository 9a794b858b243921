"""How sentence scores become one figure: by corpus, by sentence, or as the paper did it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from assay.data import DataError
from assay.metrics.base import Metric, Rows, Statistics
from assay.metrics.bleu import BLEU
from assay.metrics.mean import Mean
from assay.metrics.rouge import ROUGE
from assay.settings import nearest

__all__ = ["PRESETS", "Preset", "preset_named"]


@dataclass(frozen=True)
class Preset:
    """A way to score the sentences of a feature."""

    name: str
    level: Literal["corpus", "sentence"]
    scale: float
    meaning: str

    def metric(self, metric: Metric) -> Metric:
        """The metric as this preset wants it."""
        if self.name != "paper":
            return metric
        if isinstance(metric, BLEU):
            # NLTK's sentence BLEU of tokenized text, four-grams, without smoothing.
            return replace(metric, tokenize="none", smooth_method="none", smooth_value=None)
        if isinstance(metric, ROUGE):
            return ROUGE(type="L", value="precision", stem=True)
        return metric

    def statistics(self, metric: Metric, rows: Rows) -> Statistics:
        """Rows whose aggregate is the figure: the metric's own, or the mean of sentence scores."""
        if self.level == "corpus":
            return Statistics(metric, rows)
        return Mean(str(metric)).of(metric.each(rows))


PRESETS = {
    preset.name: preset
    for preset in (
        Preset("corpus", "corpus", 1.0, "the metric's corpus score of the sentences of I"),
        Preset("sentence", "sentence", 1.0, "the mean of the metric's sentence scores"),
        Preset(
            "paper",
            "sentence",
            0.01,
            "the mean of unsmoothed sentence BLEU (or stemmed ROUGE-L precision), 0-1",
        ),
    )
}


def preset_named(name: str) -> Preset:
    """The preset of that name; a wrong one is a `DataError`."""
    if name not in PRESETS:
        known = ", ".join(PRESETS)
        raise DataError(f"no preset {name!r}{nearest(name, PRESETS)}. Presets: {known}.")
    return PRESETS[name]
