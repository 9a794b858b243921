"""Which features are wanted: `-F upos ner:PERSON morph:Gender list:FILE`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from assay.data import DataError, Dataset
from assay.features.annotation import Annotation, Annotator, Feature
from assay.features.cache import AnnotationCache, CachedAnnotator, default_path
from assay.features.rules import (
    PRONOUNS,
    CombinedRules,
    RegexAnnotator,
    Rules,
    WordListAnnotator,
    gender,
    read_patterns,
    read_word_lists,
)
from assay.features.spacy import SpacyAnnotator, check_lines, pipeline_for
from assay.features.tagged_files import PART, UPOS, read_tags
from assay.io.files import FilePath
from assay.progress import Track, untracked
from assay.registry import Registry, did_you_mean
from assay.text import Language, language_of

__all__ = [
    "ANNOTATORS",
    "ENTITIES",
    "KINDS",
    "MORPH",
    "PART",
    "UPOS",
    "AnnotatedTexts",
    "FeatureRequest",
    "annotate_dataset",
    "layers_needed",
    "parse_features",
    "resolve",
    "rules_for",
]

KINDS = {
    "upos": "universal parts of speech: upos:NOUN,VERB",
    "tag": "the tagger's own parts of speech: tag:NNS",
    "tags": "the tags of a file given beside the text: tags:NN",
    "ner": "names of people, places, dates ...: ner:PERSON,GPE",
    "morph": "features of words: morph:Gender, or one value, morph:Gender=Fem",
    "dep": "relations to the head: dep:nsubj",
    "gender": "English pronouns for people: gender, or gender:Masc,Fem,Neut",
    "list": "words of your own: list:FILE, one word<TAB>label per line",
    "regex": "regular expressions of your own: regex:FILE, one label<TAB>expression per line",
}

ENTITIES = {
    "TIME": "times of less than a day",
    "WORK_OF_ART": "titles of books, songs ...",
    "PERSON": "people, also invented ones",
    "NORP": "nationalities, religious and political groups",
    "CARDINAL": "numbers that are of no other type",
    "MONEY": "sums of money, with their unit",
    "EVENT": "named storms, battles, wars, games ...",
    "ORDINAL": "first, second ...",
    "DATE": "dates and periods of a day or more",
    "FAC": "buildings, airports, roads, bridges ...",
    "ORG": "companies, agencies, institutions ...",
    "LAW": "named documents made into laws",
    "PRODUCT": "things, vehicles, food ... (not services)",
    "PERCENT": "percentages, with their sign",
    "QUANTITY": "measurements of weight, distance ...",
    "LANGUAGE": "named languages",
    "GPE": "countries, cities, states",
    "LOC": "other places: mountains, waters, regions",
}
"""The 18 entity types of OntoNotes, in the order of the paper's Table 9, and what they are."""

MORPH = (
    *("Abbr", "Animacy", "Aspect", "Case", "Clusivity", "Definite", "Degree", "Deixis"),
    *("DeixisRef", "Evident", "ExtPos", "Foreign", "Gender", "Mood", "NounClass", "NumForm"),
    *("NumType", "Number", "Person", "Polarity", "Polite", "Poss", "PronType", "Reflex"),
    *("Tense", "Typo", "VerbForm", "VerbType", "Voice"),
)
"""Features of Universal Dependencies that can be asked for by their bare name."""


_FROM_FILES = ("list", "regex")
_KNOWN = {"upos": (*UPOS, PART), "ner": tuple(ENTITIES), "morph": MORPH}
_CLOSED = {"upos": (*UPOS, PART), "gender": tuple(PRONOUNS)}
"""Kinds with no other names: a wrong one need not wait for a tagger."""


@dataclass(frozen=True)
class FeatureRequest:
    """Features asked for: these names of a kind, or all that occur where there are none.

    `path` is the file of a word list or of regular expressions.
    """

    kind: str
    names: tuple[str, ...] = ()
    path: str = ""

    @property
    def layer(self) -> str:
        """The layer of the annotations that has them."""
        return "gender-value" if self.kind == "gender" and self.names else self.kind


