"""What task-based metrics share: tagged texts, labels that count, overlap."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from sys import intern
from typing import Literal, NamedTuple, Self, TypeAlias

import numpy as np

from assay.data import Array, DataError, Dataset, Segment, divide
from assay.features.annotation import Annotation, Feature, Finder
from assay.features.cache import AnnotationCache, CachedAnnotator, default_path
from assay.features.spacy import (
    Pipeline,
    SpacyAnnotator,
    default_pipeline,
    find_pipeline,
    pipeline_for,
)
from assay.metrics.base import Metric
from assay.registry import did_you_mean, setting
from assay.text import Side, language_of

__all__ = [
    "ALL",
    "WHOLE",
    "Bag",
    "Overlap",
    "Tagged",
    "TaggedItem",
    "TaggedMetric",
    "Tagger",
    "check_known",
    "overlap_rows",
    "overlaps_by_label",
    "parse_labels",
    "parse_weights",
    "pipeline_named",
    "rate",
    "share",
    "tag",
    "tagger_of",
]

KEPT = 100_000
"""Texts whose names and relations are kept in memory, about a kilobyte each."""

_LANGUAGE = re.compile("[a-z]{0,3}")
"""What is read as a language; a folder with such a name is written `./de`."""

_HALF = re.compile("[\ud800-\udfff]")
"""Halves of characters, which no tagger takes."""


class TaggedItem(NamedTuple):
    """Something that was found: of which kind it is, and its words."""

    label: str
    text: str


class Tagged(NamedTuple):
    """What was found in one text; `words` are counted as the pipeline cuts them.

    The article that begins a name is no part of it. A relation is that of a word to its head, and
    the word is in lower case.
    """

    words: int
    names: tuple[TaggedItem, ...]
    relations: tuple[TaggedItem, ...]


class Tagger(NamedTuple):
    """A pipeline with its version, and the version of spaCy that runs it."""

    pipeline: str
    spacy: str


_cache: dict[tuple[str, str], Tagged] = {}


def tag(lines: Iterable[str], pipeline: str = "") -> dict[str, Tagged]:
    """What is found in each text: known from before, from the cache on disk, or tagged now."""
    annotator = _annotator(pipeline)
    identity = annotator.identity
    wanted = dict.fromkeys(lines)
    found = {line: _cache[identity, line] for line in wanted if (identity, line) in _cache}
    missing = [line for line in wanted if line not in found]
    if missing:
        cached = CachedAnnotator(annotator, AnnotationCache(default_path()))
        made = cached.annotate([_HALF.sub("\ufffd", line) for line in missing])
        new = {line: _tagged(each) for line, each in zip(missing, made, strict=True)}
        _keep(identity, new)
        found |= new
    return found


def tagger_of(pipeline: str = "") -> Tagger:
    """Who tags; a `DataError` with the line that installs what is missing."""
    _, _, versions = _annotator(pipeline).identity.partition(":")
    return Tagger(*versions.rsplit(":", 1))


def pipeline_named(name: str = "") -> Pipeline:
    """The pipeline of a name or folder, or the usual one of a language; English without either."""
    return find_pipeline(default_pipeline(name or "en") if _LANGUAGE.fullmatch(name) else name)


def _annotator(name: str) -> SpacyAnnotator:
    pipeline = pipeline_named(name)
    return SpacyAnnotator(pipeline.name if pipeline.packaged else str(pipeline.folder))


def _tagged(annotation: Annotation) -> Tagged:
    tokens = annotation.tokens
    names = [Feature("ner", span.label) for span in annotation.layers.get("ner", ())]
    spans = sorted(span for each in Finder(names)(annotation).values() for span in each)
    return Tagged(
        len(tokens),
        tuple(
            TaggedItem(intern(label), " ".join(tokens[start:end])) for start, end, label in spans
        ),
        tuple(
            TaggedItem(intern(label), intern(tokens[start].lower()))
            for start, _, label in annotation.layers.get("dep", ())
        ),
    )


def _keep(identity: str, new: Mapping[str, Tagged]) -> None:
    """The oldest give way where there are too many."""
    _cache.update({(identity, line): each for line, each in new.items()})
    for key in list(_cache)[: max(0, len(_cache) - KEPT)]:
        del _cache[key]


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
                f"{where}: {pipeline.name} has no {label!r}{did_you_mean(label, known)}. "
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


@dataclass(frozen=True, kw_only=True)
class TaggedMetric(Metric):
    """A metric on tagged text.

    `pipeline` is a spaCy pipeline by name or folder, or a language (`de`), which stands for the
    usual pipeline of that language; without one it is that of the texts' language where it is known
    (`for_dataset`), and else the English one.
    """

    pipeline: str = setting("")

    def __post_init__(self) -> None:
        super().__post_init__()
        if set(self.pipeline) & set(",|") or self.pipeline.strip() != self.pipeline:
            raise DataError(
                f"{self.name}:pipeline={self.pipeline}: a comma, a | or a blank at either end "
                "cannot be written here. Give the folder another name."
            )

    @property
    def title(self) -> str:
        """The name of the class."""
        return type(self).__name__

    @property
    def mask_policy(self) -> Literal["word", "length", "type"]:
        """None: a masked word is no word to a tagger."""
        raise DataError(
            f"{self} looks at tagged text, in which masked words would be no words any more. "
            "Take a metric that compares words or letters: bleu, chrf, ter, macrof ..."
        )

    @property
    def needs_languages(self) -> tuple[Side, ...]:
        """The outputs' language chooses the pipeline, where none is named."""
        return () if self.pipeline else ("target",)

    def for_dataset(self, dataset: Dataset) -> Self:
        """With the pipeline of the texts' language; a `DataError` where none is installed."""
        if self.pipeline:
            return self
        language = language_of(dataset, "target")
        if language.known(self) == "en":
            return self
        pipeline_for(language, "name one: pipeline=NAME")
        return replace(self, pipeline=language.code)

    @classmethod
    def claims(cls) -> dict[str, str]:
        """With the tagger."""
        return super().claims() | {"tagger": "set pipeline=NAME", "spacy": "install that version"}

    def details(self) -> dict[str, str]:
        """With the tagger, as far as it decides the figure."""
        tagger = tagger_of(self.pipeline)
        return super().details() | {"tagger": tagger.pipeline, "spacy": tagger.spacy}

    @abstractmethod
    def check_pipeline(self, pipeline: Pipeline) -> None:
        """Raise a `DataError` where the pipeline cannot find what is to be counted."""

    def tag_outputs(self, segments: Sequence[Segment]) -> dict[str, Tagged]:
        """What is found in every output."""
        self.check_pipeline(pipeline_named(self.pipeline))
        return tag((segment.hypothesis for segment in segments), self.pipeline)

    def tag_all(self, segments: Sequence[Segment]) -> dict[str, Tagged]:
        """What is found in every output and reference."""
        self.check_pipeline(pipeline_named(self.pipeline))
        texts = (text for segment in segments for text in (segment[0], *segment[1]))
        return tag(texts, self.pipeline)


