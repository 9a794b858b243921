"""What annotators give: texts as tokens, with labelled spans of tokens in layers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, runtime_checkable

__all__ = [
    "Annotation",
    "Annotator",
    "Feature",
    "Finder",
    "TokenSpan",
    "pack",
    "shared_span",
    "unpack",
]

_ARTICLE = "the"


class TokenSpan(NamedTuple):
    """Tokens from `start` up to `end`, and what they are."""

    start: int
    end: int
    label: str


@dataclass(frozen=True)
class Annotation:
    """One text as tokens, and its spans by layer: `upos`, `ner`, `morph`, `dep`, `tags` ...

    A token may stand in several spans of a layer (`morph` has one per feature of a word, labelled
    `Gender=Fem`).
    """

    tokens: tuple[str, ...]
    layers: Mapping[str, tuple[TokenSpan, ...]] = field(default_factory=dict)

    def with_layer(self, name: str, spans: Sequence[TokenSpan]) -> Annotation:
        """The same text with one more layer."""
        return Annotation(self.tokens, {**self.layers, name: tuple(spans)})


@runtime_checkable
class Annotator(Protocol):
    """Text in, labelled token spans out."""

    @property
    def identity(self) -> str:
        """Name, version and all that decides the outcome: the key of the cache."""

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that it gives."""

    def annotate(self, lines: Sequence[str]) -> list[Annotation]:
        """One annotation per line, in order."""


class Feature(NamedTuple):
    """Something that words can be: `upos:NOUN`, `ner:PERSON`, `morph:Gender`, `dep:nsubj`.

    `name` is a label of the layer `kind`; for `morph` it may also be a feature without a value,
    which stands for all its values.
    """

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"

    def spans(self, annotation: Annotation) -> list[TokenSpan]:
        """Where the text has it; the article that begins a name is not part of it."""
        return Finder([self])(annotation).get(self, [])


class Finder:
    """Finds many features in one pass over a text."""

    def __init__(self, features: Iterable[Feature]) -> None:
        self._wanted: dict[str, dict[str, Feature]] = {}
        for feature in features:
            self._wanted.setdefault(feature.kind, {})[feature.name] = feature

    def __call__(self, annotation: Annotation) -> dict[Feature, list[TokenSpan]]:
        """The spans of the features that the text has."""
        found: dict[Feature, list[TokenSpan]] = {}
        for kind, wanted in self._wanted.items():
            for label, spans in _by_label(annotation.layers.get(kind, ())).items():
                if feature := wanted.get(label):
                    is_name = kind == "ner"
                    found[feature] = [_trimmed(s, annotation) for s in spans] if is_name else spans
                name, has_value, _ = label.partition("=") if kind == "morph" else ("", "", "")
                if has_value and (feature := wanted.get(name)):
                    found[feature] = sorted([*found.get(feature, ()), *spans])
        return found


def _by_label(spans: Iterable[TokenSpan]) -> dict[str, list[TokenSpan]]:
    found: dict[str, list[TokenSpan]] = {}
    for span in spans:
        label = span[2]
        if label in found:
            found[label].append(span)
        else:
            found[label] = [span]
    return found


def _trimmed(span: TokenSpan, annotation: Annotation) -> TokenSpan:
    """The span without the article that begins it, unless that is all."""
    if span.end - span.start < 2:
        return span
    return span._replace(start=span.start + (annotation.tokens[span.start].lower() == _ARTICLE))


@lru_cache(maxsize=1 << 16)
def shared_span(start: int, end: int, label: str) -> TokenSpan:
    """The span; equal ones are one object, which saves most of the memory of a large corpus."""
    return TokenSpan(start, end, label)


def pack(annotation: Annotation) -> list[Any]:
    """The annotation as lists, each layer as the columns of its spans.

    >>> pack(Annotation(("a", "b"), {"upos": (TokenSpan(0, 1, "DET"), TokenSpan(1, 2, "NOUN"))}))
    [['a', 'b'], {'upos': [[0, 1], [1, 2], ['DET', 'NOUN']]}]
    """
    layers = {
        name: [list(column) for column in zip(*spans, strict=True)]
        for name, spans in annotation.layers.items()
    }
    return [list(annotation.tokens), layers]


def unpack(value: Any) -> Annotation:
    """The annotation that was packed; a `ValueError` where the value is none."""
    try:
        tokens, layers = value
        found = {name: tuple(_spans(*columns)) for name, columns in layers.items()}
        if not all(isinstance(token, str) for token in tokens):
            raise TypeError("tokens are texts")
    except (TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"not an annotation ({error})") from None
    return Annotation(tuple(tokens), found)


def _spans(
    starts: Sequence[int] = (), ends: Sequence[int] = (), labels: Sequence[str] = ()
) -> Iterator[TokenSpan]:
    """The spans of one layer; a layer without any has no columns."""
    if not len(starts) == len(ends) == len(labels):
        raise ValueError("columns of different lengths")
    return map(shared_span, starts, ends, labels)