def parse_features(specs: Sequence[str], *, kinds: Collection[str] = ()) -> list[FeatureRequest]:
    """What each specification asks for: a kind, `kind:NAME,NAME`, or bare names.

    `kinds` are the layers of annotators of one's own, which are kinds as well.

    >>> parse_features(["dep", "ner:PERSON,GPE", "NOUN"])[1:]
    [FeatureRequest(kind='ner', names=('PERSON', 'GPE'), path=''), FeatureRequest(kind='upos', names=('NOUN',), path='')]
    """  # noqa: E501  # one line is how it prints
    if isinstance(specs, str):
        raise DataError(f"features are a list: pass [{specs!r}].")
    if not specs:
        raise DataError(f"no features given. Give some of: {', '.join((*KINDS, *kinds))}.")
    return [each for spec in specs for each in _requests(spec, (*KINDS, *kinds))]


def resolve(requests: Sequence[FeatureRequest], annotations: Iterable[Annotation]) -> list[Feature]:
    """The features asked for, each once; those of a whole kind are all that occur.

    Universal tags come in the order of the paper's Table 9, all else by frequency. Give the
    annotations of all texts: a feature that occurs in none of them is an error.
    """
    counts = _counts(annotations, layers_needed(requests))
    return list(
        dict.fromkeys(feature for request in requests for feature in _features(request, counts))
    )


def layers_needed(requests: Sequence[FeatureRequest]) -> tuple[str, ...]:
    """The layers that the annotations must have, each once.

    >>> layers_needed(parse_features(["gender", "NOUN", "upos:VERB"]))
    ('gender', 'upos')
    """
    return tuple(dict.fromkeys(request.layer for request in requests))


def rules_for(
    requests: Sequence[FeatureRequest], language: Language | None = None
) -> CombinedRules:
    """The annotator of all that needs no model and no tags: gender, word lists, expressions.

    `language` is that of the texts, as `gender` takes it. What `layers_needed` has and
    `rules_for(...).layers` has not, a tagger must give.
    """
    parts: list[Rules] = []
    if any(request.kind == "gender" for request in requests):
        parts.append(gender(language))
    if lists := _merged(read_word_lists(each.path) for each in requests if each.kind == "list"):
        parts.append(WordListAnnotator("list", lists))
    files = [each.path for each in requests if each.kind == "regex"]
    if patterns := _merged(map(read_patterns, files)):
        parts.append(RegexAnnotator("regex", patterns, source=", ".join(map(str, files))))
    return CombinedRules(tuple(parts))


def _requests(spec: str, kinds: Sequence[str]) -> list[FeatureRequest]:
    head, colon, rest = spec.strip().partition(":")
    if not colon:
        return [_bare(name.strip(), kinds) for name in head.split(",")]
    kind = _kind(head.strip(), kinds)
    if kind in _FROM_FILES:
        return [_from_file(kind, rest.strip())]
    names = _names(kind, rest)
    if not all(names):
        raise DataError(f"feature {spec!r}: a name is missing. Write {kind}:NAME,NAME.")
    return [FeatureRequest(kind, tuple(_checked(kind, name) for name in names))]


def _bare(name: str, kinds: Sequence[str]) -> FeatureRequest:
    """A kind or a known name; case counts only where it tells two of them apart."""
    if name in _FROM_FILES:
        return _from_file(name, "")
    everything = [
        *(FeatureRequest(kind) for kind in kinds),
        *(FeatureRequest(kind, (each,)) for kind, names in _KNOWN.items() for each in names),
    ]
    exact = [each for each in everything if _written(each) == name]
    found = exact or [each for each in everything if _written(each).lower() == name.lower()]
    if not found:
        names = [_written(each) for each in everything]
        raise DataError(
            f"unknown feature {name!r}{did_you_mean(name, names)}. Kinds: {', '.join(kinds)}; "
            f"names: {', '.join(names[len(kinds) :])}. "
            f"Others need their kind: tags:{name or 'NAME'}."
        )
    if len(found) > 1:
        choices = " or ".join(":".join((each.kind, *each.names)) for each in found)
        raise DataError(f"feature {name!r} can be read both ways: write {choices}.")
    return found[0]


def _written(request: FeatureRequest) -> str:
    return request.names[0] if request.names else request.kind


def _kind(text: str, kinds: Sequence[str]) -> str:
    found = text if text in kinds else text.lower()
    if found not in kinds:
        raise DataError(
            f"unknown kind of feature {text!r}{did_you_mean(text, kinds)}. "
            f"Kinds: {', '.join(kinds)}."
        )
    return found