def rate(sums: Array, per: Literal["text", "100words"]) -> Array:
    """What is found in the whole text, or in a hundred of its words, from (b, 2) sums."""
    found, words = sums.T
    return found if per == "text" else 100 * divide(found, words)


Bag: TypeAlias = Mapping[TaggedItem, int]
"""How often each item is in a text, times its weight; whole numbers, so that sums are exact."""


class Overlap(NamedTuple):
    """Items of the output, items of the reference, and those that both have."""

    predicted: float
    wanted: float
    matched: float


class _Best(NamedTuple):
    """An output beside the reference that it is closest to."""

    output: Bag
    reference: Bag
    overlap: Overlap


def overlap_rows(
    segments: Sequence[Segment], texts: Mapping[str, Tagged], bag: Callable[[Tagged], Bag]
) -> Array:
    """Predicted, wanted and matched items and one to count the segment, (n, 4).

    Of several references, the one with the best F1 counts.
    """
    rows = [(*each.overlap, 1) for each in _best(segments, texts, bag)]
    return np.array(rows, float).reshape(-1, 4)


def overlaps_by_label(
    segments: Sequence[Segment], texts: Mapping[str, Tagged], bag: Callable[[Tagged], Bag]
) -> dict[str, Overlap]:
    """The same sums apart by label, in order of the alphabet."""
    sums: dict[str, Overlap] = {}
    for best in _best(segments, texts, bag):
        for item in {**best.output, **best.reference}:
            given, wanted = best.output.get(item, 0), best.reference.get(item, 0)
            before = sums.get(item.label, Overlap(0, 0, 0))
            new = Overlap(given, wanted, min(given, wanted))
            sums[item.label] = Overlap(*map(sum, zip(before, new, strict=True)))
    return dict(sorted(sums.items()))


def share(sums: Array, measure: Literal["f1", "precision", "recall"]) -> Array:
    """F1, precision or recall in percent, from (b, 4) sums.

    With nothing that could be wrong, all is right: 100, as long as there is a segment at all.
    """
    predicted, wanted, matched, segments = sums.T
    above, below = {
        "f1": (2 * matched, predicted + wanted),
        "precision": (matched, predicted),
        "recall": (matched, wanted),
    }[measure]
    return 100 * np.where(below > 0, divide(above, below), segments > 0)


def _best(
    segments: Sequence[Segment], texts: Mapping[str, Tagged], bag: Callable[[Tagged], Bag]
) -> Iterator[_Best]:
    bags = {line: bag(text) for line, text in texts.items()}
    sizes = {line: sum(each.values()) for line, each in bags.items()}
    for hypothesis, references, *_ in segments:
        output, size = bags[hypothesis], sizes[hypothesis]
        found = []
        for line in references:
            matched = _matched(output, bags[line])
            found.append(_Best(output, bags[line], Overlap(size, sizes[line], matched)))
        yield max(found, key=_closeness)


def _matched(a: Bag, b: Bag) -> int:
    return sum(min(count, b[item]) for item, count in a.items() if item in b)


def _closeness(best: _Best) -> tuple[float, float]:
    """F1, and matches among references with the same F1, so that their order does not matter."""
    predicted, wanted, matched = best.overlap
    total = predicted + wanted
    return (2 * matched / total if total else 1.0, matched)
