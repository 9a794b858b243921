"""The commands `assay muler`, `muler examples` and `muler validate`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assay.cli.commands import Command, whole_number
from assay.cli.inputs import (
    Inputs,
    add_inputs,
    add_metrics,
    describe,
    note_languages,
    read_inputs,
    read_metrics,
)
from assay.cli.output import add_output, check_output, show, warn
from assay.data import DataError, Dataset
from assay.decomposition.analysis import muler
from assay.decomposition.decompose import PRESETS, Annotated, preset_named
from assay.decomposition.examples import ExamplesResult, examples
from assay.decomposition.judging import read_judgements, read_key, tally, write_key
from assay.decomposition.scorers import scorer_differences
from assay.decomposition.validate import ALPHAS, SEGMENTS, validate
from assay.features.annotation import Annotation, Annotator, Feature
from assay.features.cache import AnnotationCache, CachedAnnotator, default_path
from assay.features.pipelines import pipeline_for
from assay.features.select import (
    ANNOTATORS,
    FeatureRequest,
    layers_needed,
    parse_features,
    resolve,
    rules_for,
)
from assay.features.spacy import SpacyAnnotator
from assay.features.tagged_files import read_tags
from assay.features.tone import parse_scorers
from assay.languages import language_of
from assay.metrics.base import labels
from assay.progress import track
from assay.results import CombinedResult, LabelledResult, Result

__all__ = ["MULER", "MULER_EXAMPLES", "MULER_VALIDATE", "add_features", "read_annotated"]

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
    own = ANNOTATORS.parse(args.annotator) if args.annotator else None
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
    requests: Sequence[FeatureRequest],
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


def _configure_muler(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, ["bleu"])
    group = add_features(parser)
    group.add_argument(
        "--scorers",
        nargs="+",
        default=[],
        metavar="SCORER",
        help="compare the tone of the texts, too: sentiment, concreteness, or with a lexicon of "
        "your own valence=FILE, arousal=FILE, dominance=FILE, NAME=FILE",
    )
    group.add_argument(
        "--resamples",
        type=whole_number(0),
        default=1000,
        metavar="N",
        help="for the intervals of --scorers; MuLER's own, and its tests, need none. 0 leaves all "
        "intervals and tests out (default: 1000)",
    )
    add_output(parser, letter=False)


def _run_muler(args: argparse.Namespace) -> int:
    inputs = read_inputs(args)
    metrics = read_metrics(args, inputs.dataset)
    preset, scorers = preset_named(args.preset), parse_scorers(args.scorers)
    check_output(args, inputs.files)
    annotated, features = read_annotated(args, inputs)
    found = [
        muler(
            annotated,
            metric,
            features,
            preset=preset,
            per=args.per,
            tested=args.resamples > 0,
        )
        for metric in track(metrics, total=len(metrics), label="Masking", quiet=args.quiet)
    ]
    results: list[Result] = list(found)
    if len(metrics) > 1:
        results = [LabelledResult(*each) for each in zip(labels(metrics), found, strict=True)]
    if scorers:
        rng = np.random.default_rng(args.seed)
        if any(scorer.needs_english for scorer in scorers):
            note_languages(args, inputs.dataset, ["target"])
        results.append(
            scorer_differences(inputs.dataset, scorers, resamples=args.resamples, rng=rng)
        )
    show(CombinedResult(*results), args, inputs=inputs.files)
    return 0


MULER = Command(
    name="muler",
    usage="REF ... -i SYS ... [-m METRIC ...] [-f FEATURE ...] [options]",
    description=(
        "Take a metric apart by linguistic feature (Karidi et al., 2023). For each feature, the\n"
        "texts are scored as they are, with its words masked alike on both sides (as if all were\n"
        "right) and masked apart (as if all were wrong). MuLER says how much of that range is\n"
        "lost: 0 is perfect, 1 is as bad as can be."
    ),
    examples="""
        assay muler ref.txt -i a.txt b.txt -f upos ner               tags with spaCy (English)
        assay muler ref.txt -i a.txt b.txt -m chrf -f ner:PERSON,GPE morph:Gender dep
        assay muler ref.txt -i a.txt -f gender                       pronouns, no model needed
        assay muler ref.tok -i a.tok -f tags --tags ref.pos a.pos    your own tags
        assay muler ref.txt -i a.txt -f upos --preset paper          as in the paper
        assay muler ref.txt -i a.txt b.txt -f upos -o muler.html     a page with charts""",
    configure=_configure_muler,
    run=_run_muler,
)


def _configure_muler_examples(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, ["bleu"])
    add_features(parser)
    add = parser.add_argument_group("examples").add_argument
    add(
        "-n",
        "--count",
        type=whole_number(1),
        default=10,
        metavar="N",
        help="how many sentences to show (default: 10)",
    )
    add(
        "--blind",
        action="store_true",
        help="call the systems X and Y, shuffled, for a person to judge; needs --key",
    )
    add("--key", metavar="FILE", help="where it stands which system is X and which Y")
    add(
        "--tally",
        metavar="FILE",
        help="count judgements: lines of item, tab, and X, Y or =, or a filled-in tsv of --blind; "
        "needs --key, and no texts",
    )
    add_output(parser, letter=False)


def _run_muler_examples(args: argparse.Namespace) -> int:
    _check(args)
    if args.tally:
        return _tally(args)
    inputs = read_inputs(args)
    metrics = read_metrics(args, inputs.dataset)
    preset = preset_named(args.preset)
    check_output(args, inputs.files)
    _check_key(args, inputs)
    if len(metrics) != 1:
        raise DataError("muler examples looks at one metric: -m bleu, say.")
    if len(inputs.dataset.systems) != 2:
        raise DataError("muler examples sets two systems apart: name two with -i.")
    annotated, features = read_annotated(args, inputs)
    if len(features) != 1:
        named = ", ".join(map(str, features))
        raise DataError(f"muler examples looks at one feature, not {len(features)} ({named}).")
    first, second = inputs.dataset.systems
    result = examples(
        annotated,
        features[0],
        metrics[0],
        (first, second),
        sources=inputs.dataset.sources,
        preset=preset,
        per=args.per,
        count=args.count,
        blind=args.blind,
        rng=np.random.default_rng(args.seed),
    )
    if args.blind:
        _write_key(result, args)
    show(result, args, inputs=inputs.files)
    return 0


def _tally(args: argparse.Namespace) -> int:
    key = read_key(args.key)
    judgements = read_judgements(args.tally, key)
    inputs = [describe(path, len(key.items)) for path in (args.tally, args.key)]
    check_output(args, inputs)
    show(tally(judgements, key), args, inputs=inputs)
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.tally and (args.blind or args.references or args.input or args.data or args.test_set):
        raise DataError("--tally counts judgements of texts that were shown: leave the texts out.")
    if (args.tally or args.blind) and not args.key:
        option = "--tally" if args.tally else "--blind"
        raise DataError(f"{option} needs --key FILE, which says who is X and who is Y.")
    if args.key and not (args.tally or args.blind):
        raise DataError("--key goes with --blind, which writes it, or with --tally.")


def _check_key(args: argparse.Namespace, inputs: Inputs) -> None:
    """Raise a `DataError` where the key would go over a text, or over the output."""
    if not args.blind:
        return
    paths = [*(each["path"] for each in inputs.files), *args.tags, args.output]
    target = Path(args.key).resolve()
    if args.key == "-" or target in [Path(path).resolve() for path in paths]:
        raise DataError(f"--key {args.key} is needed for something else; name another file.")


def _write_key(result: ExamplesResult, args: argparse.Namespace) -> None:
    write_key(result.key, args.key)
    if not args.quiet:
        print(f"wrote {args.key}", file=sys.stderr)


MULER_EXAMPLES = Command(
    name="muler examples",
    usage="REF [REF ...] -i SYS SYS -f FEATURE [-m METRIC] [options]",
    description=(
        "The sentences that most set two systems apart in one feature, with its words marked. A\n"
        "sentence counts by what it adds to MuLER: the score with it less the score without it.\n"
        "With --blind a person can judge them without knowing the systems, and --tally counts the\n"
        "judgements as in Karidi et al. (2023), section 4.3."
    ),
    examples="""
        assay muler examples ref.txt -i a.txt b.txt -f PERSON -s src.txt   ten to look at
        assay muler examples ref.txt -i a.txt b.txt -f gender -n 25 -o why.html
        assay muler examples ref.txt -i a.txt b.txt -f gender --blind --key key.tsv -o sheet.tsv
        assay muler examples --tally sheet.tsv --key key.tsv               once it is filled in""",
    configure=_configure_muler_examples,
    run=_run_muler_examples,
)


DID_NOT_HOLD = 1


def _configure_muler_validate(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, ["bleu"])
    add_features(parser)
    add = parser.add_argument_group("checks").add_argument
    add(
        "--alphas",
        type=float,
        nargs="+",
        default=list(ALPHAS),
        metavar="SHARE",
        help="shares of a feature's words, between 0 and 1, that hybrids get right and that are "
        f"masked alone (default: {' '.join(map(str, ALPHAS))})",
    )
    add(
        "--lower-initial",
        action="store_true",
        help="hybrids of words in lower case only, as in the paper's Tables 11 to 13",
    )
    add(
        "--draws",
        type=whole_number(0),
        default=1000,
        metavar="N",
        help="random features to draw; 0 leaves specificity out (default: 1000)",
    )
    add(
        "--segments",
        type=whole_number(1),
        default=SEGMENTS,
        metavar="N",
        help=f"draw them on at most so many segments, taken at random (default: {SEGMENTS})",
    )
    add_output(parser, letter=False)


def _run_muler_validate(args: argparse.Namespace) -> int:
    inputs = read_inputs(args)
    metrics = read_metrics(args, inputs.dataset)
    preset = preset_named(args.preset)
    if len(metrics) != 1:
        raise DataError("muler validate looks at one metric: -m bleu, say.")
    check_output(args, inputs.files)
    annotated, features = read_annotated(args, inputs)
    result = validate(
        annotated,
        metrics[0],
        features,
        preset=preset,
        per=args.per,
        alphas=args.alphas,
        draws=args.draws,
        segments=args.segments,
        lower_initial=args.lower_initial,
        rng=np.random.default_rng(args.seed),
        track=partial(track, label="Drawing", quiet=args.quiet),
    )
    show(result, args, inputs=inputs.files)
    return 0 if result.holds else DID_NOT_HOLD


MULER_VALIDATE = Command(
    name="muler validate",
    usage="REF ... -i SYS ... [-m METRIC] [-f FEATURE ...] [options]",
    description=(
        "The checks of Karidi et al. (2023), section 5, on your texts. Range: with more of a\n"
        "feature's words right, scores move from the anti-oracle to the oracle. Specificity:\n"
        "random words as frequent as a feature all get about the same MuLER. Robustness: MuLER\n"
        "depends less than its numerator on how many of the words are masked. The exit code is 1\n"
        "where a check does not hold."
    ),
    examples="""
        assay muler validate ref.txt -i a.txt -f upos:NOUN,VERB       all three checks
        assay muler validate ref.txt -i a.txt -f gender --draws 0     without random features
        assay muler validate ref.txt -i a.txt -f upos:NOUN,VERB --alphas 0.3 0.5 -o checks.html""",
    configure=_configure_muler_validate,
    run=_run_muler_validate,
)
