"""Metrics made ready for a dataset: tokenizer, tagger and model for its languages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.data import DataError, Dataset
from assay.languages import Side, language_by_script, language_of, plain_code
from assay.metrics.base import Metric, reference_count
from assay.metrics.registry import METRICS, parse, verify
from assay.settings import settings_of

__all__ = ["Selection", "select_metrics", "with_shared"]

_TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
"""The tokenizer that sacreBLEU takes for a target language when none is named."""

_ASIAN = {"zh": "Chinese", "ja": "Japanese", "ko": "Korean"}


@dataclass(frozen=True)
class Selection:
    """Metrics that are ready, what to tell the user about them, and the languages they need."""

    metrics: list[Metric]
    notes: list[str]
    sides: list[Side]


def select_metrics(
    metrics: Iterable[str | Metric],
    dataset: Dataset,
    *,
    tokenize: str | None = None,
    lowercase: bool = False,
) -> Selection:
    """The metrics with tokenizer, tagger and model for the dataset's languages.

    `tokenize` and `lowercase` are for all metrics that have these settings and do not say
    themselves. A tokenizer is chosen by a language that was told only, so that the same call has
    the same signature whatever the texts are and however their files are called.
    """
    if isinstance(metrics, str):
        raise DataError(f"metrics are a list: pass [{metrics!r}].")
    target = plain_code((dataset.languages or ("", ""))[1])
    shared = {"tokenize": tokenize or _TOKENIZERS.get(target), "lowercase": lowercase}
    asked = [with_shared(metric, shared) for metric in metrics]
    ready = METRICS.parse_all(metric.for_dataset(dataset) for metric in asked)
    sides = list(dict.fromkeys(side for metric in asked for side in metric.needs_languages))
    known = {side: language_of(dataset, side).code for side in sides}
    pair = known.get("source", ""), known.get("target", "")
    references = reference_count(dataset.references)
    notes = [remark for metric in ready if (remark := metric.language_remark(pair))]
    notes += _tokenizer_notes(ready, dataset)
    for metric in ready:
        notes += verify(metric, references=references, languages=dataset.languages)
    return Selection(ready, list(dict.fromkeys(notes)), sides)


def with_shared(given: str | Metric, shared: Mapping[str, object]) -> Metric:
    """The metric with the shared settings, where it has them and does not say itself.

    An object stays as it is: it has all its settings.
    """
    if not isinstance(given, str):
        return given
    metric = parse(given)
    said = metric.request.settings if metric.request else frozenset()
    names = {field.name for field in settings_of(metric)} - said
    changes: dict[str, Any] = {
        name: value for name, value in shared.items() if value and name in names
    }
    return replace(metric, **changes)


def _tokenizer_notes(metrics: Sequence[Metric], dataset: Dataset) -> list[str]:
    """A hint where words are cut as if Chinese, Japanese or Korean had blanks between them."""
    usual = [metric for metric in metrics if getattr(metric, "tokenize", "") == "13a"]
    lines = [line for references in dataset.references for line in references[:1]]
    code = language_by_script(lines) if usual and not dataset.languages else ""
    if not code:
        return []
    names = ", ".join(map(str, usual))
    return [
        f"the references look {_ASIAN[code]}, but {names} cuts words at blanks: pass the "
        f'languages (languages="en-{code}") or a tokenizer (tokenize="{_TOKENIZERS[code]}").'
    ]
