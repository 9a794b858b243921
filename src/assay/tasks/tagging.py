"""Names and relations in texts, as a spaCy pipeline sees them; each text is tagged once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from sys import intern
from typing import NamedTuple

from assay.features.annotation import Annotation, Feature, Finder
from assay.features.cache import AnnotationCache, CachedAnnotator, default_path
from assay.features.pipelines import Pipeline, default_pipeline, find_pipeline
from assay.features.spacy import SpacyAnnotator

__all__ = ["Item", "Tagged", "Tagger", "pipeline_named", "tag", "tagger_of"]

KEPT = 100_000
"""Texts whose names and relations are kept in memory, about a kilobyte each."""

_LANGUAGE = re.compile("[a-z]{0,3}")
"""What is read as a language; a folder with such a name is written `./de`."""

_HALF = re.compile("[\ud800-\udfff]")
"""Halves of characters, which no tagger takes."""


class Item(NamedTuple):
    """Something that was found: of which kind it is, and its words."""

    label: str
    text: str


class Tagged(NamedTuple):
    """What was found in one text; `words` are counted as the pipeline cuts them.

    The article that begins a name is no part of it. A relation is that of a word to its head, and
    the word is in lower case.
    """

    words: int
    names: tuple[Item, ...]
    relations: tuple[Item, ...]


class Tagger(NamedTuple):
    """A pipeline with its version, and the version of spaCy that runs it."""

    pipeline: str
    spacy: str


_kept: dict[tuple[str, str], Tagged] = {}


def tag(lines: Iterable[str], pipeline: str = "") -> dict[str, Tagged]:
    """What is found in each text: known from before, from the cache on disk, or tagged now."""
    annotator = _annotator(pipeline)
    identity = annotator.identity
    wanted = dict.fromkeys(lines)
    found = {line: _kept[identity, line] for line in wanted if (identity, line) in _kept}
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
        tuple(Item(intern(label), " ".join(tokens[start:end])) for start, end, label in spans),
        tuple(
            Item(intern(label), intern(tokens[start].lower()))
            for start, _, label in annotation.layers.get("dep", ())
        ),
    )


def _keep(identity: str, new: Mapping[str, Tagged]) -> None:
    """The oldest give way where there are too many."""
    _kept.update({(identity, line): each for line, each in new.items()})
    for key in list(_kept)[: max(0, len(_kept) - KEPT)]:
        del _kept[key]
