"""Which languages the packaged models know: of others they say little, but say it all the same."""

from __future__ import annotations

from collections.abc import Iterable

from assay.languages import Pair, plain_code
from assay.metrics.base import Metric
from assay.neural.metric import NeuralMetric
from assay.neural.models import LANGUAGES

__all__ = ["language_notes"]

_REMEDY = {
    "minilm": "Take model=use, which knows 16 languages, or a model of your own.",
    "use": "Take a model that knows them: model=NAME.",
}


def language_notes(metrics: Iterable[Metric], languages: Pair | None) -> list[str]:
    """A remark for every metric whose model does not know a language that it is to read.

    `languages` are source and target, as a test set has them; nothing is said where it has none.
    """
    return [
        f"{metric}: the model {metric.model_name} does not know {' and '.join(unknown)}; "
        f"its scores mean little there. {_REMEDY[metric.model_name]}"
        for metric in metrics
        if isinstance(metric, NeuralMetric) and (unknown := _unknown(metric, languages or ("", "")))
    ]


def _unknown(metric: NeuralMetric, languages: Pair) -> list[str]:
    known = LANGUAGES.get(metric.model_name)
    source, target = (plain_code(each) for each in languages)
    read = [source, target] if metric.against == "source" else [target]
    return [
        each for each in dict.fromkeys(read) if known is not None and each and each not in known
    ]
