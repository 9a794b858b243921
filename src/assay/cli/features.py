"""Options that say which features to look at and who finds them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from assay.cli.inputs import Inputs, describe, note_languages
from assay.cli.output import warn
from assay.cli.progress import track
from assay.data import DataError, Dataset
from assay.features.annotation import Annotation, Annotator, Feature
from assay.features.cache import AnnotationCache, CachedAnnotator, default_path
from assay.features.named import annotator_named
from assay.features.pipelines import pipeline_for
from assay.features.select import Request, layers_needed, parse_features, resolve, rules_for
from assay.features.spacy import SpacyAnnotator
from assay.features.tagfiles import read_tags
from assay.languages import language_of
from assay.muler.decompose import Annotated
from assay.muler.presets import PRESETS

__all__ = ["add_features", "read_annotated"]

DEFAULT = ("upos", "ner")


def add_features(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """The same for all commands of MuLER."""
    group = parser.add_argument_group("features")
    add = group.add_argument
    add(
        "-f",
        "--features",
        nargs="+",
        action="extend",
        metavar="FEATURE",
        help="upos, ner, morph, dep, tag, tags, gender, list:FILE (word<TAB>label), regex:FILE "
        "(label<TAB>expression), or some of a kind: upos:NOUN,VERB, ner:PERSON, morph:Gender, "
        f"dep:nsubj; NOUN and PERSON will do, too (default: {' '.join(DEFAULT)})",
    )
    add(
        "--tags",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="tags of your own, one file per text, references first, then the systems: one tag "
        "per white-space token, or CoNLL-U",
    )
    add(
        "--pipeline",
        default="",
        metavar="NAME",
        help="a spaCy pipeline by name or folder (default: the one for the target language)",
    )
    add("--annotator", metavar="NAME", help="an annotator that another package offers")
    add("--no-cache", action="store_true", help="tag anew, and keep nothing (see: assay cache)")
    add(
        "--preset",
        default="corpus",
        metavar="NAME",
        help="how sentences make a score: "
        + "; ".join(f"{each.name}: {each.meaning}" for each in PRESETS.values())
        + " (default: corpus)",
    )
    add(
        "--per",
        choices=("token", "span"),
        default="token",
        help="one mask per token, or per span of several tokens (default: token)",
    )
    return group


class _Text(NamedTuple):
    label: str
    lines: tuple[str, ...]


def read_annotated(args: argparse.Namespace, inputs: Inputs) -> tuple[Annotated, list[Feature]]:
    """The texts with their annotations, and the features that were asked for."""
    own = annotator_named(args.annotator) if args.annotator else None
    requests = parse_features(args.features or DEFAULT, kinds=own.layers if own else ())
    texts = _texts(inputs.dataset)
    found = _annotations(args, requests, texts, own, inputs)
    features = resolve(requests, [each for annotations in found for each in annotations])
    count = len(texts) - len(inputs.dataset.systems)
    references = list(zip(*found[:count], strict=True))
    systems = dict(zip(inputs.dataset.systems, found[count:], strict=True))
    return Annotated(systems, references), features


def _texts(dataset: Dataset) -> list[_Text]:
    """The references, then the systems."""
    counts = {len(each) for each in dataset.references}
    if counts == {0} or len(counts) != 1:
        raise DataError("every segment needs the same number of references, and at least one.")
    names = dataset.reference_names or [f"reference {n + 1}" for n in range(counts.pop())]
    columns = zip(*dataset.references, strict=True)
    references = [_Text(name, lines) for name, lines in zip(names, columns, strict=True)]
    return references + [_Text(name, lines) for name, lines in dataset.systems.items()]


def _annotations(
    args: argparse.Namespace,
    requests: Sequence[Request],
    texts: Sequence[_Text],
    own: Annotator | None,
    inputs: Inputs,
) -> list[list[Annotation]]:
    english = any(request.kind == "gender" for request in requests)
    rules = rules_for(requests, language_of(inputs.dataset, "target") if english else None)
    if english:
        note_languages(args, inputs.dataset, ["target"])
    missing = [layer for layer in layers_needed(requests) if layer not in rules.layers]
    if args.tags:
        found = _from_files(args.tags, texts)
        inputs.files.extend(describe(path, len(inputs.dataset)) for path in args.tags)
    elif missing:
        annotator = own or _tagger(args, inputs.dataset)
        found = _tagged(_cached(annotator, args), texts)
    else:
        return [rules.annotate(text.lines) for text in texts]
    return [rules.add_to(each, text.lines) for each, text in zip(found, texts, strict=True)]


def _from_files(paths: Sequence[str], texts: Sequence[_Text]) -> list[list[Annotation]]:
    if len(paths) != len(texts):
        names = ", ".join(text.label for text in texts)
        raise DataError(
            f"--tags: {len(paths)} files for {len(texts)} texts. Give one for each, references "
            f"first: {names}."
        )
    return [
        read_tags(path, text.lines, text=text.label)
        for path, text in zip(paths, texts, strict=True)
    ]


def _tagged(annotator: Annotator, texts: Sequence[_Text]) -> list[list[Annotation]]:
    """All texts in one go, so that lines that several share are tagged once."""
    everything = annotator.annotate([line for text in texts for line in text.lines])
    length = len(texts[0].lines)
    return [everything[at * length : (at + 1) * length] for at in range(len(texts))]


def _cached(annotator: Annotator, args: argparse.Namespace) -> Annotator:
    show = partial(track, label="Tagging", quiet=args.quiet)
    if args.no_cache:
        return annotator

    def notify(note: str) -> None:
        warn([note], quiet=args.quiet)

    return CachedAnnotator(annotator, AnnotationCache(default_path(), warn=notify), track=show)


def _tagger(args: argparse.Namespace, dataset: Dataset) -> Annotator:
    """The pipeline that is named, if it is not for another language; or the language's own."""
    if args.pipeline:
        told = dataset.languages[1] if dataset.languages else ""
        return SpacyAnnotator(args.pipeline, language=told)
    language = language_of(dataset, "target")
    code = language.known("tagging")
    pipeline_for(language, "name a pipeline: --pipeline NAME; or give tags: --tags FILE ...")
    note_languages(args, dataset, ["target"])
    return SpacyAnnotator(language=code)
