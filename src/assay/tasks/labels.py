"""Which names or relations count, and how much: `ORG+PERSON`, `nsubj*2+amod*0.5`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from assay.data import DataError
from assay.features.pipelines import Pipeline
from assay.settings import nearest

__all__ = ["ALL", "WHOLE", "check_known", "parse_labels", "parse_weights"]

ALL = "all"

WHOLE = 1000
"""A weight of 1. Weights are whole thousandths: their sums are exact, so taking one away is too."""

_LABEL = r"[^\s,|+*=]+"
_WEIGHT = re.compile(rf"({_LABEL})\*(-?\d{{1,3}}(?:\.\d{{1,3}})?)")

_COMPONENTS = {"names": "ner", "relations": "parser"}
"""The part of a pipeline that finds them, under its usual name."""

_OTHERS = {
    *("tok2vec", "transformer", "tagger", "morphologizer", "attribute_ruler", "lemmatizer"),
    *("trainable_lemmatizer", "senter", "sentencizer", "textcat", "textcat_multilabel"),
}
"""Parts that find neither."""


@lru_cache
def parse_labels(where: str, text: str) -> frozenset[str] | None:
    """The labels of `ORG+PERSON`; none for `all`, which leaves nothing out."""
    if text == ALL:
        return None
    labels = text.split("+")
    if not all(re.fullmatch(_LABEL, label) for label in labels):
        raise DataError(f"{where}={text}: write labels with + between them (ORG+PERSON), or all.")
    return frozenset(labels)


def parse_weights(where: str, text: str) -> dict[str, int]:
    """The weights of `nsubj*2+amod*0.5` in thousandths."""
    weights: dict[str, int] = {}
    for part in text.split("+") if text else ():
        match = _WEIGHT.fullmatch(part)
        if not match or match[1] in weights:
            raise DataError(
                f"{where}={text}: write each label once with its weight, label*number, and + "
                "between them (nsubj*2+amod*0.5); below 1000, with at most three decimals."
            )
        weights[match[1]] = round(float(match[2]) * WHOLE)
    return weights


def check_known(where: str, labels: Collection[str], kind: str, pipeline: Pipeline) -> None:
    """Raise a `DataError` where the pipeline says that it finds no names (or relations) so called.

    A pipeline need not say what it finds; then nothing is checked.
    """
    component = _COMPONENTS[kind]
    if _lacks(pipeline, component):
        raise DataError(
            f"{where}: the pipeline {pipeline.name} finds no {kind}, it has no {component}. "
            "Name another: pipeline=NAME."
        )
    known = _known(pipeline, component)
    for label in sorted(labels):
        if known and label not in known:
            raise DataError(
                f"{where}: {pipeline.name} has no {label!r}{nearest(label, known)}. "
                f"It has {', '.join(known)}."
            )


def _lacks(pipeline: Pipeline, component: str) -> bool:
    """Whether all parts of the pipeline are known to do something else."""
    parts = set(pipeline.meta.get("components") or pipeline.meta.get("pipeline") or ())
    others = _OTHERS | {*_COMPONENTS.values()} - {component}
    return bool(parts) and parts <= others


def _known(pipeline: Pipeline, component: str) -> list[str]:
    said = pipeline.meta.get("labels")
    labels = said.get(component, ()) if isinstance(said, Mapping) else ()
    # Annotations have relations in lower case: spaCy writes ROOT, Universal Dependencies root.
    return sorted(map(str.lower, labels) if component == "parser" else labels)