def _from_file(kind: str, path: str) -> FeatureRequest:
    if not path:
        raise DataError(f"feature {kind!r} needs a file: {kind}:FILE ({KINDS[kind]}).")
    return FeatureRequest(kind, path=path)


def _names(kind: str, text: str) -> list[str]:
    """The names between commas; a comma may also be part of a value: PronType=Int,Rel."""
    names: list[str] = []
    for part in (each.strip() for each in text.split(",")):
        known = "=" in part or part.lower() in map(str.lower, MORPH)
        if kind == "morph" and names and "=" in names[-1] and part and not known:
            names[-1] += f",{part}"
        else:
            names.append(part)
    return names


def _checked(kind: str, name: str) -> str:
    """The name as it is spelt, if its kind has a closed set of them."""
    if kind not in _CLOSED:
        return name
    names = _CLOSED[kind]
    spelt = next((each for each in names if each.lower() == name.lower()), "")
    if not spelt:
        raise DataError(
            f"{kind} has no {name!r}{did_you_mean(name, names)}. It has: {', '.join(names)}."
        )
    return spelt


def _merged(files: Iterable[Mapping[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    merged: dict[str, tuple[str, ...]] = {}
    for lists in files:
        for label, words in lists.items():
            merged[label] = tuple(dict.fromkeys((*merged.get(label, ()), *words)))
    return merged


def _counts(annotations: Iterable[Annotation], layers: Sequence[str]) -> dict[str, Counter[str]]:
    """How often each label of these layers occurs; other layers are only named."""
    counts: dict[str, Counter[str]] = {}
    for annotation in annotations:
        for layer, spans in annotation.layers.items():
            counter = counts.setdefault(layer, Counter())
            if layer in layers:
                counter.update(span.label for span in spans)
    return counts


def _features(request: FeatureRequest, counts: Mapping[str, Counter[str]]) -> Iterator[Feature]:
    layer = request.layer
    found = counts.get(layer)
    if not found:
        raise DataError(_nothing(request, counts))
    names = request.names or tuple(_ordered(layer, found))
    return (Feature(layer, _occurring(request, name, found)) for name in names)


def _nothing(request: FeatureRequest, counts: Mapping[str, Counter[str]]) -> str:
    what = f"{request.kind}:{request.path or ','.join(request.names)}".rstrip(":")
    if request.layer in counts:
        return f"feature {what!r} occurs in none of the texts. Leave it out."
    return (
        f"feature {what!r}: the annotations have no layer {request.layer!r}, only "
        f"{', '.join(counts) or 'bare tokens'}. Use a tagger or tag files that give it."
    )


def _ordered(layer: str, found: Counter[str]) -> list[str]:
    if layer == "morph":
        found = _by_name(found)
    by_frequency = sorted(found, key=lambda label: (-found[label], label))
    if layer != "upos":
        return by_frequency
    return sorted(by_frequency, key=lambda tag: UPOS.index(tag) if tag in UPOS else len(UPOS))


def _by_name(found: Counter[str]) -> Counter[str]:
    names: Counter[str] = Counter()
    for label, count in found.items():
        names[label.partition("=")[0]] += count
    return names


def _occurring(request: FeatureRequest, name: str, found: Counter[str]) -> str:
    """The label as the texts have it; case counts only where it tells two labels apart."""
    layer = request.layer
    labels = {*found, *_by_name(found)} if layer == "morph" else set(found)
    if name in labels:
        return name
    alike = [label for label in labels if label.lower() == name.lower()]
    if len(alike) == 1:
        return alike[0]
    occurring = _ordered(layer, found)
    many = ", ..." if len(occurring) > 40 else ""
    raise DataError(
        f"feature '{request.kind}:{name}' occurs in none of the texts{did_you_mean(name, labels)}. "
        f"What occurs: {', '.join(occurring[:40])}{many}."
    )


ANNOTATORS: Registry[Annotator] = Registry(
    "annotator", "assay.annotators", {"gender": "assay.features.rules:gender"}, base=Annotator
)
"""Annotators by name; a package offers a class or function that takes nothing and gives the
annotator, or the annotator itself."""


DEFAULT_FEATURES = ("upos", "ner")


@dataclass(frozen=True, eq=False)
class AnnotatedTexts:
    """The annotations of a dataset's texts, and the features that were asked for.

    `systems` has one annotation per segment, `references` one tuple of them per segment.
    `by_language` says whether the language of the texts decided how they were annotated.
    """

    systems: dict[str, list[Annotation]]
    references: list[tuple[Annotation, ...]]
    features: list[Feature]
    by_language: bool


class _NamedText(NamedTuple):
    label: str
    lines: tuple[str, ...]


def annotate_dataset(
    dataset: Dataset,
    features: Sequence[str] = DEFAULT_FEATURES,
    *,
    annotator: str | Annotator | None = None,
    pipeline: str = "",
    tags: Sequence[FilePath] = (),
    cache: bool = True,
    track: Track = untracked,
    warn: Callable[[str], None] | None = None,
) -> AnnotatedTexts:
    """The references and outputs of a dataset with the annotations that these features need.

    Texts are tagged by `annotator` (a name or an object), or by the spaCy `pipeline` of that
    name, or else by the installed pipeline for the target language; `tags` are files with tags
    made elsewhere, one per text, references first, then the systems. Features that rules find
    (gender, word lists, expressions) need none of them. Annotations are kept on disk for the next
    time, unless `cache` is False; `warn` is told where that fails.
    """
    own = None if annotator is None else ANNOTATORS.parse(annotator)
    requests = parse_features(features, kinds=own.layers if own else ())
    texts = _texts(dataset)
    english = any(request.kind == "gender" for request in requests)
    rules = rules_for(requests, language_of(dataset, "target") if english else None)
    needs_tagger = not tags and not set(layers_needed(requests)) <= set(rules.layers)
    if tags:
        found = _from_files(tags, texts)
    elif needs_tagger:
        tagger = own or _tagger(dataset, pipeline)
        if cache:
            tagger = CachedAnnotator(tagger, AnnotationCache(default_path(), warn=warn), track)
        for text in texts if own is None else ():
            check_lines(text.lines, text.label)
        found = _tagged(tagger, texts)
    if tags or needs_tagger:
        pairs = zip(found, texts, strict=True)
        found = [rules.add_to(annotations, text.lines) for annotations, text in pairs]
    else:
        found = [rules.annotate(text.lines) for text in texts]
    count = len(texts) - len(dataset.systems)
    return AnnotatedTexts(
        systems=dict(zip(dataset.systems, found[count:], strict=True)),
        references=list(zip(*found[:count], strict=True)),
        features=resolve(requests, chain.from_iterable(found)),
        by_language=english or (needs_tagger and not own and not pipeline),
    )


def _texts(dataset: Dataset) -> list[_NamedText]:
    """The references, then the systems."""
    counts = {len(references) for references in dataset.references}
    if counts == {0} or len(counts) != 1:
        raise DataError("every segment needs the same number of references, and at least one.")
    names = dataset.reference_names or [f"reference {n + 1}" for n in range(counts.pop())]
    columns = zip(*dataset.references, strict=True)
    references = [_NamedText(name, lines) for name, lines in zip(names, columns, strict=True)]
    return references + [_NamedText(name, lines) for name, lines in dataset.systems.items()]


def _from_files(paths: Sequence[FilePath], texts: Sequence[_NamedText]) -> list[list[Annotation]]:
    if len(paths) != len(texts):
        names = ", ".join(text.label for text in texts)
        raise DataError(
            f"tags: {len(paths)} files for {len(texts)} texts. Give one for each, references "
            f"first: {names}."
        )
    return [
        read_tags(path, text.lines, text=text.label)
        for path, text in zip(paths, texts, strict=True)
    ]


def _tagged(annotator: Annotator, texts: Sequence[_NamedText]) -> list[list[Annotation]]:
    """All texts in one go, so that lines that several share are tagged once."""
    everything = annotator.annotate([line for text in texts for line in text.lines])
    length = len(texts[0].lines)
    return [everything[at * length : (at + 1) * length] for at in range(len(texts))]


def _tagger(dataset: Dataset, pipeline: str) -> Annotator:
    """The pipeline that is named, if it is not for another language; or the language's own."""
    if pipeline:
        told = dataset.languages[1] if dataset.languages else ""
        return SpacyAnnotator(pipeline, language=told)
    language = language_of(dataset, "target")
    code = language.known("tagging")
    pipeline_for(language, "pass pipeline=..., or pass tags=...")
    return SpacyAnnotator(language=code)
