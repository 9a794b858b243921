"""What annotators give: texts as tokens, with labelled spans of tokens in layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

__all__ = ["Annotation", "Annotator", "Feature", "TokenSpan"]

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


@dataclass(frozen=True)
class Feature:
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
        found = [span for span in annotation.layers.get(self.kind, ()) if self._is(span.label)]
        if self.kind != "ner":
            return found
        return [self._without_article(span, annotation.tokens) for span in found]

    def positions(self, annotation: Annotation) -> list[int]:
        """The tokens that have it, in order, each once."""
        return sorted({at for span in self.spans(annotation) for at in range(span.start, span.end)})

    def _is(self, label: str) -> bool:
        return label == self.name or (self.kind == "morph" and label.partition("=")[0] == self.name)

    @staticmethod
    def _without_article(span: TokenSpan, tokens: tuple[str, ...]) -> TokenSpan:
        first = tokens[span.start].lower() == _ARTICLE and span.end - span.start > 1
        return span._replace(start=span.start + first)
